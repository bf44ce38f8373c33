// Package replica holds this node's replicas of slots: for each slot the acceptor and the home of package register, in memory that
// is locked together, above the engine that stores the records.
//
// # Slots, groups and rounds
//
// A Host has 256 locks, and a Stripe is the slots of one of them. Whoever does something with a slot locks its stripe, for one operation (Host.Lock) or for a Group of
// them, in the course of a Round: it begins one, lets acceptors and homes make steps, and unlocks. What the steps have to send the round
// gathers, for each peer and for each connection one frame. At its end, Round.Flush, the requests of homes leave at once; what says
// something of what this node holds leaves when the engine has made durable what was staged (R2). Then the votes of the node's own replicas go to its homes,
// which is a round of its own.
//
//	round := host.Begin()
//	stripe := host.Lock(slot, round)
//	...                  // a step: see Stripe.Give, Slot.Acceptor
//	stripe.Unlock()
//	round.Flush()
//
// # Who uses it
//
// Package exec executes in it what proxies ask for, package replicate what homes and replicas say to each other. The node
// itself looks at slots, and gives them operations in the background (Stripe.Background). What the package needs of the node is the interface Node; whom slots are shared with it
// knows from package peer.
//
//	host.go        Host: the stripes and what they share
//	slot.go        a stripe, its slots; view.go which slots the ring gives to this node
//	learn.go       how they take part in a later version of the ring; drop.go what is left of slots that are others' by then
//	group.go       several operations with one locking, and their memory asked for ahead
//	round.go       what one round of work sends, and when; frames.go its frames; act.go what steps have made ready
//	env.go         what a home asks in the course of a step (register.Env)
//	store.go       the engine as replicas see it (register.Store, register.Writer)
//	quorum.go      whether a majority of a slot's replicas would answer
//	background.go  what homes are given to do that no client asked for
//	tick.go        what homes do that waits for too long
//	damage.go      what errors of the store end
//	space.go       whether there is room for more; commits.go how long the disk takes
package replica
