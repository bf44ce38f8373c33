package exec

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// noNode is a node to which nothing happens.
type noNode struct{}

func (noNode) StorageFailed(error)           {}
func (noNode) Damaged(uint16, error)         {}
func (noNode) Rebuilding(uint16) bool        { return false }
func (noNode) StandIn(uint16, uint16) uint16 { return 0 }
func (noNode) Missed([]register.Missed)      {}
func (noNode) Later(uint16, uint64)          {}

// alone returns the executor of a node that has no ring yet, and how it enters one alone.
func alone(t *testing.T, opt Options) (e *Executor, enter func()) {
	opt.Metrics = &metrics.Node{}
	peers := &peer.Set{}
	host := replica.New(noNode{}, replica.Options{Engine: memory.New(), Peers: peers, Timing: register.DefaultTiming(), MaxValue: 64 << 20,
		Now: func() int64 { return 1_000_000 }, Mono: func() int64 { return 1 }, Metrics: opt.Metrics, Logger: slog.New(slog.DiscardHandler)})
	return New(host, peers, opt), func() {
		d, err := change.FromCluster(ring.Initial{{Name: "a", Peer: "127.0.0.1:1"}}.Cluster("test", 1))
		require.NoError(t, err)
		v, err := replica.NewView(d, 1)
		require.NoError(t, err)
		host.Enter(v)
	}
}

func TestTooOldFramesAreNotExecuted(t *testing.T) {
	awake := 10 * time.Second
	e, enter := alone(t, Options{OperationTimeout: time.Second, SlowTimeout: time.Minute, Awake: func() time.Duration { return awake }})
	enter()
	require.Equal(t, register.ReasonNone, e.refusal(1, time.Second))
	require.Equal(t, register.ReasonNone, e.refusal(1, awake), "it has waited for this process, which was busy")
	require.Equal(t, register.Expired, e.refusal(1, awake+1), "it came while the process was stopped")
	awake = time.Hour
	require.Equal(t, register.Expired, e.refusal(1, time.Minute+time.Millisecond))
}

func TestFramesOfAnotherRingAreNotExecuted(t *testing.T) {
	e, enter := alone(t, Options{OperationTimeout: time.Second})
	require.Equal(t, register.NotVoting, e.refusal(1, 0), "there is no ring yet")
	enter()
	require.Equal(t, register.EpochChanged, e.refusal(2, 0))
	require.Equal(t, register.ReasonNone, e.refusal(1, 0))
	e.host.StorageFailed(replica.ErrNotReplica)
	require.Equal(t, register.NotVoting, e.refusal(1, 0), "nobody knows what its store holds")
}
