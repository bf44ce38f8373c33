// Package decide is what the Raft group of package consensus decides about: one change.Document, and who changes it.
//
//	machine.go   Machine: the document that the log of entries makes, the same on all voters
//	entry.go     an entry in the log: what is to change, and when it was proposed
//	outcome.go   what became of a proposal, also over the wire
//	lead.go      Leader: begins the waves of the plan under way, on the group's leader; pace.go how large they are
//	report.go    Reporter: proposes that this node has collected slots
//
// None of it knows a connection or a directory: package node puts it together with both.
//
// # Entries of later versions
//
// A Machine that reads an entry that it does not know ends its group with an error that says so (consensus.ErrUnknownEntry). Passing over it would make another
// document than the one that nodes of the later version have. Nobody proposes an entry that its own version does not know.
package decide
