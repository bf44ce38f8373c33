package churn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// cluster is a backend whose ring is a document, and whose slots move a little with each look at it.
type cluster struct {
	mu       sync.Mutex
	document change.Document
	random   *rand.Rand
	still    bool // no slot moves
}

func newCluster(t *testing.T, members, waiting int) *cluster {
	c := ring.Cluster{Name: "quoll", Epoch: 1, Replicas: 3}
	for i := range members {
		c.Members = append(c.Members, member(i+1))
	}
	d, err := change.FromCluster(c)
	require.NoError(t, err)
	for i := range waiting {
		d, err = change.Apply(d, change.Entry{By: "test", Join: &change.Join{Member: member(members + i + 1)}}, 0)
		require.NoError(t, err)
	}
	return &cluster{document: d, random: rand.New(rand.NewPCG(1, 1))}
}

func member(n int) ring.Member {
	return ring.Member{ID: uint16(n), Name: fmt.Sprintf("n%d", n), Peer: fmt.Sprintf("10.0.0.%d:7000", n), Weight: 1, Generation: uint64(n)}
}

// The parts of admin.Backend that nobody asks for.
func (c *cluster) Ready(context.Context) error                      { return nil }
func (c *cluster) Status(context.Context) (s admin.Status, _ error) { return s, nil }
func (c *cluster) Locate(context.Context, int, []byte) (l admin.Location, _ error) {
	return l, nil
}

// RingView implements admin.RingChanger. A look fails now and then.
func (c *cluster) RingView(context.Context) (admin.RingView, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(10) == 0 {
		return admin.RingView{}, errors.New("the node is down")
	}
	if !c.still {
		c.move()
	}
	return admin.RingView{Document: c.document, Self: "n1", Alive: change.Alive, SlotBytes: func(uint16) int64 { return 1000 }}, nil
}

// move has a wave begin, and whatever is joint collected.
func (c *cluster) move() {
	collected := map[uint16][]change.SlotEpoch{}
	for _, p := range c.document.Joint {
		for _, id := range p.Waiting {
			collected[id] = append(collected[id], change.SlotEpoch{Slot: p.Slot, Epoch: c.document.Slots[p.Slot].Epoch})
		}
	}
	for id, slots := range collected {
		c.apply(change.Entry{Complete: &change.Complete{Member: id, Slots: slots}})
	}
	if wave := change.NextWave(c.document, change.Limits{Joint: ring.Slots / 8, Alive: change.Alive}); len(wave) > 0 {
		c.apply(change.Entry{Begin: &change.Begin{Plan: c.document.Plan.ID, Slots: wave}})
	}
}

func (c *cluster) apply(e change.Entry) {
	if d, err := change.Apply(c.document, e, 0); err == nil {
		c.document = d
	}
}

// ProposeRing implements admin.RingChanger.
func (c *cluster) ProposeRing(_ context.Context, e change.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, err := change.Apply(c.document, e, 0)
	if err != nil {
		return admin.Conflict(err.Error())
	}
	c.document = d
	return nil
}

// client returns a client of the cluster's API.
func (c *cluster) client(t *testing.T) Ring {
	server := httptest.NewServer(admin.NewHandler(c, http.NotFoundHandler(), admin.Access{}))
	t.Cleanup(server.Close)
	return admin.NewClient(server.Listener.Addr().String(), "")
}

// TestTheRingIsChangedAllTheTime: members come and go, plans are turned around, and in the end the ring is at rest.
func TestTheRingIsChangedAllTheTime(t *testing.T) {
	c := newCluster(t, 3, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var done []string
	report := Run(ctx, Options{Rings: []Ring{c.client(t), c.client(t)}, Seed: 2, Replicas: []int{3, 5}, Rest: time.Microsecond, Note: func(text string) {
		if done = append(done, text); len(done) == 50 {
			cancel()
		}
	}})
	require.Empty(t, report.Stuck)
	require.Greater(t, report.Plans, 3, "%+v %q", report, done)
	require.Positive(t, report.Finished)
	require.Positive(t, report.Aborted)
	require.Positive(t, report.Refused, "looks fail now and then")
	require.Nil(t, c.document.Plan)
	require.False(t, c.document.Paused)
	active := 0
	for _, m := range c.document.Members {
		if m.State == change.Active {
			active++
		}
	}
	require.GreaterOrEqual(t, active, 3)
}

// TestAPlanThatDoesNotEnd is reported.
func TestAPlanThatDoesNotEnd(t *testing.T) {
	c := newCluster(t, 3, 1)
	c.still = true
	at := c.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	report := Run(ctx, Options{Rings: []Ring{at}, Seed: 1, Rest: time.Microsecond, Patience: 2 * time.Second, Note: func(string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.document.Plan != nil {
			cancel()
		}
	}})
	require.Contains(t, report.Stuck, "has moved 0 of")
}
