package decide

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring/change"
)

// movers are the members of a ring as they see it move: one leads, and all collect.
type movers struct {
	*group
	stop   context.CancelFunc
	wait   sync.WaitGroup
	mu     sync.Mutex
	dead   map[uint16]bool
	each   time.Duration // what a slot takes, 0 if nothing
	busy   map[uint16]time.Time
	joint  int                // at most, at a time
	seen   map[[2]uint64]bool // what was collected, by member and slot and epoch
	report map[uint16]*Reporter
}

// newMovers has members collect what they are asked to, each slot in some milliseconds.
func newMovers(t *testing.T, members int) *movers {
	m := &movers{dead: map[uint16]bool{}, busy: map[uint16]time.Time{}, seen: map[[2]uint64]bool{}, report: map[uint16]*Reporter{}}
	docs := make(chan change.Document, 10_000)
	m.group = newGroup(t, formed(t, members), func(d change.Document) { docs <- d })
	m.delay = 3 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	m.stop = stop
	leader := &Leader{Machine: m.machine, Propose: m.propose, By: "n1", Logger: discard, Alive: m.alive}
	m.wait.Go(func() { leader.Run(ctx) })
	for id := range uint16(members + 1) {
		r := &Reporter{Document: m.machine.Document, Self: func() uint16 { return id + 1 }, Propose: m.propose, Logger: discard}
		m.report[id+1] = r
		m.wait.Go(func() { r.Run(ctx) })
	}
	m.wait.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case d := <-docs:
				m.collect(d)
			}
		}
	})
	return m
}

func (m *movers) alive(id uint16) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.dead[id]
}

func (m *movers) setDead(id uint16, dead bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead[id] = dead
}

// collect has all members collect what is joint, one slot after the other, in no time if a slot takes none.
func (m *movers) collect(d change.Document) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joint = max(m.joint, len(d.Joint))
	for _, p := range d.Joint {
		for _, id := range p.Waiting {
			what := [2]uint64{uint64(id)<<16 | uint64(p.Slot), d.Slots[p.Slot].Epoch}
			if !m.dead[id] && !m.seen[what] {
				m.seen[what] = true
				done := []change.SlotEpoch{{Slot: p.Slot, Epoch: d.Slots[p.Slot].Epoch}}
				m.busy[id] = later(m.busy[id], time.Now()).Add(m.each)
				time.AfterFunc(time.Until(m.busy[id]), func() { m.report[id].Done(done) })
			}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (m *movers) close() {
	m.stop()
	m.wait.Wait()
}

// await waits until something is so of the document.
func (m *movers) await(t *testing.T, most time.Duration, is func(d *change.Document) bool) {
	t.Helper()
	for end := time.Now().Add(most); !is(m.machine.Document()); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "it takes longer than %s", most)
	}
}

func isBegin(e change.Entry) bool    { return e.Begin != nil }
func isComplete(e change.Entry) bool { return e.Complete != nil }

func TestAPlanIsCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMovers(t, 5)
		defer m.close()
		time.Sleep(time.Minute)
		require.Empty(t, m.proposals(isBegin), "there is no plan")
		m.planJoin(t, 6)
		moves := len(m.machine.Document().Plan.Moves)
		require.Greater(t, moves, 1000)
		m.await(t, 10*time.Minute, func(d *change.Document) bool { return d.Plan == nil })
		l, _ := m.machine.Document().ByName("n6")
		require.Equal(t, change.Active, l.State)
		m.close()
		require.Greater(t, m.joint, 2*leastEach, "what is fast gets faster")
		require.LessOrEqual(t, m.joint, mostEach)

		last := map[uint16]time.Time{}
		for _, p := range m.proposals(isComplete) {
			of := p.Complete.Member
			require.GreaterOrEqual(t, p.at.Sub(last[of]), reportEvery, "one report each 100 ms")
			last[of] = p.at
		}
		require.Equal(t, []uint16{6}, slices.Collect(maps.Keys(last)))
		require.Less(t, len(m.proposals(isBegin)), moves/50)
	})
}

// TestAMoveTakesFewVersions: slots that take time are begun, and reported, many at once.
func TestAMoveTakesFewVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMovers(t, 3)
		defer m.close()
		m.mu.Lock()
		m.each = time.Millisecond
		m.mu.Unlock()
		m.planJoin(t, 4)
		moves := len(m.machine.Document().Plan.Moves)
		require.Greater(t, moves, 10_000)
		began := time.Now()
		m.await(t, time.Minute, func(d *change.Document) bool { return d.Plan == nil })
		took := time.Since(began)
		require.Less(t, took.Seconds(), 1.2*m.each.Seconds()*float64(moves)+1, "and who collects always has something to do")
		versions := len(m.proposals(isBegin)) + len(m.proposals(isComplete))
		require.Less(t, float64(versions), 6*took.Seconds(), "%d versions in %v", versions, took)
	})
}

// TestAPlanWaitsForWhoIsDown, and for a majority of those who decide, and goes on by itself.
func TestAPlanWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMovers(t, 5)
		defer m.close()
		m.setDead(6, true)
		m.planJoin(t, 6)
		time.Sleep(time.Minute)
		require.Empty(t, m.proposals(isBegin), "who joins is not there")
		m.setDead(6, false)
		m.await(t, time.Second, func(d *change.Document) bool { return len(d.Joint) > 0 })

		m.setDown(true)
		time.Sleep(time.Second)
		version, asked := m.machine.Document().Version, len(m.proposals(isComplete))
		time.Sleep(time.Minute)
		require.Equal(t, version, m.machine.Document().Version)
		require.LessOrEqual(t, len(m.proposals(isComplete))-asked, 61, "it asks again and again")
		require.NotZero(t, len(m.proposals(isComplete))-asked)
		m.setDown(false)
		m.do(t, change.Entry{Pause: &change.Pause{}})
		m.await(t, 10*time.Second, func(d *change.Document) bool { return len(d.Joint) == 0 })
		began := len(m.proposals(isBegin))
		time.Sleep(time.Minute)
		require.Len(t, m.proposals(isBegin), began, "it is paused")
		m.do(t, change.Entry{Pause: &change.Pause{Off: true}})
		m.await(t, 10*time.Minute, func(d *change.Document) bool { return d.Plan == nil })
	})
}

// TestWhatIsNotSoAnyMoreIsNotReported: slots that were given up, or moved on, and one that another report was about.
func TestWhatIsNotSoAnyMoreIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, formed(t, 5), func(change.Document) {})
		r := &Reporter{Document: g.machine.Document, Self: func() uint16 { return 6 }, Propose: g.propose, Logger: discard}
		ctx, stop := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { r.Run(ctx) })
		defer wait.Wait()
		defer stop()
		g.planJoin(t, 6)
		plan := g.machine.Document().Plan
		wave := change.NextWave(*g.machine.Document(), change.Limits{Joint: 3, Alive: change.Alive})
		g.do(t, change.Entry{Begin: &change.Begin{Plan: plan.ID, Slots: wave}})
		epoch := g.machine.Document().Version
		r.Done([]change.SlotEpoch{{Slot: wave[0], Epoch: epoch - 1}, {Slot: wave[1], Epoch: epoch}})
		time.Sleep(time.Second)
		reports := g.proposals(isComplete)
		require.Len(t, reports, 1)
		require.Equal(t, []change.SlotEpoch{{Slot: wave[1], Epoch: epoch}}, reports[0].Complete.Slots)
		require.Len(t, g.machine.Document().Joint, 2)
		r.Done([]change.SlotEpoch{{Slot: wave[1], Epoch: epoch}})
		time.Sleep(time.Minute)
		require.Len(t, g.proposals(isComplete), 1, "it has moved")

		g.setDown(true)
		r.Done([]change.SlotEpoch{{Slot: wave[0], Epoch: epoch}})
		time.Sleep(time.Second)
		g.setDown(false)
		g.do(t, change.Entry{Abort: &change.Abort{Plan: plan.ID}})
		asked := len(g.proposals(isComplete))
		time.Sleep(time.Minute)
		require.LessOrEqual(t, len(g.proposals(isComplete))-asked, 1)
		stop()
		wait.Wait()
		require.Empty(t, r.pending)
	})
}
