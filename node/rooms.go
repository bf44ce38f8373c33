package node

import "github.com/quolldb/quoll/node/replica"

// Rooms are the packages below this one that do a part of what a node does. What serves requests is a stack: exec and replicate
// on top of replica, and below that peer, register and the engine. Repair, rebuild, collect and membership stand beside it: each of them says in interfaces of its
// own what it needs of the node, which is implemented in repairs.go, rebuilds.go, collects.go and members.go.

// publicStripe is a stripe that a room has locked. In an interface it is a pointer, so nothing is allocated for it.
type publicStripe struct{ *replica.Stripe }

// Unlock ends that. What homes were given to do leaves.
func (s publicStripe) Unlock() { s.End() }
