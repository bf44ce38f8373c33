// Package exec executes what proxies ask of a node: a frame of operations, each on one key.
//
// An operation that reads for a quorum is executed here, on what this node's replica holds: the reply leaves with the version, and the proxy
// counts (package quorum of the proxy). One that is for the slot's home becomes a register.Request, which the home
// answers when a majority holds its effect; the reply takes the way back through the round in which that happens (package replica).
//
// What would be of no use is refused before anything has happened, so that the proxy can ask another node: NotVoting and EpochChanged for a whole frame, NotMember,
// NoQuorum and StorageFull for a slot, Overloaded when too much is under way.
//
//	exec.go    Executor, and what a connection needs
//	batch.go   a frame: groups of operations
//	read.go    an operation that reads for a quorum; write.go one for the slot's home
//	lengthy.go a read that would hold up others: by itself
//	together.go  one for the home that is of several keys: a transaction, or a command; watch.go what WATCH keeps of a key; whole.go what is on all keys of a database
//	script.go  scripts, as commands of such an operation; scripts.go those that are kept compiled; functions.go functions
//	long.go    how long they may run: in a step of their home, and by themselves
//	refuse.go  what is refused, and why
//	room.go    waiting until peers and proxies have taken what they were sent
package exec
