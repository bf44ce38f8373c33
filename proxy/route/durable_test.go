package route

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// TestEqualDigestsOfWhatIsDurableProve that writes are on disks: replicas take writes in any order, late, or never, and write them to their disks when they are asked; some are not.
func TestEqualDigestsOfWhatIsDurableProve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 7}).Draw(t, "replicas")
		replica := rapid.IntRange(0, n-1)
		last := rapid.IntRange(0, 6).Draw(t, "writes")
		held, onDisk := make([]int, n), make([]int, n) // the latest write
		take := func() {
			r := replica.Draw(t, "replica")
			held[r] = max(held[r], rapid.IntRange(0, last).Draw(t, "write"))
		}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			take()
		}
		acknowledged := 0
		for w := range last + 1 {
			if countOf(held, w) > n/2 {
				acknowledged = w
			}
		}
		var digests []uint64
		for _, r := range rapid.Permutation(seq(n)).Draw(t, "order") {
			for range rapid.IntRange(0, 2).Draw(t, "between") {
				take()
			}
			if rapid.IntRange(0, 9).Draw(t, "has a disk, and answers") > 2 {
				digests = append(digests, uint64(held[r]))
				onDisk[r] = held[r]
			} else {
				onDisk[r] = -1
			}
		}
		if said, are := durable(n, false, digests), countOf(onDisk, acknowledged); said > are {
			t.Fatalf("%d of %d replicas are said to have it on their disks, %d do", said, n, are)
		}
	})
}

// countOf says how many have a write, or a later one.
func countOf(each []int, write int) (n int) {
	for _, has := range each {
		if has >= write {
			n++
		}
	}
	return n
}

// TestDurable: of those that do not answer each may be one of the majority.
func TestDurable(t *testing.T) {
	require.Equal(t, 3, durable(3, false, []uint64{7, 7, 7}))
	require.Equal(t, 2, durable(3, false, []uint64{7, 8, 9}))
	require.Equal(t, 2, durable(3, false, []uint64{7, 7}))
	require.Equal(t, 1, durable(3, false, []uint64{7, 8}))
	require.Equal(t, 0, durable(3, false, []uint64{7}), "the other two may have had it")
	require.Equal(t, 0, durable(3, false, nil))
	require.Equal(t, 1, durable(1, false, []uint64{7}))
	require.Equal(t, 2, durable(5, false, []uint64{7, 7, 8, 8}))
	require.Equal(t, 3, durable(5, false, []uint64{7, 7, 7, 8}))
	require.Equal(t, 2, durable(3, true, []uint64{7, 7, 7}), "it moves")
	require.Equal(t, 1, durable(3, true, []uint64{7, 7}), "it moves")
}

// TestDurableAsksNodesWithDisks: those without count for nothing.
func TestDurableAsksNodesWithDisks(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	keeps := make([]protocol.Durability, 3) // under the lock of the ring
	some := protocol.AppendSlotDigests(nil, []protocol.SlotDigest{{Slot: 5, Digest: 7}})
	digests := map[protocol.Durability][]byte{protocol.OnDiskSoon: some, protocol.OnDisk: some}
	for i, n := range f.nodes {
		n.mu.Lock()
		n.answers = func(method protocol.Method, payload []byte) ([]byte, error) {
			if method != protocol.MethodDurable {
				return nil, errNotAnswered
			}
			if _, _, err := protocol.DecodeSlots(payload); err != nil {
				return nil, err
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			return protocol.AppendDurable(nil, keeps[i], digests[keeps[i]]), nil
		}
		n.mu.Unlock()
	}
	check := func(each []protocol.Durability, slots []uint16, copies, least int, left string, err error) {
		t.Helper()
		f.mu.Lock()
		copy(keeps, each)
		f.mu.Unlock()
		var set ring.SlotSet
		for _, slot := range slots {
			set.Add(slot)
		}
		n, is := c.Durable(t.Context(), &set, copies)
		require.ErrorIs(t, is, err)
		require.Equal(t, least, n)
		require.Equal(t, left, set.String())
	}
	const none, soon, at = protocol.InMemory, protocol.OnDiskSoon, protocol.OnDisk
	check([]protocol.Durability{soon, at, soon}, []uint16{5}, 3, math.MaxInt, "", nil)
	check([]protocol.Durability{soon, at, none}, []uint16{5}, 3, 2, "5", nil)
	check([]protocol.Durability{soon, none, none}, []uint16{5}, 3, 0, "5", nil)
	check([]protocol.Durability{soon, none, none}, nil, 3, math.MaxInt, "", nil)
	check([]protocol.Durability{none, none, none}, []uint16{5}, 3, 0, "5", ErrInMemory)
	check([]protocol.Durability{none, none, none}, nil, 3, 0, "", ErrInMemory)
}
