// Package badger is the engine that keeps everything on disk. What it has acknowledged is
// there after the process was killed and, unless told otherwise, after a power cut. It
// holds data sets that are larger than memory, and serves what is used from memory.
//
// # Why not Badger alone
//
// Badger is a well-kept LSM tree, and holds the records here. Three things it does not do
// as a replica needs them. Its own log is a mapped file: a full disk ends the process
// (SIGBUS), and a damaged byte ends the log silently, with everything that comes after. A look-up
// that meets a damaged block says "not found". And it appends, where overwriting a file that was
// written before needs half as long to be durable. So:
//
//	Put ──> table of the slot ──────── flusher ──> Badger
//	   └──> journal ──> durable            └──────> journal.Checkpoint
//
// Every write goes to the table of its slot, in memory, and to the journal (package journal),
// which makes it durable, many writes with one fdatasync. Now and then the flusher writes what has
// changed to Badger, marks there up to which number of the journal that is, syncs Badger, and lets
// the journal go on overwriting. Opening replays the rest of the journal. A write in it
// is a complete record, so it does not matter if Badger has it already.
//
// # Memory
//
// A slot's table holds every record that Badger does not have yet, and of the others those that
// were used: up to Options.Cache bytes in all slots. Beyond that, records that were not used for
// long leave memory (the clock algorithm). A slot whose records are all in memory never asks
// Badger, not even for keys that are not there.
//
// # Large values
//
// Badger keeps large values in a log of their own, whose files it collects. That may bring back what was removed
// (large.go says how), so a large value has a number of its own, and the record, which is never in that log, says which.
// Values that no record refers to any more are removed in the background.
//
// # Damage
//
// Badger's tables are verified when they are opened, and every record has a checksum of its own,
// over key and value, which is checked when it is read. A record that cannot be read is
// engine.ErrCorrupt, never absent. Badger must not have less than the journal has given up, and the
// journal not less than Badger: either means that files were lost.
//
// # Counting
//
// A slot's counts are kept in memory and written when the engine is closed. After an unclean
// stop a background pass counts again, and writes meanwhile count only below the place that it has
// reached. The same pass fills the memory after a start.
package badger
