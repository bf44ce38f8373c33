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

// TestDurableDigestsComeBack: of a node that keeps nothing there are none.
func TestDurableDigestsComeBack(t *testing.T) {
	list := []SlotDigest{{Slot: 5, Digest: 7}, {Slot: 6, Unreadable: true}}
	for _, keeps := range []Durability{OnDiskSoon, OnDisk} {
		var got []SlotDigest
		each := func(d SlotDigest) { got = append(got, d) }
		payload := AppendDurable(nil, keeps, AppendSlotDigests(nil, list))
		is, err := DecodeDurable(payload, each)
		require.NoError(t, err)
		require.Equal(t, keeps, is)
		require.Equal(t, list, got)
		for cut := range payload {
			_, err := DecodeDurable(payload[:cut], each)
			require.ErrorIs(t, err, wire.ErrMalformed)
		}
	}
	is, err := DecodeDurable(AppendDurable(nil, InMemory, nil), nil)
	require.NoError(t, err)
	require.Equal(t, InMemory, is)
	for _, payload := range [][]byte{{0, 0}, {3, 0}, {255}} {
		_, err := DecodeDurable(payload, nil)
		require.ErrorIs(t, err, wire.ErrMalformed)
	}
}

func TestSlotsThatThereAreNot(t *testing.T) {
	for _, slots := range [][]uint16{{ring.Slots}, {1, 1<<16 - 1}, make([]uint16, ring.Slots+1)} {
		_, _, err := DecodeSlots(AppendSlots(nil, 1, slots))
		require.ErrorIs(t, err, wire.ErrMalformed)
	}
}
