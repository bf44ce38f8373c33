package register

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClearIsOrderedWithAllWrites(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.put(9, "cold", text("v"), 1, 2, 3)
	before, flush, after := c.ask(1, "set k 1"), c.ask(1, "clear"), c.ask(1, "append k 2")
	c.open(before, flush, after)
	c.run()
	c.done(before, "+OK\r\n")
	c.done(flush, "+OK\r\n")
	c.done(after, ":1\r\n") // what the clear left is the head: nothing had to be read
	require.NotContains(t, c.kinds(2), "sync-read")
	for id := uint16(1); id <= 3; id++ {
		require.Equal(t, "2", c.value(id, "k"))
		require.NotContains(t, c.process(id).store.records, "warm")
		require.NotContains(t, c.process(id).store.records, "cold")
	}
	for _, key := range []string{"warm", "cold", "never"} {
		get := c.ask(1, "get "+key)
		require.NotContains(t, c.kinds(2), "sync-read", "the home finds the clear in its own replica")
		c.run()
		c.done(get, "$-1\r\n")
	}
}

// TestR18AClearThatIsUnsureIsNoAgreement: what has not been chosen for certain is written first.
func TestR18AClearThatIsUnsureIsNoAgreement(t *testing.T) {
	c := newCluster(t, 3)
	for id := uint16(1); id <= 3; id++ {
		p := c.process(id)
		p.store.meta.Cleared, p.store.meta.Unsure = earlier(7), id > 1
		p.start(c.home(id).config, 1001)
	}
	get := c.ask(1, "get k")
	c.run()
	c.done(get, "$-1\r\n")
	require.Equal(t, "prepare sync-read accept purge", c.kinds(2))
	require.Equal(t, []int{1, 1}, []int{c.events[SyncReadDiffered], c.events[WroteBack]})

	flush := c.ask(1, "clear")
	c.run()
	c.done(flush, "+OK\r\n")
	for id := uint16(1); id <= 3; id++ {
		require.False(t, c.process(id).store.meta.Unsure, "a clear that it accepted itself")
	}
}

// TestR18OneThatKnowsOfAHigherClearIsHeard, sure or not, and whoever is heard first.
func TestR18OneThatKnowsOfAHigherClearIsHeard(t *testing.T) {
	for _, knows := range []uint16{1, 2} {
		c := newCluster(t, 3)
		c.put(1, "k", text("v"), 1, 2)
		p := c.process(knows)
		p.store.meta.Cleared, p.store.meta.Unsure = earlier(7), true
		delete(p.store.records, "k")
		p.start(c.home(knows).config, 1001)
		get := c.ask(1, "get k")
		c.run(1, 2)
		c.done(get, "$-1\r\n")
	}
}

func TestAClearIsAnsweredWhenAQuorumHoldsIt(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	flush, get := c.ask(1, "clear"), c.ask(1, "get warm")
	c.run(1)
	c.open(flush, get)
	c.run(1, 2)
	c.done(flush, "+OK\r\n")
	c.done(get, "$-1\r\n")
}

// TestAReadWaitsForTheClear: the own replica shows the clear from the start, but nil is
// certain only when a quorum holds it.
func TestAReadWaitsForTheClear(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	flush, get := c.ask(1, "clear"), c.ask(1, "get cold")
	c.stuck = Clear
	c.run() // the term is confirmed
	c.open(flush, get)
	c.stuck = 0
	c.run()
	c.done(flush, "+OK\r\n")
	c.done(get, "$-1\r\n")
}

func TestAnAcceptOlderThanTheClearChangesNothing(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set, flush := c.ask(1, "set k v"), c.ask(1, "clear")
	late, ok := c.take(func(m *Message) bool { return m.Kind == Accept && m.To == 2 })
	require.True(t, ok)
	c.run(1, 2)
	c.done(set, "+OK\r\n") // acknowledged by the clear, which is the key's later write
	c.done(flush, "+OK\r\n")
	c.deliver(late)
	require.NotContains(t, c.process(2).store.records, "k")
}

func TestAClearThatSomeReplicaMissed(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k "+long)
	c.run()
	c.done(set, "+OK\r\n")
	flush := c.ask(1, "clear")
	c.run(1, 2)
	c.done(flush, "+OK\r\n")
	c.lose()
	get := c.force(3, "get k") // 3 still holds the value, and becomes home with 1
	c.run(1, 3)
	c.done(get, "$-1\r\n")
	require.False(t, c.process(3).store.records["k"].State.Live(), "the tombstone was written under its term")
}

func TestAClearIsSentAgain(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	flush := c.ask(1, "clear")
	c.run(1)
	c.lose()
	require.True(t, c.home(1).Active())
	c.advance(testTiming.Resend)
	c.run(1, 3)
	c.done(flush, "+OK\r\n")
	require.False(t, c.home(1).Active())

	t.Run("to a replica that lacks it, for a key's sake", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		flush, get := c.ask(1, "clear"), c.ask(1, "get warm")
		_, ok := c.take(func(m *Message) bool { return m.To == 2 && m.Kind == Clear })
		require.True(t, ok)
		c.run(1, 2)
		c.open(flush, get)
		c.advance(testTiming.Resend)
		c.run(1, 2)
		c.done(flush, "+OK\r\n")
		c.done(get, "$-1\r\n")
	})
}

func TestAClearWhoseTermIsLost(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.by(Message{Kind: Prepare, Ballot: rival(3)}, 2, 3)
	sent := c.ask(1, "clear")
	c.run()
	c.failed(sent, Unknown, LostTerm, 0) // a sync-read of a key could not tell its fate
	require.False(t, c.home(1).Active())

	t.Run("before it was sent", func(t *testing.T) {
		c := newCluster(t, 3)
		c.by(Message{Kind: Prepare, Ballot: rival(3)}, 2, 3)
		unsent := c.ask(1, "clear")
		c.run()
		c.failed(unsent, NotDone, LostTerm, 0)
	})
}

func TestAClearWaitsForRequestsInDoubt(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2}, "append k v")
	c.process(1).slow = false
	c.mono += testTiming.Backoff + 1
	flush := c.force(1, "clear")
	require.Equal(t, "prepare", c.kinds(2))
	c.run(1, 2)
	require.Equal(t, 1, c.events[ResolvedIncluded])
	c.done(asked[0], ":1\r\n")
	c.done(flush, "+OK\r\n")
	c.run()
	require.NotContains(t, c.process(2).store.records, "k")
}

func TestADeleteAndPurgeAfterAClear(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	flush := c.ask(1, "clear")
	c.run()
	c.done(flush, "+OK\r\n")
	for _, step := range [][2]string{{"set k v", "+OK\r\n"}, {"del k", ":1\r\n"}, {"get k", "$-1\r\n"}, {"setnx k w", ":1\r\n"}, {"get k", "$1\r\nw\r\n"}} {
		a := c.ask(1, step[0])
		c.run()
		c.done(a, step[1])
	}
	require.Equal(t, 1, c.events[Purged])
}

// TestWhatFollowsAClearInOneStep: the own replica has not executed the clear yet when the home looks for what it has proposed itself.
func TestWhatFollowsAClearInOneStep(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(2)
	inFlight := c.ask(2, "set k v")
	c.stable[1] = true
	flush, write := c.ask(2, "clear"), c.ask(2, "append warm x")
	c.lose()
	c.advance(testTiming.HandBack) // they were kept, and are executed now
	c.advance(testTiming.Resend)
	c.run()
	c.done(inFlight, "+OK\r\n")
	c.done(flush, "+OK\r\n")
	c.done(write, ":1\r\n")
	for id := uint16(1); id <= 3; id++ {
		require.Equal(t, "x", c.value(id, "warm"))
	}
}
