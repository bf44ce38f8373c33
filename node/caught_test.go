package node

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// mover moves a slot from some nodes to others, again and again, as a plan does, and lets each node hear of it at a moment of its own.
type mover struct {
	c    *testCluster
	slot uint16
	now  ring.Assignment
}

// step makes the next version of the ring.
func (m *mover) step(a ring.Assignment) {
	m.now = a
	var names []string
	for name := range m.c.nodes {
		names = append(names, name)
	}
	rand.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	for _, name := range names {
		n := m.c.nodes[name]
		require.True(m.c.t, n.replicas.Learn(changed(m.c.t, n, map[uint16]ring.Assignment{m.slot: a})))
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
	}
}

// busy reports whether some member that leaves the slot has something in flight, or has not handed the slot over yet.
func (m *mover) busy() bool {
	for _, n := range m.c.nodes {
		if slices.Contains(m.now.Next, n.self().ID) {
			continue
		}
		st := n.replicas.Lock(m.slot, nil)
		leads := st.Leads(m.slot)
		st.Unlock()
		if leads || n.replicas.InFlight() > 0 {
			return true
		}
	}
	return false
}

// TestNoWriteIsCaughtWhenASlotMoves: a planned change makes no write's outcome unknown, whatever is in flight when each node hears of it, and loses none.
func TestNoWriteIsCaughtWhenASlotMoves(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 5, nil)
	a := c.nodes["a"]
	slot := ring.SlotOf([]byte("{x}"))
	m := &mover{c: c, slot: slot, now: a.replicas.View().Table.Assignment(slot)}
	var stop atomic.Bool
	var unknown, done atomic.Int64
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			ends := map[uint16]*client{}
			for _, n := range c.nodes {
				ends[n.self().ID] = c.dial(n)
			}
			nodes := map[uint16]*Node{}
			for _, n := range c.nodes {
				nodes[n.self().ID] = n
			}
			home, except := a.self().ID, uint16(0)
			for k := 1; !stop.Load(); {
				n, cl := nodes[home], ends[home]
				cl.epoch = n.replicas.View().Table.Version()
				o := op(protocol.Execute, fmt.Sprintf("append {x}%d x", i))
				o.Except = except
				r := cl.one(o)
				switch {
				case r.Status == protocol.StatusDone:
					assert.Equal(t, fmt.Sprintf(":%d\r\n", k), string(r.Reply))
					k++
					done.Add(1)
					except = 0
				case r.Status == protocol.StatusUnknown:
					t.Logf("%v of {x}%d at %d, %+v", r.Reason, i, home, m.now)
					unknown.Add(1)
					k++ // it may have been done
				case r.Hint != 0:
					home, except = r.Hint, home
				case r.Reason == register.NotMember:
					home, except = n.replicas.View().Table.Replicas(slot)[0], 0
				default:
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	ids := []uint16{1, 2, 3, 4, 5}
	for range 12 {
		old := m.now.Replicas
		next := slices.Clone(old)
		var others []uint16
		for _, id := range ids {
			if !slices.Contains(old, id) {
				others = append(others, id)
			}
		}
		next[0] = others[rand.IntN(2)]
		m.step(ring.Assignment{Replicas: old, Next: next})
		c.eventually(func() bool { return !m.busy() })
		m.step(ring.Assignment{Replicas: next})
		time.Sleep(50 * time.Millisecond)
	}
	stop.Store(true)
	clients.Wait()
	require.Zero(t, unknown.Load())
	require.Greater(t, done.Load(), int64(500))
	t.Logf("%d writes", done.Load())
}
