package ring

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSlotSets(t *testing.T) {
	needsAllSlots(t)
	rapid.Check(t, func(t *rapid.T) {
		var set SlotSet
		want := map[uint16]bool{}
		for _, slot := range rapid.SliceOf(rapid.Uint16Range(0, Slots-1)).Draw(t, "slots") {
			set.Add(slot)
			want[slot] = true
		}
		require.Equal(t, len(want), set.Len())
		missing := set.Missing()
		for slot := range uint16(Slots) {
			if set.Has(slot) != want[slot] || missing.Has(slot) == want[slot] {
				t.Fatalf("slot %d", slot)
			}
		}
		text, err := json.Marshal(set)
		require.NoError(t, err)
		var back SlotSet
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, set, back)
		missing.Union(&set)
		require.Equal(t, Slots, missing.Len())
	})
	var set SlotSet
	require.NoError(t, set.UnmarshalText([]byte("0-2,9,16383")))
	require.Equal(t, "0-2,9,16383", set.String())
	require.False(t, set.Has(Slots))
	for _, text := range []string{"x", "1-", "-1", "3-2", "16384", "1,,2", "70000"} {
		require.Error(t, set.UnmarshalText([]byte(text)), text)
	}
}
