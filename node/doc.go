// Package node assembles a Quoll node: the process that holds replicas of slots,
// executes the commands of the slots that it is home of, and replicates them.
//
// What is decided, is decided in pure packages: register (the replication
// protocol), datatype (what commands mean) and ring (who owns what). This package gives them
// sockets, clocks and a store:
//
//	node.go       Node: parts, start and stop
//	peer.go       links to the other nodes; conns.go the connections from them
//	slot.go       the slots' acceptors and homes, and the locks around them
//	env.go        what a home asks in the course of a step (register.Env); act.go does what its steps have made ready
//	outbox.go     what one round of work sends, withheld as far as it says something of
//	              the store until that is durable (R2)
//	store.go      the engine as replicas see it; damage.go what its errors end
//	full.go       a disk without room
//	hints.go      what was noted of peers that were away
//	background.go what the node has homes do that no client asked for
//	expire.go     keys that expire without being read
//	serve.go      frames from proxies and nodes
//	call.go       rare requests: scans, counts, status
//	status.go     what the admin API shows
//	return.go     a node that was restarted is found again; leave.go one ends without an error
//
// # Rooms
//
// Parts of what a node does are packages of their own, each with an interface that says what it needs of the node, and that is implemented
// here: membership, which ring the node votes in (members.go); repair, replicas that missed writes (repairs.go); rebuild, slots that
// cannot be read (rebuilds.go). What they see alike is in rooms.go.
//
// # How work flows
//
// The goroutine that reads a connection executes a whole frame: for every
// operation it locks the slot's stripe, lets acceptor or home make a step, and unlocks; what
// that sends is gathered in the goroutine's outbox. When no further frame is in the
// read buffer the outbox is flushed: each peer gets one frame with what homes ask of it, the engine
// commits (one fsync for all of it on a durable one), and then each peer and each proxy gets one frame with
// all answers that are for it.
package node
