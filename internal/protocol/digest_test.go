package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

func TestSlotDigestsComeBack(t *testing.T) {
	digests := rapid.Custom(func(t *rapid.T) SlotDigest {
		return SlotDigest{Slot: rapid.Uint16().Draw(t, "slot"), Digest: rapid.Uint64().Draw(t, "digest"), Unreadable: rapid.Bool().Draw(t, "unreadable"), Changed: rapid.Bool().Draw(t, "changed")}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(digests).Draw(t, "list")
		payload := AppendSlotDigests(nil, list)
		var got []SlotDigest
		each := func(d SlotDigest) { got = append(got, d) }
		require.NoError(t, DecodeSlotDigests(payload, each))
		require.Equal(t, list, append([]SlotDigest{}, got...))

		cut := payload[:rapid.IntRange(0, len(payload)-1).Draw(t, "cut")]
		require.ErrorIs(t, DecodeSlotDigests(cut, each), wire.ErrMalformed)
	})
}

func TestSlotsThatThereAreNot(t *testing.T) {
	for _, slots := range [][]uint16{{ring.Slots}, {1, 1<<16 - 1}, make([]uint16, ring.Slots+1)} {
		_, _, err := DecodeSlots(AppendSlots(nil, 1, slots))
		require.ErrorIs(t, err, wire.ErrMalformed)
	}
}
