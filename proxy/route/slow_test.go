package route

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
)

// awaitWorking waits until the coordinator knows whether nodes are behind.
func awaitWorking(t *testing.T, c *Coordinator, want bool) {
	t.Helper()
	require.Eventually(t, func() bool { return c.Working() == want }, 10*time.Second, time.Millisecond)
}

// TestSlowIsNoError: as long as a node says that it is behind, what it was asked for is waited for; and only that.
func TestSlowIsNoError(t *testing.T) {
	t.Parallel()
	f := startRing(t, 5)
	c := f.coordinator(200 * time.Millisecond)
	slow, other := f.key(1), f.key(2, 3, 4)
	read := f.key(1)
	f.nodes[0].working.Store(true)
	awaitWorking(t, c, true)
	held := make(chan *request, 10)
	f.play(func(r *request) {
		switch {
		case r.node.id == 1:
			held <- r
		case r.isWrite(): // and the answer never comes, though nobody is behind
		default:
			f.answer(r)
		}
	})
	result := runLater(t, c, set(slow, "v"), get(read), set(other, "v"))
	requests := []*request{<-held, <-held}
	require.Eventually(t, func() bool { return c.Stats().Slow.Load() == 2 }, 10*time.Second, time.Millisecond)
	time.Sleep(time.Second) // many times the time-out
	require.Empty(t, result)
	for _, r := range requests {
		f.answer(r)
	}
	require.Equal(t, []string{"+OK\r\n", "$1\r\nv\r\n", unknownOutcome}, texts(<-result))
}

// TestAHomeWaitsForOthers: a home that keeps up has no answer as long as those are behind that it asked.
func TestAHomeWaitsForOthers(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(200 * time.Millisecond)
	f.nodes[0].working.Store(true)
	awaitWorking(t, c, true)
	held := make(chan *request, 1)
	f.play(func(r *request) { held <- r })
	result := runLater(t, c, set(f.key(2), "v"))
	r := <-held
	require.EqualValues(t, 2, r.node.id)
	require.Eventually(t, func() bool { return c.Stats().Slow.Load() == 1 }, 10*time.Second, time.Millisecond)
	f.answer(r)
	require.Equal(t, []string{"+OK\r\n"}, texts(<-result))
}

// TestSlowHasAnEnd, and so has a node that says that it is behind and then says so no more.
func TestSlowHasAnEnd(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(200 * time.Millisecond)
	c.cfg.SlowTimeout = 900 * time.Millisecond
	f.nodes[0].working.Store(true)
	awaitWorking(t, c, true)
	f.play(func(*request) {})
	key := f.key(1)
	began := time.Now()
	require.Equal(t, []string{unknownOutcome}, texts(run(t, c, set(key, "v"))))
	require.GreaterOrEqual(t, time.Since(began), c.cfg.SlowTimeout)

	c.cfg.SlowTimeout = time.Hour
	result := runLater(t, c, set(key, "v"))
	require.Eventually(t, func() bool { return c.Stats().Slow.Load() == 2 }, 10*time.Second, time.Millisecond)
	f.nodes[0].working.Store(false)
	require.Equal(t, []string{unknownOutcome}, texts(<-result))
	require.False(t, c.Working())
}

// TestTheEndDoesNotWait: whoever ends a proxy does not wait for nodes that are behind.
func TestTheEndDoesNotWait(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(200 * time.Millisecond)
	c.cfg.SlowTimeout = time.Hour
	f.nodes[0].working.Store(true)
	awaitWorking(t, c, true)
	f.play(func(*request) {})
	result := runLater(t, c, set(f.key(1), "v"))
	require.Eventually(t, func() bool { return c.Stats().Slow.Load() == 1 }, 10*time.Second, time.Millisecond)
	c.EndWaiting()
	require.Equal(t, []string{unknownOutcome}, texts(<-result))
}

// TestOverloadedIsTriedAgain: what a node refuses because too much waits there is sent again, to the same one, until it
// takes it. That others have a turn first is no reason to take the slot from it.
func TestOverloadedIsTriedAgain(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1)
	var refusals atomic.Int32
	f.play(func(r *request) {
		if r.node.id == 1 && refusals.Add(1) <= 3*patience {
			r.notDone(answer.Overloaded, 0)
			return
		}
		require.Zero(t, r.Except)
		f.answer(r)
	})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
	require.Len(t, f.seen(), 3*patience+1)
	refusals.Store(0)
	require.Equal(t, []string{"$1\r\nv\r\n"}, texts(run(t, c, get(key))))
}

// TestWhatWasRefusedOnceHasAnEnd: that too much waited there is no reason to wait any longer once the node has taken it.
func TestWhatWasRefusedOnceHasAnEnd(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(300 * time.Millisecond)
	for _, asked := range []command.Request{set(f.key(1), "v"), get(f.key(1))} {
		var refusals atomic.Int32
		f.play(func(r *request) {
			if refusals.Add(1) == 1 {
				r.notDone(answer.Overloaded, 0)
			}
		})
		run(t, c, asked)
		require.Greater(t, refusals.Load(), int32(1))
	}
}

// TestANodeThatStandsStillForAMomentIsWaitedFor: a write that it has is not called unknown while it may go on, nor one that another
// home has, which waits for it.
func TestANodeThatStandsStillForAMomentIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, frozen := range []int{1, 2} {
		t.Run(fmt.Sprint("node ", frozen+1), func(t *testing.T) { testANodeThatStandsStill(t, frozen) })
	}
}

func testANodeThatStandsStill(t *testing.T, frozen int) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.suspicious(2500 * time.Millisecond)
	held := make(chan *request, 1)
	f.play(func(r *request) { held <- r })
	began := time.Now()
	result := runLater(t, c, set(f.key(2), "v"))
	r := <-held
	f.nodes[frozen].freeze()
	require.Eventually(t, func() bool { return c.Stats().Slow.Load() == 1 }, 10*time.Second, time.Millisecond, "its time is up")
	require.GreaterOrEqual(t, time.Since(began), 2500*time.Millisecond)
	require.Empty(t, result)
	f.nodes[frozen].thaw()
	f.answer(r)
	require.Equal(t, []string{"+OK\r\n"}, texts(<-result))
}

// TestNobodyIsGivenUpBeforeItIsSuspect: a time-out that is shorter than it takes to suspect a node does not end what may go on.
func TestNobodyIsGivenUpBeforeItIsSuspect(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(400 * time.Millisecond)
	for _, asked := range []command.Request{set(f.key(1), "v"), get(f.key(1))} {
		slow := c.Stats().Slow.Load()
		f.nodes[0].freeze()
		result := runLater(t, c, asked)
		require.Eventually(t, func() bool { return c.Stats().Slow.Load() > slow }, 10*time.Second, time.Millisecond, "its time is up")
		f.nodes[0].thaw()
		require.NotContains(t, texts(<-result)[0], "-")
		f.awaitUp(c, 3)
	}
}

// TestAReadIsTriedAsLongAsAMajorityMayWake, though all that were asked are suspect.
func TestAReadIsTriedAsLongAsAMajorityMayWake(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.suspicious(2500 * time.Millisecond)
	held := make(chan *request, 2)
	f.play(func(r *request) { held <- r })
	result := runLater(t, c, get(f.key(1)))
	<-held
	<-held
	f.play(f.answer)
	f.nodes[0].freeze()
	f.nodes[1].freeze()
	f.nodes[2].freeze()
	require.Eventually(t, func() bool { return c.Stats().Slow.Load() == 1 }, 10*time.Second, time.Millisecond, "its time is up")
	require.Empty(t, result)
	for _, n := range f.nodes {
		n.thaw()
	}
	require.Equal(t, []string{"$-1\r\n"}, texts(<-result))
}
