package repair

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// TestDigestsOfSomeSlots: who asks for some slots is told of these.
func TestDigestsOfSomeSlots(t *testing.T) {
	c := newFakes(t, nil)
	const one, two = 7, 99
	c.put(one, []byte("one"), value("v", 1))
	c.put(two, []byte("two"), value("v", 1))
	ask := func(slots ...uint16) (found []uint16) {
		payload, err := c.node("a").AnswerDigests(protocol.AppendSlots(nil, 1, slots))
		require.NoError(t, err)
		require.NoError(t, protocol.DecodeSlotDigests(payload, func(d protocol.SlotDigest) {
			require.NotZero(t, d.Digest)
			found = append(found, d.Slot)
		}))
		return found
	}
	require.Equal(t, []uint16{two}, ask(two, two+1))
	require.Equal(t, []uint16{one, two}, ask(one, two))
	wrong := protocol.AppendSlots(nil, 1, []uint16{ring.Slots})
	for _, answer := range []func([]byte) ([]byte, error){c.node("a").AnswerDigests, c.node("a").AnswerLeaves} {
		_, err := answer(wrong)
		require.ErrorContains(t, err, "a slot that there is not")
	}
}

// TestADamagedSlotIsNotTold, but that it is damaged.
func TestADamagedSlotIsNotTold(t *testing.T) {
	c := newFakes(t, nil)
	c.put(7, []byte("one"), value("v", 1))
	n := c.node("b")
	n.damaged[7] = errNotReplica
	payload, err := n.AnswerDigests(protocol.AppendSlots(nil, 1, []uint16{7}))
	require.NoError(t, err)
	require.NoError(t, protocol.DecodeSlotDigests(payload, func(d protocol.SlotDigest) {
		require.Equal(t, protocol.SlotDigest{Slot: 7, Unreadable: true}, d)
	}))
	payload, err = n.AnswerLeaves(protocol.AppendSlots(nil, 1, []uint16{7, 8}))
	require.NoError(t, err)
	leaves, err := protocol.DecodeLeaves(payload)
	require.NoError(t, err)
	require.Len(t, leaves, 1)
	_, err = n.AnswerVersions(protocol.AppendVersionsRequest(nil, 1, []protocol.SlotKey{{Slot: 7, Key: []byte("one")}}))
	require.Error(t, err)
	_, err = n.AnswerVersions(protocol.AppendVersionsRequest(nil, 1, []protocol.SlotKey{{Slot: ring.Slots, Key: []byte("one")}}))
	require.ErrorIs(t, err, errNotReplica)
}
