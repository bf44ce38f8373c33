package hyperloglog

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRegistersOnlyGrow: a string has of each register the highest value that it was ever given, sparse or dense, and says which changes were any.
func TestRegistersOnlyGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value, model := New(), Registers{}
		near := rapid.IntRange(1, 14).Draw(t, "bits")
		change := rapid.Custom(func(t *rapid.T) Register {
			return Register{uint16(rapid.IntRange(0, 1<<near-1).Draw(t, "index")), uint8(rapid.IntRange(1, 33).Filter(func(n int) bool {
				return n < 33 || rapid.IntRange(0, 200).Draw(t, "dense") == 0
			}).Draw(t, "value"))}
		})
		for range rapid.IntRange(1, 20).Draw(t, "commands") {
			changes := rapid.SliceOfN(change, 0, 100).Draw(t, "changes")
			before := string(value)
			next, effective, err := Add(value, changes)
			require.NoError(t, err)
			require.Equal(t, before, string(value), "the old value was changed")
			var want []Register
			for _, c := range changes {
				if c.Value > model[c.Index] {
					model[c.Index] = c.Value
					want = append(want, c)
				}
			}
			require.Equal(t, want, effective)
			require.NoError(t, Check(next))
			var got Registers
			require.NoError(t, got.Merge(next))
			require.Equal(t, model, got)
			_, valid := Estimate(next)
			require.Equal(t, before == string(New()) && len(want) == 0, valid)
			n, err := Calculate(next)
			require.NoError(t, err)
			require.Equal(t, model.Estimate(), n)
			require.True(t, len(next) <= maxSparse || len(next) == denseSize)
			value = next
		}
	})
}

// TestEstimates are near to what was added.
func TestEstimates(t *testing.T) {
	value, next := New(), 1
	for i := 1; i <= 1_000_000; i++ {
		value, _, _ = Add(value, []Register{Of([]byte("element" + strconv.Itoa(i)))})
		if i != next {
			continue
		}
		n, err := Calculate(value)
		require.NoError(t, err)
		require.InDelta(t, i, n, math.Ceil(float64(i)*6*1.04/math.Sqrt(Count)))
		if next *= 10; i < maxSparse/3 {
			require.EqualValues(t, formSparse, value[formAt])
		}
		with, from, to := WithEstimate(value, n)
		kept, valid := Estimate(with)
		require.True(t, valid)
		require.Equal(t, n, kept)
		require.Equal(t, [2]int{8, 16}, [2]int{from, to})
		if i > maxSparse { // each one is a copy of 12 KiB
			skipTo(&value, i, next-1)
			i = next - 1
		}
	}
}

// skipTo adds the elements after one up to another at once.
func skipTo(value *[]byte, from, to int) {
	var changes []Register
	for i := from + 1; i <= to && to <= 1_000_000; i++ {
		changes = append(changes, Of([]byte("element"+strconv.Itoa(i))))
	}
	*value, _, _ = Add(*value, changes)
}

// FuzzAny: whatever bytes are taken for a HyperLogLog, they are read within their bounds, and what Add makes of those that are one is one.
func FuzzAny(f *testing.F) {
	f.Add(New(), uint16(7), uint8(3))
	f.Add(append(New()[:header], 0xff, 0x7f, 0x80), uint16(16383), uint8(40))
	f.Fuzz(func(t *testing.T, value []byte, index uint16, register uint8) {
		if Check(value) != nil {
			return
		}
		_, invalid := Calculate(value)
		next, _, err := Add(value, []Register{{index % Count, register % (MaxValue + 1)}})
		if invalid != nil || err != nil {
			return
		}
		_, err = Calculate(next)
		require.NoError(t, err)
	})
}
