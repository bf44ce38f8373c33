package decide

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func member(n int) ring.Member {
	return ring.Member{ID: uint16(n), Name: fmt.Sprintf("n%d", n), Peer: fmt.Sprintf("10.0.0.1:%d", 1000+n), Weight: 1, Generation: uint64(n)}
}

// formed returns the document of a cluster that has just formed.
func formed(t *testing.T, members int) change.Document {
	c := ring.Cluster{Name: "test", Epoch: 1, Replicas: min(3, members)}
	for i := range members {
		c.Members = append(c.Members, member(i+1))
	}
	d, err := change.FromCluster(c)
	require.NoError(t, err)
	return d
}

// group decides at once, or after a while, on one machine.
type group struct {
	machine *Machine
	delay   time.Duration

	mu      sync.Mutex
	index   uint64
	down    bool
	entries []proposed
}

type proposed struct {
	at time.Time
	change.Entry
}

func newGroup(t *testing.T, d change.Document, publish func(change.Document)) *group {
	g := &group{machine: NewMachine(publish)}
	require.NoError(t, g.machine.Restore(d.Encode()))
	return g
}

func (g *group) setDown(down bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.down = down
}

func (g *group) Propose(ctx context.Context, b []byte) (consensus.Result, error) {
	select {
	case <-ctx.Done():
		return consensus.Result{}, ctx.Err()
	case <-time.After(g.delay):
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, e, err := decodeEntry(b)
	if err != nil {
		return consensus.Result{}, err
	}
	g.entries = append(g.entries, proposed{time.Now(), e})
	if g.down {
		return consensus.Result{}, consensus.ErrNoLeader
	}
	g.index++
	value, err := g.machine.Apply(g.index, b)
	return consensus.Result{Index: g.index, Value: value}, err
}

// propose is what a node's Propose is.
func (g *group) propose(ctx context.Context, e change.Entry) error {
	_, err := Propose(ctx, g, time.Now().UnixMilli(), e)
	return err
}

// proposals returns what was proposed that is of a kind.
func (g *group) proposals(of func(change.Entry) bool) (all []proposed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.entries {
		if of(p.Entry) {
			all = append(all, p)
		}
	}
	return all
}

// do has entries decided that are not refused.
func (g *group) do(t *testing.T, entries ...change.Entry) {
	t.Helper()
	for _, e := range entries {
		require.NoError(t, g.propose(t.Context(), e))
	}
}

// planJoin commits a plan by which a node joins.
func (g *group) planJoin(t *testing.T, n int) {
	t.Helper()
	g.do(t, change.Entry{Join: &change.Join{Member: member(n)}},
		change.Entry{Stage: &change.Staged{Kind: change.JoinMember, Name: member(n).Name}})
	c, err := change.Propose(*g.machine.Document())
	require.NoError(t, err)
	g.do(t, change.Entry{By: "ann", Commit: c})
}

var discard = slog.New(slog.DiscardHandler)

var errOdd = errors.New("odd")
