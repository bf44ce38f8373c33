//go:build small

package replica

import "github.com/quolldb/quoll/node/register"

// Witness is told of all that homes ask of replicas, before it leaves, if it is set before a node starts: what a write is built on is not part of
// the message if the whole state is. There is one for all nodes of a process, in builds with the tag small only: those of e2e/world.
var Witness func(*register.Outgoing)

func witness(m *register.Outgoing) {
	if Witness != nil {
		Witness(m)
	}
}
