package replica

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// noNode is a node to which nothing happens.
type noNode struct{ failed error }

func (n *noNode) StorageFailed(err error)     { n.failed = err }
func (*noNode) Damaged(uint16, error)         {}
func (*noNode) Rebuilding(uint16) bool        { return false }
func (*noNode) StandIn(uint16, uint16) uint16 { return 0 }
func (*noNode) Missed([]register.Missed)      {}
func (*noNode) Later(uint16, uint64)          {}

// alone returns the replicas of a cluster of one, and its monotonic clock.
func alone(t *testing.T) (h *Host, mono *int64) {
	mono = new(int64)
	*mono = 1
	h = New(&noNode{}, Options{Engine: memory.New(), Peers: &peer.Set{}, Timing: register.DefaultTiming(),
		Now: func() int64 { return 1_000_000 }, Mono: func() int64 { return *mono }, Metrics: &metrics.Node{}, Logger: slog.New(slog.DiscardHandler)})
	d, err := change.FromCluster(ring.Initial{{Name: "a", Peer: "127.0.0.1:1"}}.Cluster("test", 1))
	require.NoError(t, err)
	v, err := NewView(d, 1)
	require.NoError(t, err)
	h.Enter(v)
	return h, mono
}

// TestAHomeThatIsDoneNeedsNoTick: that is known as soon as its replicas have answered.
func TestAHomeThatIsDoneNeedsNoTick(t *testing.T) {
	h, _ := alone(t)
	for _, number := range []uint16{0, stripes + 1, ring.Slots - 1} {
		var answers []bool
		round := h.Begin()
		st := h.Lock(number, round)
		st.Background(number, OpRepair, []byte("key"), func(done bool) { answers = append(answers, done) })
		st.Unlock()
		require.Equal(t, uint64(1)<<(number/stripes), st.active)
		round.Flush()
		require.Equal(t, []bool{true}, answers)
		require.Zero(t, st.active)
	}
}

// TestTickFindsEveryHomeAtWork, in the first slot of a stripe as in the last.
func TestTickFindsEveryHomeAtWork(t *testing.T) {
	h, mono := alone(t)
	failed := 0
	lost := h.newRound() // what the homes send never leaves
	numbers := []uint16{0, 5, stripes + 5, ring.Slots - stripes + 5, ring.Slots - 1}
	for _, number := range numbers {
		st := h.Lock(number, lost)
		st.Background(number, OpRepair, []byte("key"), func(done bool) { require.False(t, done); failed++ })
		st.Unlock()
	}
	require.Zero(t, failed)
	*mono += 2 * h.opt.Timing.Request // they were given up long ago
	h.Tick()
	require.Equal(t, len(numbers), failed)
}

// TestWhatExpiresIsDeletedAndNothingElse by the operation for that, which no client can send.
func TestWhatExpiresIsDeletedAndNothingElse(t *testing.T) {
	require.Equal(t, record.Effect{}, executeExpire(record.State{Type: record.String}))
	require.Equal(t, record.Effect{Kind: record.Replaced}, executeExpire(record.State{}))
	require.Nil(t, command.ByOp(OpExpire))
}
