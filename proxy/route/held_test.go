package route

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// TestEqualDigestsProve that writes are held: replicas take writes in any order, late, or never, while they are asked one after the other. As many as is said hold what was acknowledged before.
func TestEqualDigestsProve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const keys = 2
		n := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 7}).Draw(t, "replicas")
		replica := rapid.IntRange(0, n-1)
		version := uint64(0)
		var versions [keys][]uint64 // that were written, in their order
		held := make([][keys]uint64, n)
		take := func(r, key int, v uint64) { held[r][key] = max(held[r][key], v) }
		write := func(key int) {
			version++
			versions[key] = append(versions[key], version)
			take(replica.Draw(t, "home"), key, version)
		}
		deliver := func(r, key int) {
			if len(versions[key]) > 0 {
				take(r, key, rapid.SampledFrom(versions[key]).Draw(t, "version"))
			}
		}
		step := func() {
			r, key := replica.Draw(t, "replica"), rapid.IntRange(0, keys-1).Draw(t, "key")
			if rapid.IntRange(0, 3).Draw(t, "write") == 0 {
				write(key)
			} else {
				deliver(r, key)
			}
		}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			step()
		}
		var acknowledged [keys]uint64
		for key := range keys {
			for _, v := range versions[key] {
				has := 0
				for r := range held {
					if held[r][key] >= v {
						has++
					}
				}
				if has > n/2 {
					acknowledged[key] = v
				}
			}
		}
		var digests []uint64
		for _, r := range rapid.Permutation(seq(n)).Draw(t, "order") {
			for range rapid.IntRange(0, 2).Draw(t, "between") {
				step()
			}
			if rapid.IntRange(0, 9).Draw(t, "answers") > 0 {
				digests = append(digests, held[r][0]<<32|held[r][1])
			}
		}
		hold := 0
		for r := range held {
			all := true
			for key := range keys {
				all = all && held[r][key] >= acknowledged[key]
			}
			if all {
				hold++
			}
		}
		// The majority of one key may be another one than that of the other.
		if said := holding(n, false, digests); said > n/2+1 && said > hold {
			t.Fatalf("%d of %d replicas are said to hold it, %d do", said, n, hold)
		}
	})
}

func seq(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i)
	}
	return numbers
}

// TestHolding: fewer than a majority prove nothing, whatever they say.
func TestHolding(t *testing.T) {
	require.Equal(t, 3, holding(3, false, []uint64{7, 7, 7}))
	require.Equal(t, 3, holding(3, false, []uint64{0, 0, 0}), "nothing is also the same")
	require.Equal(t, 2, holding(3, false, []uint64{7, 8, 7}))
	require.Equal(t, 2, holding(3, false, []uint64{7, 8, 9}))
	require.Equal(t, 2, holding(3, false, nil))
	require.Equal(t, 4, holding(5, false, []uint64{7, 7, 8, 7, 7}))
	require.Equal(t, 3, holding(5, false, []uint64{7, 7, 8, 8, 9}))
	require.Equal(t, 2, holding(3, true, []uint64{7, 7, 7}), "it moves")
}

// TestHeldAsksAllReplicas: a set is left with the slots that not enough replicas hold.
func TestHeldAsksAllReplicas(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	digests := make([]map[uint16]protocol.SlotDigest, 3) // by ID - 1; under the lock of the ring
	for i, n := range f.nodes {
		digests[i] = map[uint16]protocol.SlotDigest{}
		n.mu.Lock()
		n.answers = func(method protocol.Method, payload []byte) ([]byte, error) {
			if method != protocol.MethodDigests {
				return nil, errNotAnswered
			}
			_, slots, err := protocol.DecodeSlots(payload)
			if err != nil || len(slots) > slotsAtOnce {
				return nil, errors.New("too many")
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			var list []protocol.SlotDigest
			for _, slot := range slots {
				if d, ok := digests[i][slot]; ok {
					d.Slot = slot
					list = append(list, d)
				}
			}
			return protocol.AppendSlotDigests(nil, list), nil
		}
		n.mu.Unlock()
	}
	hold := func(slot uint16, each ...uint64) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i, digest := range each {
			digests[i][slot] = protocol.SlotDigest{Digest: digest}
		}
	}
	held := func(copies int, slots ...uint16) (int, string) {
		var set ring.SlotSet
		for _, slot := range slots {
			set.Add(slot)
		}
		least := c.Held(t.Context(), &set, copies)
		return least, set.String()
	}
	check := func(copies int, slots []uint16, least int, left string) {
		t.Helper()
		n, set := held(copies, slots...)
		require.Equal(t, least, n)
		require.Equal(t, left, set)
	}
	hold(5, 1, 1, 1)
	hold(6, 1, 1, 2)
	hold(9000, 1, 2, 3)
	check(3, []uint16{4, 5}, math.MaxInt, "")
	check(3, []uint16{4, 5, 6, 9000}, 2, "6,9000")
	check(2, []uint16{4, 5, 6, 9000}, math.MaxInt, "")
	check(9, []uint16{5}, math.MaxInt, "")
	check(9, nil, math.MaxInt, "")

	f.mu.Lock()
	digests[1][5] = protocol.SlotDigest{Digest: 1, Unreadable: true}
	digests[2][4] = protocol.SlotDigest{Changed: true}
	f.mu.Unlock()
	check(3, []uint16{4, 5}, 2, "4-5")

	var all ring.SlotSet
	for slot := range uint16(ring.Slots) {
		all.Add(slot)
	}
	hold(4, 0, 0, 0)
	hold(5, 3, 3, 3)
	require.Equal(t, 2, c.Held(t.Context(), &all, 3))
	require.Equal(t, "6,9000", all.String())

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	<-ctx.Done()
	all.Add(1)
	require.Equal(t, 2, c.Held(ctx, &all, 3), "nobody answers any more")
	require.True(t, all.Has(1))

	f.nodes[2].setDown(true)
	f.awaitUp(c, 2)
	check(3, []uint16{5}, 2, "5")
}

// TestMostEqual: the largest group counts, wherever it stands.
func TestMostEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Uint64Range(0, 3), 0, 7).Draw(t, "numbers")
		sorted := slices.Sorted(slices.Values(numbers))
		most := 0
		for first := range sorted {
			for last := first; last < len(sorted) && sorted[last] == sorted[first]; last++ {
				most = max(most, last-first+1)
			}
		}
		require.Equal(t, most, mostEqual(numbers))
	})
}
