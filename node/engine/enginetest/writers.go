package enginetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// testCrashOfConcurrentWriters takes the files while many write. Of each slot a prefix
// must be there.
func testCrashOfConcurrentWriters(t *testing.T, s *store) {
	slots := []uint16{0, 1, 2, 3}
	durable := newModel(slots)
	for round := range 4 {
		stop := make(chan struct{})
		var work sync.WaitGroup
		var writers []*writer
		for _, slot := range slots {
			w := &writer{slot: slot, first: uint64(round) << 32, random: rand.New(rand.NewPCG(uint64(round), uint64(slot))), model: durable.only(slot).clone(), warm: make(chan struct{})}
			writers = append(writers, w)
			work.Go(func() { w.run(s.Engine, stop) })
		}
		committed := map[uint16]int{}
		for _, w := range writers {
			<-w.warm
			committed[w.slot] = int(w.committed.Load())
		}
		s.crashUnder(t, func() { close(stop); work.Wait() })

		found := read(t, s, slots)
		for _, w := range writers {
			require.NoError(t, w.err)
			requirePrefix(t, durable.only(w.slot), w.staged, committed[w.slot], found.only(w.slot))
		}
		durable = found
		durable.requireIn(t, s, 1000)
	}
}

// writer changes a slot, and commits now and then.
type writer struct {
	slot      uint16
	first     uint64 // above the versions that were there: one names one state
	random    *rand.Rand
	staged    []change
	committed atomic.Int64
	model     model // what the slot holds then
	// warm is closed when there is enough for a crash to be interesting.
	warm chan struct{}
	err  error
}

func (w *writer) run(e engine.Engine, stop <-chan struct{}) {
	for enough := 200 + w.random.IntN(400); len(w.staged) < enough && w.err == nil; {
		w.step(e)
	}
	close(w.warm)
	for w.err == nil {
		select {
		case <-stop:
			return
		default:
			w.step(e)
		}
	}
}

func (w *writer) step(e engine.Engine) {
	c := w.draw()
	c.apply(w.model)
	w.staged = append(w.staged, c)
	if w.err = c.stage(e); w.err != nil {
		return
	}
	switch w.random.IntN(20) {
	case 0, 1:
		commitLater(e, &w.committed, len(w.staged))
	case 2:
		done := make(chan error, 1)
		commitLater(e, &w.committed, len(w.staged))
		e.Commit(func(err error) { done <- err })
		w.err = <-done
	}
}

// change makes of c a change of the key's record, or the first one.
func (w *writer) change(c *change, seq uint64) {
	held, found := w.model[w.slot].contents[string(c.key)]
	if !found || !held.State.Live() {
		c.kind, c.rec = putRecord, text(seq, "begin")
		return
	}
	c.kind, c.base, c.delta, c.rec = changeRecord, held.Version, fmt.Append(nil, seq, ","), record.Record{Version: version(seq)}
	if p := (record.Patch{At: int(seq) % 4, Bytes: []byte{byte(seq)}}); seq%2 == 0 && held.State.Object == nil && len(held.State.Value) <= record.CopiedValue {
		c.kind, c.delta = patchRecord, p.Append(nil)
	}
	c.rec.State, _ = Apply(held.State, c.delta)
}

// draw returns a change of a few keys.
func (w *writer) draw() change {
	n := uint64(len(w.staged)) + 1
	seq := w.first + n
	c := change{slot: w.slot, key: keyNumber(w.random.IntN(50))}
	switch w.random.IntN(100) {
	case 0:
		c.kind, c.meta = []changeKind{clearSlot, clearSlot, clearSlot, resetSlot}[w.random.IntN(4)], record.SlotMeta{Cleared: version(seq - w.random.Uint64N(n)), Rebuilding: seq%2 == 0}
	case 1, 2, 3:
		c.kind, c.meta = putMeta, record.SlotMeta{Epoch: seq, Promised: version(seq).Ballot}
	case 4, 5, 6, 7, 8, 9:
		c.kind = deleteRecord
	case 10, 11, 12, 13, 14, 15:
		c.kind, c.rec = putRecord, tombstone(seq)
	case 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35:
		w.change(&c, seq)
	default:
		c.kind, c.rec = putRecord, text(seq, fmt.Sprintf("%0*d", 1+w.random.IntN(2000), seq))
	}
	return c
}

// testCrashWhileClearsAreWrittenBack takes the files while a clear that most records survive
// moves from a log to where it belongs: more than fits into one transaction of a store below.
func testCrashWhileClearsAreWrittenBack(t *testing.T, s *store) {
	const n, rounds = 2000, 6
	want := newModel([]uint16{1})
	stage := func(c change) {
		c.apply(want)
		require.NoError(t, c.stage(s))
	}
	for i := range n {
		stage(change{kind: putRecord, slot: 1, key: keyNumber(i), rec: text(uint64(i), string(randomBytes(uint64(i), 200)))})
	}
	random := rand.New(rand.NewPCG(5, 6))
	for round := range rounds {
		commit(t, s)
		s.maintain(t)
		stage(change{kind: clearSlot, slot: 1, meta: record.SlotMeta{Cleared: version(uint64(round))}})
		commit(t, s)
		maintained := make(chan error, 1)
		e := s.Engine
		go func() { maintained <- maintain(e) }()
		for range random.IntN(8) {
			require.NoError(t, s.PutSlot(2, record.SlotMeta{}))
			commit(t, s)
		}
		s.crashUnder(t, func() { require.NoError(t, <-maintained) })
		want.requireIn(t, s, n)
	}
}
