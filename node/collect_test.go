package node

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// moving is a cluster in which a slot moves from one of its three members to a fourth node.
type moving struct {
	*testCluster
	slot     uint16
	old      []*Node // the members; the first one leads, and the last one leaves
	comes    *Node
	from, to []uint16
	disks    disks
	writer   *writer
	differs  bool // before it moves, one of the members has missed something
}

// newMoving starts a cluster with a slot full of keys that are named {m}...
func newMoving(t *testing.T) *moving {
	d := newDisks("a", "b", "c", "d")
	c := newFormed(t, 4, d.options)
	m := &moving{testCluster: c, slot: ring.SlotOf([]byte("m")), disks: d}
	m.from = c.nodes["a"].replicas.View().Table.Replicas(m.slot)
	m.to = slices.Clone(m.from)
	m.old = make([]*Node, 3)
	for _, n := range c.nodes {
		if i := slices.Index(m.from, n.self().ID); i >= 0 {
			m.old[i] = n
		} else {
			m.comes, m.to[2] = n, n.self().ID
		}
	}
	cl := c.dial(m.old[0])
	for i := range 300 {
		require.Equal(t, "+OK\r\n", string(cl.do(fmt.Sprintf("set {m}small-%d v%d", i, i)).Reply))
	}
	for i := range 9 { // pages of their own
		require.Equal(t, "+OK\r\n", string(cl.do(fmt.Sprintf("set {m}long-%d %s", i, strings.Repeat("v", 90<<10))).Reply))
	}
	c.grow(m.old[0].opt.Name, "{m}hash", 0, 3<<20) // in pieces
	for i := range 5 {
		require.Equal(t, "+OK\r\n", string(cl.do(fmt.Sprintf("psetex {m}gone-%d 1 v", i)).Reply))
		require.Equal(t, "+OK\r\n", string(cl.do(fmt.Sprintf("psetex {m}stays-%d 1000000 v", i)).Reply))
		require.Equal(t, ":1\r\n", string(cl.do(fmt.Sprintf("del {m}small-%d", i)).Reply))
	}
	return m
}

// options are those of the nodes.
func (d disks) options(o *Options) {
	o.Replicas = 3
	large(o)
	d.use(o)
}

// learn gives all nodes that run the next version of the ring.
func (m *moving) learn(a ring.Assignment) (epoch uint64) {
	m.t.Helper()
	for _, n := range m.nodes {
		v := changed(m.t, n, map[uint16]ring.Assignment{m.slot: a})
		require.True(m.t, n.replicas.Learn(v))
		epoch = v.Table.Version()
	}
	return epoch
}

// collect has the node that comes collect the slot.
func (m *moving) collect(epoch uint64, rate int64) {
	m.comes.collects.Update([]change.SlotEpoch{{Slot: m.slot, Epoch: epoch}}, rate)
}

// joint begins to move the slot, to the middle.
func (m *moving) joint() {
	m.t.Helper()
	m.collect(m.learn(ring.Assignment{Replicas: m.from, Next: m.to}), 64<<10)
	m.eventually(func() bool { return m.comes.collects.Progress().Keys > 0 })
	require.Zero(m.t, m.comes.collects.Progress().Collected)
	require.Equal(m.t, 1, m.comes.Self().Collecting.Slots)
}

// move moves the slot.
func (m *moving) move() {
	m.t.Helper()
	m.collect(m.learn(ring.Assignment{Replicas: m.from, Next: m.to}), 0)
	m.end()
}

// end waits until the slot has been collected, and moves it.
func (m *moving) end() {
	m.t.Helper()
	m.eventually(func() bool { return m.comes.collects.Progress().Collected == 1 })
	m.learn(ring.Assignment{Replicas: m.to})
}

// writer is a client that writes all the time.
type writer struct {
	stop    func()
	written map[string]string // what was acknowledged last
}

// write lets a client write some keys again and again, at whoever leads the slot.
func (m *moving) write() {
	w := &writer{written: map[string]string{}}
	cl, end := m.dial(m.old[0]), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			key, value := fmt.Sprintf("{m}written-%d", i%40), fmt.Sprint(i)
			for {
				r := cl.do("set " + key + " " + value)
				if r.Status == protocol.StatusDone {
					w.written[key] = value
					break
				}
				if r.Reason == register.EpochChanged {
					cl.epoch++
				}
			}
		}
	})
	w.stop = sync.OnceFunc(func() { close(end); wait.Wait() })
	m.t.Cleanup(w.stop)
	m.writer = w
}

// requireMoved demands that the slot is where it should be: the new members hold the same, record by record, and all that was acknowledged; who has left
// serves nothing of it.
func (m *moving) requireMoved() {
	m.t.Helper()
	m.writer.stop()
	holds := contentOf(m.t, m.comes, m.slot)
	for key, rec := range contentOf(m.t, m.old[0], m.slot) {
		switch {
		case strings.Contains(key, "gone"): // it expires, now here and now there
		case strings.Contains(key, "written") || m.differs: // of what a home has written one of three may have missed the last
			n, value := 0, string(rec.State.Packed().Value)
			if last, is := m.writer.written[key]; is {
				value = last
			}
			for _, member := range []*Node{m.comes, m.old[0], m.old[1]} {
				if string(contentOf(m.t, member, m.slot)[key].State.Packed().Value) == value {
					n++
				}
			}
			require.GreaterOrEqual(m.t, n, 2, key)
		case rec.State.Live():
			require.Equal(m.t, rec.Version, holds[key].Version, key)
			require.Equal(m.t, rec.State.Packed(), holds[key].State.Packed(), key)
		default:
			require.False(m.t, holds[key].State.Live(), key)
		}
	}
	for key, rec := range holds {
		require.False(m.t, strings.Contains(key, "gone") && rec.State.Live() && !rec.State.Expired(m.comes.now()), key)
	}
	require.Equal(m.t, m.packed(m.old[0].opt.Name, "{m}hash"), m.packed(m.comes.opt.Name, "{m}hash"))
	require.Greater(m.t, len(m.packed(m.comes.opt.Name, "{m}hash")), 3<<20)
	if left := m.old[2]; m.nodes[left.opt.Name] != nil {
		cl := m.dial(left)
		cl.epoch = left.replicas.View().Table.Version()
		require.Equal(m.t, register.NotMember, cl.one(op(protocol.ReadValue, "get {m}small-7")).Reason)
	}
}

// TestASlotMoves with everything that it holds, while a client writes.
func TestASlotMoves(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.write()
	m.move()
	m.requireMoved()
	p := m.comes.collects.Progress()
	require.NoError(t, p.Held)
	require.Nil(t, m.comes.Self().Collecting)
	require.GreaterOrEqual(t, p.Keys, int64(300))
	require.Greater(t, p.Bytes, int64(3<<20))
}

// TestASlotMovesFromAMemberThatIsDown: a majority of the old members is enough.
func TestASlotMovesFromAMemberThatIsDown(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.stop(m.old[2].opt.Name)
	m.write()
	m.move()
	m.requireMoved()
}

// TestASlotMovesThoughWhoItComesToStartsAgain in the middle.
func TestASlotMovesThoughWhoItComesToStartsAgain(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.write()
	m.joint()
	view, name := m.comes.replicas.View(), m.comes.opt.Name
	m.stop(name)
	before := 0
	for key := range m.disks[name].versions(t, m.slot) {
		if !strings.Contains(key, "written") {
			before++
		}
	}
	require.NotZero(t, before)
	m.comes = m.start(name, m.disks.options)
	m.connected()
	require.True(t, m.comes.replicas.Learn(view))
	m.collect(view.Table.Version(), 0)
	m.end()
	m.requireMoved()
	require.LessOrEqual(t, m.comes.collects.Progress().Keys, int64(370-before), "what is there is not copied again")
}

// versions returns what is on the disk of a slot.
func (d *disk) versions(t *testing.T, slot uint16) map[string]record.Version {
	versions := map[string]record.Version{}
	require.NoError(t, d.engine.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
		versions[string(key)] = rec.Version
		return true
	}))
	return versions
}

// TestASlotThatDoesNotMoveAfterAll, and moves later. What was deleted meanwhile does not come back.
func TestASlotThatDoesNotMoveAfterAll(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.write()
	m.joint()
	m.learn(ring.Assignment{Replicas: m.from})
	m.eventually(func() bool { return strings.Contains(m.comes.Self().Collecting.Held, "another epoch") })
	m.comes.collects.Update(nil, 0)
	require.NotEmpty(t, contentOf(t, m.comes, m.slot))
	cl := m.dial(m.old[0])
	cl.epoch = m.old[0].replicas.View().Table.Version()
	for i := 5; i < 300; i += 2 {
		m.eventually(func() bool { return cl.do(fmt.Sprintf("del {m}small-%d", i)).Status == protocol.StatusDone })
	}
	m.eventually(func() bool { // all replicas hold what is deleted, and it is purged
		for _, n := range m.old {
			if content := contentOf(t, n, m.slot); !content["{m}small-299"].Version.IsZero() {
				return false
			}
		}
		return true
	})
	m.move()
	m.requireMoved()
	require.NotContains(t, contentOf(t, m.comes, m.slot), "{m}small-299")
}

// TestASlotThatMovesElsewhere in the middle: who was to have it says nothing of it any more.
func TestASlotThatMovesElsewhere(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.write()
	m.joint()
	former := m.to
	m.to = []uint16{m.from[0], m.to[2], m.from[2]}
	m.old[1], m.old[2] = m.old[2], m.old[1]
	m.move()
	m.requireMoved()
	require.NotEqual(t, former, m.to)
}

// TestWhatIsNotAgreedIsWrittenAgain by the home that leads the slot.
func TestWhatIsNotAgreedIsWrittenAgain(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	n := m.old[1]
	st := n.replicas.Lock(m.slot, nil)
	for i := 100; i < 300; i++ { // as if it had missed them; the other two have acknowledged them
		require.NoError(t, n.engine.Delete(m.slot, fmt.Appendf(nil, "{m}small-%d", i)))
	}
	st.Unlock()
	m.differs = true
	m.stop(m.old[2].opt.Name)
	m.write()
	m.move()
	m.requireMoved()
	require.GreaterOrEqual(t, m.comes.collects.Progress().Again, int64(200))
}

// TestOnlyNodesCollect slots.
func TestOnlyNodesCollect(t *testing.T) {
	c := newFormed(t, 1, nil)
	for _, method := range []protocol.Method{protocol.MethodShow, protocol.MethodFetch, protocol.MethodAgain} {
		_, err := c.dial(c.nodes["a"]).caller.Call(t.Context(), method, nil)
		require.ErrorContains(t, err, "only nodes")
	}
}

// TestWhoShowsWhatItHolds takes part in the joint epoch first, durably, though it has not used the slot before; in any other epoch it shows nothing.
func TestWhoShowsWhatItHolds(t *testing.T) {
	c := newFormed(t, 4, func(o *Options) { o.Replicas = 3 })
	a, slot := c.nodes["a"], uint16(0)
	from := a.replicas.View().Table.Replicas(slot)
	for ; !slices.Contains(from, a.self().ID); from = a.replicas.View().Table.Replicas(slot) {
		slot++
	}
	to := slices.Clone(from)
	for id := uint16(1); id <= 4; id++ {
		if !slices.Contains(from, id) {
			to[(slices.Index(from, a.self().ID)+1)%3] = id
		}
	}
	peer := c.dialAs(a, c.nodes["b"])
	show := func(epoch uint64) error {
		_, err := peer.caller.Call(t.Context(), protocol.MethodShow, protocol.AppendShowRequest(nil, protocol.ShowRequest{Slot: slot, Epoch: epoch, Limit: 1}))
		return err
	}
	durable := func() uint64 {
		meta, err := a.engine.Slot(slot)
		require.NoError(t, err)
		return meta.Epoch
	}
	require.ErrorContains(t, show(1), "another epoch", "it is not joint")
	require.ErrorContains(t, show(2), "another epoch", "it is not known yet")
	require.True(t, a.replicas.Learn(changed(t, a, map[uint16]ring.Assignment{slot: {Replicas: from, Next: to}})))
	require.Zero(t, durable())
	require.ErrorContains(t, show(1), "another epoch")
	require.NoError(t, show(2))
	require.EqualValues(t, 2, durable())
	require.True(t, a.replicas.Learn(changed(t, a, map[uint16]ring.Assignment{slot: {Replicas: from}})))
	require.ErrorContains(t, show(2), "another epoch")
	require.ErrorContains(t, show(3), "another epoch")
}
