// Package membership decides which ring a node votes in, if in any, and which version of it the node knows.
//
// Every life of a node's data has a random generation: that of a
// memory node ends with the process, that of a durable one with its data directory. The member with
// the lowest name gathers those of all members of the initial cluster, proposes the resulting
// ring to each of them, and when all have accepted it commits: the ring of epoch 1 names the
// generation of every member, and is the first version of a document (change.Document). Only a process whose generation is in it votes (formation.go).
//
// What changes the ring later is decided elsewhere. A node takes up one version after the other: it saves it, works by it, and only then says that it knows it (document.go).
// Whoever hears of a later version asks for what has changed: in a handshake, from a node that has just taken it up, by gossip, or since something
// was refused (follow.go). The formation, a digest of the cluster as it formed, tells the ring from others.
//
// A durable node saves the ring before it votes for the first time. When it is
// restarted it takes up the newest version at once, whoever else is there (identity.go), and its peers
// know its generation. If it was restarted between proposal and commit it has no ring, has
// not voted, and asks the first member that has formed, which says whether the ring
// names its generation (hello.go). A coordinator that was restarted before it saved the ring begins
// again; one that was restarted after has formed, and the others learn the ring from it.
//
// A memory node that is restarted, or a durable one that lost its state, has another
// generation. It learns the ring from any node that knows it, finds itself superseded, and
// does not vote: it would forget what its former life promised (R19, lost.go). It follows the ring, and votes when
// a later version names it, by another number. The others go on, as long
// as they are a majority. Should no node have kept a ring, no state is left either, and a new,
// empty cluster forms; as long as some still know the ring, the operator has to say so (reform.go).
//
// A proposal binds a member only until the next one, or until it is restarted: as long as
// some member has not formed, it has not voted, and a member that has formed accepts no
// proposal.
//
// What the package needs of the node that it works for is in node.go. How a node hands over its slots when it ends, and is found again when it
// is back, has to do with slots and connections and not with the ring: that is package node's.
package membership
