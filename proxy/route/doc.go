// Package route executes batches of operations on the cluster. It is one of the rooms of the proxy: sessions above it say what is to be executed,
// and need nothing of it but the interface Cluster.
//
// A Coordinator knows the ring and has a link to every node. For each operation of a Batch it finds the replicas of the key's slot. A read asks a
// majority of them and counts their votes (package quorum); a write, and a read on which they differ, goes to the slot's home. What goes to
// one node at a time is one frame.
//
//	batch, cluster     What is executed, and the door of the room.
//	document           How the ring is learned from the nodes, and its changes.
//	ring, link         The ring as it is worked with, and the links to its nodes.
//	former             What becomes of what was known by an earlier version of it.
//	execute, state     The rounds in which a batch is executed; what is kept of it meanwhile.
//	send, read, home   What is sent to whom.
//	results, op        What comes back, and what becomes of an operation.
//	refusal, retry     What was refused and is sent again, or ends in an error.
//	chain              The order of operations on one key that is written.
//	timeout, pauses    When the time is up.
//	everybody, scan,   What asks the whole cluster: SCAN, DBSIZE, FLUSHALL.
//	merge, count, flush
//	decisions, users,  What is changed for the whole cluster, by those who decide on the ring.
//	parameters
//
// Every operation ends with an outcome: it was executed, it had no effect and never will, or that is not known. All errors that say so are in
// errors.go. A write that may have been sent is never sent to another home (rule R11).
package route
