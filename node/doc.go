// Package node assembles a Quoll node: the process that holds replicas of slots,
// executes the commands of the slots that it is home of, and replicates them.
//
// What is decided, is decided in pure packages: register (the replication
// protocol), datatype (what commands mean) and ring (who owns what). This package gives them
// sockets, clocks and a store:
//
//	node.go       Node: parts, start and stop
//	session.go    connections from proxies, nodes and tools, and who gets their frames; conns.go all of them
//	ring.go       how it works by one version of the ring after the other
//	peers.go      links to the other nodes, and who gets what comes on them; gossip.go who is alive
//	call.go       rare requests: counts, status; scan.go pages of records; backup.go all of them
//	status.go     what the admin API shows
//	expire.go     keys that expire without being read
//	evict.go      keys that go because memory is full; limits.go how much it may be
//	drop.go       what is left of slots that other nodes hold
//	hints.go      what was noted of peers that were away
//	store.go      a store that is gone, or was replaced
//	full.go       a node without room tells its peers; slow.go it tells those that are slow; work.go a node that is behind
//	return.go     a node that was restarted is found again; leave.go one ends without an error
//
// # Rooms
//
// What a node does for clients is a stack of packages: exec, what proxies ask, and replicate, what homes and replicas say to each other, both on top of
// replica, this node's replicas of slots, which knows the node as an interface (replicas.go).
//
// Parts of what it does beside that are packages of their own, each with an interface that says what it needs of the node, and that is implemented
// here: membership, which ring the node votes in (members.go); repair, replicas that missed writes (repairs.go); rebuild, slots that
// cannot be read (rebuilds.go). What they see alike is in rooms.go.
//
// # How work flows
//
// The goroutine that reads a connection executes a whole frame, in groups of operations: it locks the slots' stripes, lets acceptors and homes make steps, and unlocks; what
// that sends is gathered in the connection's round (replica.Round). When no further frame is in the
// read buffer the round is flushed: each peer gets one frame with what homes ask of it, the engine
// commits (one fsync for all of it on a durable one), and then each peer and each proxy gets one frame with
// all answers that are for it.
package node
