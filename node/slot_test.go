package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

// TestAHomeThatIsDoneNeedsNoTick: that is known as soon as its replicas have answered.
func TestAHomeThatIsDoneNeedsNoTick(t *testing.T) {
	n := aloneAndStill(t, newWallClock())
	for _, number := range []uint16{0, stripes + 1, ring.Slots - 1} {
		var answers []bool
		out := n.getOutbox()
		st := n.lock(number, out)
		st.background(number, opRepair, []byte("key"), func(done bool) { answers = append(answers, done) })
		st.unlock()
		require.Equal(t, uint64(1)<<(number/stripes), st.active)
		out.flush()
		require.Equal(t, []bool{true}, answers)
		require.Zero(t, st.active)
	}
}

// TestTickFindsEveryHomeAtWork, in the first slot of a stripe as in the last.
func TestTickFindsEveryHomeAtWork(t *testing.T) {
	n := aloneAndStill(t, newWallClock())
	failed := 0
	lost := n.newOutbox() // what the homes send never leaves
	numbers := []uint16{0, 5, stripes + 5, ring.Slots - stripes + 5, ring.Slots - 1}
	for _, number := range numbers {
		st := n.lock(number, lost)
		st.background(number, opRepair, []byte("key"), func(done bool) { require.False(t, done); failed++ })
		st.unlock()
	}
	require.Zero(t, failed)
	n.started = n.started.Add(-2 * time.Duration(n.timing.Request) * time.Millisecond) // they were given up long ago
	n.returned.Store(true)
	n.tick()
	require.Equal(t, len(numbers), failed)
}
