// Package hint remembers which keys a replica missed while it was away, so that it is caught up
// when it is back without comparing whole slots.
//
// A Set is of one replica. It holds keys, not values: what the replica gets is what is there
// when it is back. It is bounded: when it has no room for another key of a slot it forgets the slot's keys
// and marks the slot, which has to be compared then. Nothing is dropped without a mark.
//
// # The file
//
// With a directory a Set survives the process, in one file that is appended to:
//
//	header  magic, generation and name of the replica, CRC32C
//	record  kind, slot, length of the key, CRC32C of these; for a key: the key, CRC32C of it
//
// A goroutine writes it behind the callers, who never wait for the disk. Nothing is synced before Close, and what
// has been replayed is still there until the file is written anew: a hint counts for no quorum, one too many
// does no harm, and comparing the replicas finds what hints miss. So no error of the file is
// one of the node. An end that is cut off is what a lost process or machine leaves; anything else that is wrong is
// damage: the file is set aside, and all slots are marked.
package hint
