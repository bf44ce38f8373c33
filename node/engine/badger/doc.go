// Package badger is the engine on disk over Badger: what package disk says, with Badger as its store.
//
// # What Badger does not do
//
// Badger is a well-kept LSM tree, and holds the records here. Its own log is a mapped file: a full disk ends the process
// (SIGBUS), and a damaged byte ends the log silently, with everything that comes after. A look-up
// that meets a damaged block says "not found". So its tables are verified when they are opened, every record has a checksum, and
// what makes writes durable is package journal. It still writes through maps: if another process takes all space while it does,
// the process ends; nothing is lost then.
//
// # Large values
//
// Badger keeps large values in a log of their own, whose files it collects. That may bring back what was removed
// (disk/large.go says how), so a large value has a number of its own, and the record, which is never in that log, says which.
package badger
