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
		done := &chores{}
		out := n.getOutbox()
		st := n.lock(number, out)
		n.chore(done, st, number, opRepair, []byte("key"))
		st.unlock()
		require.Equal(t, uint64(1)<<(number/stripes), st.active)
		out.flush()
		require.EqualValues(t, 1, done.done.Load())
		require.Zero(t, st.active)
	}
}

// TestTickFindsEveryHomeAtWork, in the first slot of a stripe as in the last.
func TestTickFindsEveryHomeAtWork(t *testing.T) {
	n := aloneAndStill(t, newWallClock())
	done := &chores{}
	lost := n.newOutbox() // what the homes send never leaves
	numbers := []uint16{0, 5, stripes + 5, ring.Slots - stripes + 5, ring.Slots - 1}
	for _, number := range numbers {
		st := n.lock(number, lost)
		n.chore(done, st, number, opRepair, []byte("key"))
		st.unlock()
	}
	require.EqualValues(t, len(numbers), done.open.Load())
	n.started = n.started.Add(-2 * time.Duration(n.timing.Request) * time.Millisecond) // they were given up long ago
	n.returned.Store(true)
	n.tick()
	require.EqualValues(t, len(numbers), done.undone.Load())
	require.Zero(t, done.open.Load())
}
