package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// TestDigestsOfSomeSlots: who asks for some slots is told of these.
func TestDigestsOfSomeSlots(t *testing.T) {
	c := newFormed(t, 1, nil)
	n := c.nodes["a"]
	c.all("a", "set {one}1 v", "set {two}1 v")
	one, two := ring.SlotOf([]byte("{one}1")), ring.SlotOf([]byte("{two}1"))
	ask := func(slots ...uint16) (found []uint16) {
		payload, err := n.answerCall(wire.RoleNode, protocol.MethodDigests, protocol.AppendSlots(nil, slots))
		require.NoError(t, err)
		require.NoError(t, protocol.DecodeSlotDigests(payload, func(d protocol.SlotDigest) {
			require.NotZero(t, d.Digest)
			found = append(found, d.Slot)
		}))
		return found
	}
	require.Equal(t, []uint16{two}, ask(two, (two+1)%ring.Slots))
	require.ElementsMatch(t, []uint16{one, two}, ask())
	for _, method := range []protocol.Method{protocol.MethodDigests, protocol.MethodLeaves} {
		_, err := n.answerCall(wire.RoleNode, method, protocol.AppendSlots(nil, []uint16{ring.Slots}))
		require.ErrorContains(t, err, "a slot that there is not")
	}
}
