package enginetest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// testChurn creates, overwrites and removes the same keys for many rounds, with values of
// all sizes, while the engine compacts and collects what became garbage. Nothing that
// was removed returns, at no moment and over no restart.
func testChurn(t *testing.T, s *store) {
	rounds, keys := 12, 400
	if testing.Short() {
		rounds, keys = 4, 100
	}
	slots := []uint16{1, 2, lastSlot}
	random := rand.New(rand.NewPCG(3, 4))
	want := newModel(slots)
	seq := uint64(0)
	stage := func(c change) {
		c.apply(want)
		require.NoError(t, c.stage(s))
	}
	for round := range rounds {
		for _, slot := range slots {
			for i := range keys {
				seq++
				key := keyNumber(i)
				switch random.IntN(8) {
				case 0, 1:
					stage(change{kind: deleteRecord, slot: slot, key: key})
				case 2:
					stage(change{kind: putRecord, slot: slot, key: key, rec: tombstone(seq)})
				case 3, 4, 5, 6:
					rec := text(seq, string(randomBytes(seq, churnSize(random))))
					stage(change{kind: putRecord, slot: slot, key: key, rec: rec})
				}
			}
			if random.IntN(4) == 0 {
				meta := record.SlotMeta{Cleared: version(seq - uint64(random.IntN(2*keys)))}
				stage(change{kind: clearSlot, slot: slot, meta: meta})
			}
		}
		commit(t, s)
		s.maintain(t)
		switch round % 4 {
		case 1:
			s.restart(t)
		case 3:
			s.crash(t)
		}
		want.requireIn(t, s, keys)
	}

	// Everything goes, and nothing is left.
	for _, slot := range slots {
		for i := range keys {
			stage(change{kind: deleteRecord, slot: slot, key: keyNumber(i)})
		}
	}
	s.maintain(t)
	again(t, s, func() { want.requireIn(t, s, keys) })
}

// churnSize returns the size of a value: a few are above what engines keep apart.
func churnSize(random *rand.Rand) int {
	switch random.IntN(100) {
	case 0:
		return 1<<20 + random.IntN(1<<19)
	case 1, 2, 3:
		return random.IntN(64 << 10)
	default:
		return random.IntN(1 << 10)
	}
}
