package replica

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// journal is an engine that knows in which order it was written: a crash leaves any beginning of that.
type journal struct {
	engine.Engine
	writes []func(engine.Engine) error
	full   error
}

func (j *journal) write(do func(engine.Engine) error) error {
	if j.full != nil {
		return j.full
	}
	j.writes = append(j.writes, do)
	return do(j.Engine)
}

func (j *journal) PutSlot(slot uint16, meta record.SlotMeta) error {
	return j.write(func(e engine.Engine) error { return e.PutSlot(slot, meta) })
}

func (j *journal) Put(slot uint16, key []byte, rec record.Record) error {
	return j.write(func(e engine.Engine) error { return e.Put(slot, key, rec) })
}

func (j *journal) Delete(slot uint16, key []byte) error {
	return j.write(func(e engine.Engine) error { return e.Delete(slot, key) })
}

func (j *journal) Clear(slot uint16, meta record.SlotMeta) error {
	return j.write(func(e engine.Engine) error { return e.Clear(slot, meta) })
}

func (j *journal) Reset(slot uint16, meta record.SlotMeta) error {
	return j.write(func(e engine.Engine) error { return e.Reset(slot, meta) })
}

const (
	slot = 7
	self = 1
)

// old is the state that the node holds of a slot, in epoch 3.
func old() (record.SlotMeta, record.Record) {
	b := record.Ballot{Counter: 5, Incarnation: record.NewIncarnation(9, 2)}
	meta := record.SlotMeta{Epoch: 3, Promised: b, Cleared: record.Version{Ballot: b, Seq: 2}, Floor: record.Version{Ballot: b, Seq: 1}, Unsure: true}
	return meta, record.Record{Version: record.Version{Ballot: b, Seq: 3}, State: record.State{Type: record.String, Value: []byte("v")}}
}

// holding returns a node's engine that holds a record of the slot.
func holding(t *testing.T) *journal {
	meta, rec := old()
	j := &journal{Engine: memory.New()}
	require.NoError(t, j.PutSlot(slot, meta))
	require.NoError(t, j.Put(slot, []byte("k"), rec))
	return j
}

// hostOf returns the replicas that are on an engine, of a node in no ring yet.
func hostOf(e engine.Engine) *Host {
	return New(&noNode{}, Options{Engine: e, Peers: &peer.Set{}, Timing: register.DefaultTiming(), Now: func() int64 { return 1_000_000 },
		Mono: func() int64 { return 1 }, Metrics: &metrics.Node{}, Logger: slog.New(slog.DiscardHandler)})
}

// viewOf returns the ring of a version in which the slot is assigned so, and no other one is the node's.
func viewOf(t *testing.T, version uint64, a ring.Assignment) *View {
	slots := make([]ring.Assignment, ring.Slots)
	for number := range slots {
		slots[number] = ring.Assignment{Epoch: 1, Replicas: []uint16{2, 3, 4}}
	}
	slots[slot] = a
	table, err := ring.NewTable(version, slots)
	require.NoError(t, err)
	return ViewOf(ring.Cluster{}, table, self)
}

// opened opens the slot.
func opened(h *Host) (*Slot, error) {
	round := h.Begin()
	defer round.Flush()
	st := h.Lock(slot, round)
	defer st.Unlock()
	return st.Slot(slot)
}

// TestWhoComesToASlotIsEmpty, whatever he held, and whoever takes part in it keeps what he has (R17).
func TestWhoComesToASlotIsEmpty(t *testing.T) {
	for name, tt := range map[string]struct {
		view   ring.Assignment
		before *ring.Assignment // another view, by which the slot has been opened
		empty  bool
	}{
		"it comes again":               {view: ring.Assignment{Epoch: 8, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}}, empty: true},
		"it stays":                     {view: ring.Assignment{Epoch: 8, Replicas: []uint16{1, 3, 4}, Next: []uint16{1, 3, 5}}},
		"it leaves":                    {view: ring.Assignment{Epoch: 8, Replicas: []uint16{1, 3, 4}, Next: []uint16{2, 3, 4}}},
		"it is there already":          {view: ring.Assignment{Epoch: 3, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}}},
		"it has it alone after a loss": {view: ring.Assignment{Epoch: 8, Replicas: []uint16{1}}},
		"it is one that the loss left": {view: ring.Assignment{Epoch: 8, Replicas: []uint16{2, 1}}},
		"a loss was accepted, and it is not among those that are left": {view: ring.Assignment{Epoch: 8, Replicas: []uint16{2}, Next: []uint16{2, 1}}, empty: true},
		"the change before was given up": {view: ring.Assignment{Epoch: 8, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}}, empty: true,
			before: &ring.Assignment{Epoch: 3, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}}},
		"it was removed meanwhile": {view: ring.Assignment{Epoch: 8, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}}, empty: true,
			before: &ring.Assignment{Epoch: 3, Replicas: []uint16{1, 3, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			e := holding(t)
			h := hostOf(e)
			writes := len(e.writes)
			if tt.before != nil {
				h.Enter(viewOf(t, 4, *tt.before))
				_, err := opened(h)
				require.NoError(t, err)
				require.Len(t, e.writes, writes, "it is in this epoch")
				require.True(t, h.Learn(viewOf(t, 9, tt.view)))
			} else {
				h.Enter(viewOf(t, 9, tt.view))
			}
			sl, err := opened(h)
			require.NoError(t, err)
			was, rec := old()
			want := was
			want.Epoch = tt.view.Epoch
			if tt.empty {
				want = record.SlotMeta{Epoch: 8, Promised: was.Promised, Floor: was.Cleared}
			}
			require.Equal(t, want, sl.Meta())
			held, present, err := sl.Read([]byte("k"))
			require.NoError(t, err)
			require.Equal(t, !tt.empty, present)
			if !tt.empty {
				require.Equal(t, rec.Version, held.Version)
			}
			require.Equal(t, tt.view.Epoch, sl.home.Config().Epoch())
			require.LessOrEqual(t, len(e.writes)-writes, 1)
			for n := range e.writes[writes:] { // a crash after so many of them
				crashed := memory.New()
				for _, write := range e.writes[:writes+n] {
					require.NoError(t, write(crashed))
				}
				meta, err := crashed.Slot(slot)
				require.NoError(t, err)
				_, present, err := crashed.Get(slot, []byte("k"))
				require.NoError(t, err)
				require.Equal(t, meta.Epoch < 8 || !tt.empty, present, "epoch and records belong together")
				again := hostOf(crashed)
				again.Enter(viewOf(t, 9, tt.view))
				sl, err := opened(again)
				require.NoError(t, err)
				require.Equal(t, want, sl.Meta())
			}
		})
	}
}

// TestWhatIsLeftIsShownToNobody: a slot is emptied though nobody asks for it, and if there is no room for that it cannot be read.
func TestWhatIsLeftIsShownToNobody(t *testing.T) {
	joint := ring.Assignment{Epoch: 8, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}}
	scanned := func(h *Host) (keys int, err error) {
		st := h.Lock(slot, nil)
		defer st.Unlock()
		_, err = st.Scan(slot, 0, engine.EndPosition, func() bool { return false }, func(engine.Position, []byte, record.Record) { keys++ })
		return keys, err
	}
	for name, begin := range map[string]func(h *Host, v *View){
		"a node that starts": (*Host).Enter,
		"one that learns": func(h *Host, v *View) {
			h.Enter(viewOf(t, 4, ring.Assignment{Epoch: 4, Replicas: []uint16{2, 3, 4}}))
			require.True(t, h.Learn(v))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := hostOf(holding(t))
			begin(h, viewOf(t, 9, joint))
			keys, err := scanned(h)
			require.NoError(t, err)
			require.Zero(t, keys)

			e := holding(t)
			e.full = fmt.Errorf("%w: it is a test", engine.ErrFull)
			h = hostOf(e)
			begin(h, viewOf(t, 9, joint))
			_, err = scanned(h)
			require.ErrorIs(t, err, errNotBegun)
			h.Unreadable(slot, err)
			require.False(t, h.Failed())
			_, err = opened(h)
			require.ErrorIs(t, err, register.ErrNoRoom)
			e.full = nil
			_, err = opened(h)
			require.NoError(t, err)
			keys, err = scanned(h)
			require.NoError(t, err)
			require.Zero(t, keys)
		})
	}
}

// TestWhatIsOpenedAgainUsesOtherBallots: the home that was closed may have used some that its own replica had no room to promise (R3).
func TestWhatIsOpenedAgainUsesOtherBallots(t *testing.T) {
	h := hostOf(holding(t))
	h.Enter(viewOf(t, 4, ring.Assignment{Epoch: 3, Replicas: []uint16{1, 3, 4}}))
	_, err := opened(h)
	require.NoError(t, err)
	was := h.incarnation(self)
	require.True(t, h.Learn(viewOf(t, 5, ring.Assignment{Epoch: 5, Replicas: []uint16{2, 3, 4}})))
	_, err = opened(h)
	require.ErrorIs(t, err, ErrNotReplica)
	require.True(t, h.Learn(viewOf(t, 6, ring.Assignment{Epoch: 6, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}})))
	require.NotEqual(t, was, h.incarnation(self))
}

// TestADamagedSlotThatIsComeToAgainIsSound: nothing is left of it that could be damaged.
func TestADamagedSlotThatIsComeToAgainIsSound(t *testing.T) {
	h := hostOf(holding(t))
	h.Enter(viewOf(t, 4, ring.Assignment{Epoch: 3, Replicas: []uint16{1, 3, 4}}))
	sl, err := opened(h)
	require.NoError(t, err)
	st := h.Lock(slot, nil)
	st.Fail(slot, sl, fmt.Errorf("%w: it is a test", engine.ErrCorrupt))
	st.Unlock()
	_, err = opened(h)
	require.ErrorIs(t, err, engine.ErrCorrupt)
	require.True(t, h.Learn(viewOf(t, 9, ring.Assignment{Epoch: 8, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}})))
	_, err = opened(h)
	require.NoError(t, err)
}

// TestWhoIsNoPeerIsGone, and not taken for this node: the ring may name members whose state is lost.
func TestWhoIsNoPeerIsGone(t *testing.T) {
	h := hostOf(holding(t))
	h.Enter(viewOf(t, 4, ring.Assignment{Epoch: 3, Replicas: []uint16{3, 1}}))
	sl, err := opened(h)
	require.NoError(t, err)
	require.Equal(t, register.NoQuorum, h.Refusal(sl, false, false))
	require.True(t, h.FirstAlive([]uint16{3, 1}))
	require.False(t, h.FirstAlive([]uint16{3, 4}))
	h.SetLeaving()
	st := h.Lock(slot, nil)
	defer st.Unlock()
	require.True(t, st.Leaving(self))
	require.False(t, st.Leaving(3))
	require.False(t, st.Alive(3))

	alone := hostOf(holding(t))
	alone.Enter(viewOf(t, 4, ring.Assignment{Epoch: 3, Replicas: []uint16{1}}))
	sl, err = opened(alone)
	require.NoError(t, err)
	require.Equal(t, register.ReasonNone, alone.Refusal(sl, false, false))
}

// TestWhatIsLeftIsDropped, and nothing else: in one write, which keeps the promise.
func TestWhatIsLeftIsDropped(t *testing.T) {
	for name, tt := range map[string]struct {
		view    ring.Assignment
		dropped bool
	}{
		"others hold it":      {ring.Assignment{Epoch: 8, Replicas: []uint16{2, 3, 4}}, true},
		"it moves, to others": {ring.Assignment{Epoch: 8, Replicas: []uint16{2, 3, 4}, Next: []uint16{2, 3, 5}}, true},
		"it holds it":         {ring.Assignment{Epoch: 3, Replicas: []uint16{1, 3, 4}}, false},
		"it leaves":           {ring.Assignment{Epoch: 3, Replicas: []uint16{1, 3, 4}, Next: []uint16{2, 3, 4}}, false},
		"it comes":            {ring.Assignment{Epoch: 3, Replicas: []uint16{2, 3, 4}, Next: []uint16{1, 3, 4}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := holding(t)
			h := hostOf(e)
			h.Enter(viewOf(t, 9, tt.view))
			require.Equal(t, tt.dropped, h.Leftover(slot) > 0)
			require.Zero(t, h.Leftover(slot+1))
			writes := len(e.writes)
			e.full = fmt.Errorf("%w: it is a test", engine.ErrFull)
			require.False(t, h.Drop(slot))
			require.False(t, h.Failed())
			e.full = nil
			require.Equal(t, tt.dropped, h.Drop(slot))
			require.False(t, h.Drop(slot+1))
			_, found, err := e.Get(slot, []byte("k"))
			require.NoError(t, err)
			require.Equal(t, !tt.dropped, found)
			if !tt.dropped {
				require.Len(t, e.writes, writes)
				return
			}
			require.Len(t, e.writes, writes+1)
			was, _ := old()
			meta, err := e.Slot(slot)
			require.NoError(t, err)
			require.Equal(t, record.SlotMeta{Epoch: 8, Promised: was.Promised, Floor: was.Cleared}, meta)
			require.Zero(t, h.Leftover(slot))
			require.False(t, h.Drop(slot))
		})
	}
}
