// Package backup is the file format of backups: what one node's replicas held,
// slot by slot, written as a stream and checked as one.
//
// # What a backup means
//
// It holds what one replica of each slot held. Each record is as the replica had it at
// one moment while the backup was made, and durable there; the moments of different
// keys differ. A write that a majority of the other replicas had acknowledged, and that had not
// reached this one yet, is not in it, and one that this one had and the client was not yet told
// of may be. The backups of a majority of a slot's replicas together hold every write that was
// acknowledged before the first of them began, with one exception: a deletion that every replica
// came to hold, and so purged, between two of these backups is in neither, and the older value may be
// in the first.
//
// # The format
//
//	file    = preamble block...
//	preamble= "QUOLLBAK" version(4) crc(4)     crc of the 12 bytes before it
//	block   = kind(1) length(4) crc(4) body    crc of kind, length and body
//
// Numbers of fixed size are little-endian, checksums CRC32C. The blocks are, in this order:
//
//	header   once    JSON: see Header
//	piece    any     bytes of a large value: see below
//	chunk    any     some records of a slot, in ascending order of slots; of one slot in
//	                 ascending order of position
//	trailer  once    counts, and the SHA-256 of everything before it: see Counts
//
// or, when the backup failed after it began, a failure in the place of the trailer: a
// sentence that says why. Nothing follows either.
//
//	chunk   = slot(2) promised floor cleared record...
//	record  = key version state
//
// A large value is not in the state of its record, which has its number instead: the first one of the file is 1. Its bytes, as an object is packed, are in
// pieces before the chunk, which is the next one that is no piece. Values, and their pieces, are in order.
//
//	piece   = number type(1) size offset bytes      size is that of the whole value; the type has bit 7 if that is no object
//
// with ballots, versions, states and byte strings as package wire encodes them. The
// state of a slot is in each of its chunks, as of the moment of the chunk; the
// slot's is the maximum of all. Its epoch is left out: a restored replica is of no epoch.
//
// A change that older programs would not understand raises Version. Version 1 had no pieces.
package backup
