// Package peer is what a node knows of another node: the link to it, whether it answers, and what it has said of itself, that it has no
// room, that it is ending, which time it is by its clock.
//
// A Peer decides nothing. Whoever wants to know whether a majority would answer, or who may lead a slot, asks it; all that is asked for each
// operation is a plain read of an atomic. What comes on its link and is not about the peer itself goes to a Handler, which the node implements.
package peer
