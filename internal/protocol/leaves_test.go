package protocol

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

func TestLeavesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.SliceOfNDistinct(rapid.Uint16Max(ring.Slots-1), 1, 5, rapid.ID[uint16]).Draw(t, "slots")
		slices.Sort(slots)
		version, got, err := DecodeSlots(AppendSlots(nil, 300, slots))
		require.NoError(t, err)
		require.EqualValues(t, 300, version)
		require.Equal(t, slots, got)

		list := make([]SlotLeaves, len(slots))
		for i, slot := range slots {
			list[i].Slot = slot
			for leaf := range list[i].Leaves {
				list[i].Leaves[leaf] = rapid.Uint64().Draw(t, "leaf")
			}
		}
		decoded, err := DecodeLeaves(AppendLeaves(nil, list))
		require.NoError(t, err)
		require.Equal(t, list, decoded)

		request := ScanRequest{Version: rapid.Uint64().Draw(t, "version"), From: places.Draw(t, "from"), Limit: 7, Slots: slots, Leaves: rapid.SliceOfN(rapid.Uint64(), len(slots), len(slots)).Draw(t, "leaves")}
		again, err := DecodeScanLeavesRequest(AppendScanLeavesRequest(nil, request))
		require.NoError(t, err)
		require.Equal(t, request, again)
	})
}

func TestWhatAScanWants(t *testing.T) {
	for _, r := range []ScanRequest{{}, {Slots: []uint16{3, 7}}, {Slots: []uint16{3, 7}, Leaves: []uint64{1, 5}}} {
		only := len(r.Slots) > 0
		require.Equal(t, only, r.Wants(4) == 0)
		want := AllLeaves
		if len(r.Leaves) > 0 {
			want = 5
		}
		require.Equal(t, want, r.Wants(7))
	}
}

// FuzzLeaves takes requests for leaves, and leaves, apart.
func FuzzLeaves(f *testing.F) {
	f.Add(AppendSlots(nil, 1, []uint16{1, 2}))
	f.Add(AppendLeaves(nil, []SlotLeaves{{Slot: 1}, {Slot: 2}}))
	f.Add(AppendScanLeavesRequest(nil, ScanRequest{Slots: []uint16{1}, Leaves: []uint64{AllLeaves}}))
	f.Add(make([]byte, 2*ring.Slots+2))
	f.Fuzz(func(t *testing.T, body []byte) {
		version, slots, err := DecodeSlots(body)
		require.LessOrEqual(t, len(slots), ring.Slots)
		if err == nil {
			_, same, err := DecodeSlots(AppendSlots(nil, version, slots))
			require.NoError(t, err)
			require.Equal(t, slots, same)
			for _, slot := range slots {
				require.Less(t, slot, uint16(ring.Slots))
			}
		}
		list, err := DecodeLeaves(body)
		require.LessOrEqual(t, cap(list), len(body)/(8*LeafCount), "no memory for what is only declared")
		if err == nil {
			same, err := DecodeLeaves(AppendLeaves(nil, list))
			require.NoError(t, err)
			require.Equal(t, list, same)
		}
		request, err := DecodeScanLeavesRequest(body)
		if err != nil {
			require.ErrorIs(t, err, wire.ErrMalformed)
			return
		}
		require.Len(t, request.Leaves, len(request.Slots))
		for _, slot := range request.Slots {
			_ = request.Wants(slot)
		}
	})
}
