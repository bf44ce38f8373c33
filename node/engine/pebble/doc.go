// Package pebble is the engine on disk over Pebble: what package disk says, with Pebble as its store.
//
// Pebble's own log is switched off: package journal is the log. Pebble writes through an interface of files (vfs), which is what this package
// is about (guard.go): a write that meets a full disk waits until there is space, and Pebble never learns of it; any other error of
// a write is final, becomes the engine's error, and Pebble writes nothing any more. So a full disk, an I/O error or a
// read-only file system ends neither the process nor reads. What Pebble itself calls fatal ends the engine too, not the process.
//
// Pebble's blocks have checksums, which are checked whenever a block is read: a damaged one is an error, never "not there".
package pebble
