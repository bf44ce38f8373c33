// Package journal is a write-ahead log of opaque operations. An engine appends what
// it is about to do, waits until that is durable, and may keep the result in memory
// for as long as it likes: after a crash Open plays the operations back, in order.
// When the results are durable elsewhere, Checkpoint gives the space back.
//
// # Files
//
//	checkpoint             what is needed: the first segment, and what is proven
//	0000000000000001.wal   segments, numbered without gaps
//	00000000deadbeef.spare a segment that waits for its next use
//
// A segment is allocated, and durable under its name, before anything is written to
// it. So a write never meets a full disk, and most of the cost of an fsync, which is
// that of the file's metadata, is gone. At least one segment beyond the current one
// is prepared in the background. A segment below the checkpoint is renamed and
// overwritten in place, which is faster again.
//
// # Format
//
// All numbers are little-endian, all checksums CRC32C. Both kinds of files begin with
// a magic word, a version, and the checksum of the two (16 bytes), so that a newer
// version is told from a flipped bit.
//
//	checkpoint: preamble, journal 8, first segment 8, its first seq 8, checkpoint 8, durable 8, CRC 4
//	segment:    preamble, journal 8, number 8, id 8, CRC 4, size of the file 8, CRC 4, zeros up to 4096; then frames
//	frame:      segment id 8, seq 8, synced 8, length 4, flags 4, CRC of the payload 4, CRC of these 36; payload
//	payload:    pieces: length and two flags (begins, ends an operation) 4, bytes
//
// An operation has a sequence number, counting from 1. A frame carries what was
// written together, and the seq of its first piece. An operation that does not fit
// goes on in the next frame, which may be in the next segment, so every allocated
// byte can be used and an operation may be larger than a segment. The last frame of a
// segment is empty and flagged as its seal: there is a successor, go on there.
//
// The id is random and new whenever a file becomes a segment. It keeps what a file
// contained in an earlier life, or what was copied from elsewhere, from being taken for
// a frame. That each frame has the seq that is due keeps it in its place.
//
// # Torn or damaged
//
// Recovery follows the frames up to the first that is not valid. A crash leaves such
// an end: what was being written may be there in part, and with an Interval even out
// of order. It is dropped, since nobody was told that it is durable. But a damaged disk
// can look alike, and to drop operations that were acknowledged as durable would be
// silent loss. So proof is kept: every frame says up to which seq everything was
// fdatasynced when it was written, and so does the checkpoint file, which Close writes
// for the last time. If the checkpoint file, or any frame that can still be found
// behind the bad place, says that what is missing was durable, the journal is damaged
// and Open fails with ErrCorrupt, changing nothing. What is missing altogether is
// noticed too: a gap in the numbers, a seal without a successor, segments without a
// checkpoint file, a file that is shorter than it was allocated (0.1.0 did not write how long that is).
//
// After every Open a new segment is begun, and the old one is sealed at the end of
// what is valid. So nothing that was dropped can come back.
//
// # Group commit
//
// Append copies into a buffer. Commits gather until the writer takes the whole buffer
// with all of them, writes it at once, with one fdatasync, and calls them back; the
// next buffer fills meanwhile. Without an Interval the writer is a goroutine of its
// own. With one there is nothing to wait for, and whoever commits while nobody writes
// is the writer.
//
// An error of a write or an fsync is final. After a failed fsync the kernel may
// have dropped the data and say on the next call that all is well.
package journal
