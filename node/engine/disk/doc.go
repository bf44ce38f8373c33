// Package disk is the engine that keeps everything on disk. What it has acknowledged is
// there after the process was killed and, unless told otherwise, after a power cut. It
// holds data sets that are larger than memory, and serves what is used from memory.
//
// # Journal, tables and store
//
//	Put ──> table of the slot ──────── flusher ──> store
//	   └──> journal ──> durable            └──────> journal.Checkpoint
//
// Every write goes to the table of its slot, in memory, and to the journal (package journal),
// which makes it durable, many writes with one fdatasync. Now and then the flusher writes what has
// changed to a Store, marks there up to which number of the journal that is, syncs the store, and lets
// the journal go on overwriting. Opening replays the rest of the journal. A write in it
// is a complete record, so it does not matter if the store has it already. Nobody waits for the store. It is an LSM tree of somebody
// else's: packages badger and pebble have one each.
//
// The journal's files are allocated before they are needed and overwritten, which is durable in less than half the time of
// appending, and it tells a torn end from damage and from files that are missing.
//
// # Memory
//
// A slot's table holds every record that the store does not have yet, and of the others those that
// were used: up to Options.Cache bytes in all slots. Beyond that, records that were not used for
// long leave memory (the clock algorithm). A slot whose records are all in memory never asks
// the store, not even for keys that are not there.
//
// # Damage
//
// Every record has a checksum of its own,
// over key and value, which is checked when it is read. A record that cannot be read is
// engine.ErrCorrupt, never absent. The store must not have less than the journal has given up, and the
// journal not less than the store: either means that files were lost.
//
// # Large objects
//
// A large object (record.Parted) is in the store in parts, so that a small change writes little, and nothing has its size while it is
// written. While it is used, it waits in the journal and in memory until the journal has WaitSize, at most in half of Cache: of each part only
// the last state is written then. So for a field that changes the store is given a share of a page, not a page; and what the journal has is what the next start
// after a crash repeats: of fields of 72 B in a hash of 10^5, 1.2 million, for 8 µs of the processors each. One
// of 1 MiB or more is read when its parts are needed, each alone, and what was read counts as memory of the record. Files parts.go, revise.go, source.go and strays.go; the rules are in node/register/protocol.md, "Parts on disk".
//
// # Counting
//
// A slot's counts are kept in memory and written when the engine is closed. After an unclean
// stop a background pass counts again, and writes meanwhile count only below the place that it has
// reached. The same pass fills the memory after a start.
package disk
