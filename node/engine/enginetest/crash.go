package enginetest

import (
	"math"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// testCrashAfterChangesToLowerVersions changes what the store of an engine has to versions that are not above it, which no home does. An
// engine that tells by versions what of its log it has to repeat must not take them for older.
func testCrashAfterChangesToLowerVersions(t *testing.T, s *store) {
	want := newModel([]uint16{1})
	stage := func(c change) {
		c.slot = 1
		c.apply(want)
		require.NoError(t, c.stage(s))
	}
	long := string(randomBytes(1, record.CopiedValue+1))
	for i, value := range []string{"a short value", "another short value", long, long + long} {
		key := keyNumber(i)
		stage(change{kind: putRecord, key: key, rec: text(500, value)})
		commit(t, s)
		s.maintain(t)
		for _, to := range []uint64{200, 201, 201, 3} { // above the one before, the same, below it
			held := want[1].contents[string(key)]
			c := change{kind: changeRecord, key: key, base: held.Version, delta: []byte("+"), rec: record.Record{Version: version(to)}}
			if len(held.State.Value) <= record.CopiedValue && i%2 == 1 {
				c.kind, c.delta = patchRecord, record.Patch{At: 2, Bytes: []byte{byte(to)}}.Append(nil)
			}
			c.rec.State, _ = Apply(held.State, c.delta)
			stage(c)
		}
	}
	commit(t, s)
	s.crash(t)
	want.requireIn(t, s, 100)
}

// durableMachine is a machine whose engine is also restarted, and killed. What was staged
// becomes durable in its order: what is there after a crash is what some prefix of it
// leaves, and that contains all that was committed.
type durableMachine struct {
	*machine
	store *store
	// base is what the model was before staged[0], committed how many of staged are known
	// to be durable.
	base      model
	committed *atomic.Int64
}

func testDurableModel(t *testing.T, s *store) {
	rapid.Check(t, func(t *rapid.T) {
		s := newStore(s.t, s.open)
		m := &durableMachine{machine: newMachine(t, s.Engine), store: s}
		m.settle(m.model)
		actions := m.actions()
		actions["commit"] = m.commit
		actions["commitLater"] = func(*rapid.T) { commitLater(m.engine, m.committed, len(m.staged)) }
		actions["restart"] = m.restart
		actions["crash"] = m.crash
		actions["maintain"] = func(t *rapid.T) { s.maintain(t) }
		t.Repeat(actions)
		s.close(t)
		m.checkHandedOut(t)
		require.NoError(t, os.RemoveAll(s.root))
	})
}

// settle makes a state the durable one, with nothing staged after it.
func (m *durableMachine) settle(durable model) {
	m.model, m.base = durable, durable.clone()
	m.staged, m.committed = nil, &atomic.Int64{}
}

func (m *durableMachine) commit(t *rapid.T) {
	commit(t, m.engine)
	m.settle(m.model)
}

func (m *durableMachine) restart(t *rapid.T) {
	m.store.restart(t)
	m.engine = m.store.Engine
	m.settle(m.model)
}

func (m *durableMachine) crash(t *rapid.T) {
	committed := int(m.committed.Load())
	m.store.crash(t)
	m.engine = m.store.Engine
	found := read(t, m.engine, modelSlots)
	requirePrefix(t, m.base, m.staged, committed, found)
	m.settle(found)
}

// commitLater commits without waiting. committed then becomes staged, if it is not more.
func commitLater(e engine.Engine, committed *atomic.Int64, staged int) {
	e.Commit(func(err error) {
		for was := committed.Load(); err == nil && was < int64(staged); was = committed.Load() {
			committed.CompareAndSwap(was, int64(staged))
		}
	})
}

// read returns what an engine's slots hold.
func read(t require.TestingT, e engine.Engine, slots []uint16) model {
	m := newModel(slots)
	for number, slot := range m {
		meta, err := e.Slot(number)
		require.NoError(t, err)
		slot.meta = meta
		require.NoError(t, e.Scan(number, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
			rec.State = rec.State.Keep()
			slot.contents[string(key)] = rec
			return true
		}))
	}
	return m
}

// requirePrefix requires that the first n changes turn base into found, for some n that is
// not below committed.
func requirePrefix(t require.TestingT, base model, staged []change, committed int, found model) {
	state := base.clone()
	for n := 0; ; n++ {
		if n >= committed && state.equal(found) {
			return
		}
		if n == len(staged) {
			break
		}
		staged[n].apply(state)
	}
	n, differences := nearest(base, staged, found)
	require.Fail(t, "a change is missing, or one is there without those before it",
		"of %d changes %d were committed; after %d it should be, and is:\n%s", len(staged), committed, n, differences)
}

// nearest returns how many changes lead to the state that is most like what was found, and
// the differences that remain.
func nearest(base model, staged []change, found model) (best int, differences string) {
	state, least := base.clone(), math.MaxInt
	for n := 0; ; n++ {
		if list := state.differences(found); len(list) < least {
			best, least, differences = n, len(list), strings.Join(list, "\n")
		}
		if n == len(staged) {
			return best, differences
		}
		staged[n].apply(state)
	}
}
