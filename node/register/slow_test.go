package register

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestASlowRequestIsKept: as long as a quorum is alive it is only slow, and its answer will come. Without one the proxy
// shall hear so in time.
func TestASlowRequestIsKept(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	slow := testTiming
	slow.Slow = 10 * slow.Request
	c.home(1).timing = &slow
	set, get := c.ask(1, "set k v"), c.ask(1, "get warm")
	c.lose()
	c.advance(slow.Request + 1)
	c.dead[3] = true
	require.True(t, c.home(1).Slow(c.mono))
	c.advance(slow.Slow - slow.Request - 10)
	c.open(set, get)
	c.run(1, 2)
	c.done(set, "+OK\r\n")
	c.done(get, "$2\r\nup\r\n")
	c.advance(1)
	require.False(t, c.home(1).Slow(c.mono))

	set, get = c.ask(1, "set k w"), c.ask(1, "get warm")
	c.lose()
	c.advance(slow.Request)
	c.advance(1)
	c.dead[2] = true
	c.advance(slow.Request)
	c.open(set, get)
	require.True(t, c.home(1).Slow(c.mono), "a moment without a quorum is no reason to give up")
	c.dead[2] = false
	c.advance(1)
	c.dead[2] = true
	c.advance(slow.Request)
	c.open(set, get)
	c.advance(1)
	require.False(t, c.home(1).Slow(c.mono), "nobody is to wait for it")
	c.failed(set, Unknown, NoQuorum, 0)
	c.failed(get, NotDone, NoQuorum, 0)

	c.dead[2] = false
	set = c.ask(1, "set k x")
	c.lose()
	for range slow.Slow / 100 {
		c.advance(100)
		c.lose()
	}
	c.open(set)
	c.advance(1)
	c.failed(set, Unknown, NoQuorum, 0)
}

// TestWhoIsBehindIsSentNothingAgain: it has what was sent, and would only have more to do. But what was lost on the way
// is sent again some time.
func TestWhoIsBehindIsSentNothingAgain(t *testing.T) {
	c := newCluster(t, 3)
	c.behind[2], c.dead[3] = true, true
	set := c.ask(1, "set k v") // which begins with a Prepare
	c.lose()
	c.advance(testTiming.Patience - 1)
	require.Empty(t, c.mail, "no other ballot")
	c.advance(1)
	c.advance(testTiming.Backoff)
	c.run(1, 3)
	c.done(set, "+OK\r\n")

	set, get, flush := c.ask(1, "set k w"), c.ask(1, "get k"), c.ask(1, "clear")
	c.lose()
	c.advance(testTiming.Patience - 1)
	require.Empty(t, c.mail)
	c.advance(1)
	require.NotEmpty(t, c.mail)
	c.run(1, 3)
	c.done(set, "+OK\r\n")
	c.done(get, "$1\r\nw\r\n")
	c.done(flush, "+OK\r\n")
}

// TestWhatIsLostIsSentAgainThoughAMemberIsBehind: what went to one that is not and did not answer, or whose connection is another one
// than that on which it was sent.
func TestWhatIsLostIsSentAgainThoughAMemberIsBehind(t *testing.T) {
	for name, lose := range map[string]func(c *cluster){
		"by another member": func(*cluster) {},
		"with a connection": func(c *cluster) { c.dead[3], c.connected[2] = true, c.mono+1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			c.behind[2] = true
			set := c.ask(1, "set k v")
			c.lose()
			lose(c)
			c.advance(testTiming.Acquire)
			c.advance(testTiming.Backoff)
			c.run(1, 3)
			c.done(set, "+OK\r\n")

			for _, command := range []string{"set k w", "get k", "get cold", "clear"} {
				asked := c.ask(1, command)
				c.lose()
				lose(c)
				c.advance(testTiming.Resend)
				c.run(1, 3)
				require.Len(t, asked.answers, 1, command)
				require.Equal(t, Done, asked.answers[0].Outcome, command)
			}
		})
	}
}

// TestWhoHasAnsweredIsNotWaitedFor: all others have, and the own replica and one that is behind have it.
func TestWhoHasAnsweredIsNotWaitedFor(t *testing.T) {
	c := newCluster(t, 5)
	c.lead(1)
	c.behind[2], c.behind[3], c.dead[4] = true, true, true
	for _, command := range []string{"set k w", "get warm", "get cold", "clear"} {
		asked := c.ask(1, command)
		c.run(1, 5)
		c.lose()
		c.open(asked)
		c.advance(testTiming.Patience - 1)
		require.Empty(t, c.mail, command)
		c.advance(1)
		c.run(1, 2, 5)
		require.Len(t, asked.answers, 1, command)
	}
}

// TestTheOwnReplicaIsWaitedFor: its disk takes longer than an acquisition, or than until things are sent again. With it the others
// that have answered are a quorum, so to begin again would only take as long again.
func TestTheOwnReplicaIsWaitedFor(t *testing.T) {
	for _, quorum := range [][]uint16{{1, 2}, {1, 2, 3}} {
		t.Run(fmt.Sprint(quorum), func(t *testing.T) {
			c := newCluster(t, 2*len(quorum)-1)
			own := c.process(1)
			for _, command := range []string{"set k v", "set k w", "get k", "get cold", "clear"} {
				own.slow = true
				asked := c.ask(1, command)
				c.run(quorum...)
				c.lose() // what went to the others
				c.advance(testTiming.Patience - 1)
				require.Empty(t, c.mail, command)
				c.open(asked)
				own.slow = false
				c.run(quorum...)
				require.Len(t, asked.answers, 1, command)
				require.Equal(t, Done, asked.answers[0].Outcome, command)
				c.lose()
			}
		})
	}
}

// TestTheOwnPromiseIsNotWaitedForInVain: with those that have promised it is no quorum, for others have refused, and what went to the last ones is lost.
func TestTheOwnPromiseIsNotWaitedForInVain(t *testing.T) {
	c := newCluster(t, 5)
	c.by(Message{Kind: Prepare, Ballot: rival(5)}, 3)
	c.process(1).slow = true
	c.ask(1, "set k v")
	first := c.home(1).ballot
	c.run(1, 2, 3)
	c.lose()
	c.advance(testTiming.Acquire)
	c.advance(testTiming.Backoff)
	require.True(t, first.Less(c.home(1).ballot))
}

// latePromise has a home ask for a term. Another member has promised, which is on its way; all else is lost.
func (c *cluster) latePromise() (set *asked, late Message) {
	set = c.ask(1, "set k v")
	c.run(1)
	late = c.one(Prepare, 2)
	c.lose()
	return set, late
}

// TestALatePromiseCounts: it comes in the pause before another term is asked for.
func TestALatePromiseCounts(t *testing.T) {
	c := newCluster(t, 3)
	set, late := c.latePromise()
	c.advance(testTiming.Acquire)
	c.open(set)
	require.Empty(t, c.mail)
	c.mail = []Message{late}
	c.run(1, 2)
	c.done(set, "+OK\r\n")
	require.Equal(t, 1, c.events[TermAcquired])
}

// TestALatePromiseDoesNotCountOnceARivalHasCome: who waits for it is sent to the rival.
func TestALatePromiseDoesNotCountOnceARivalHasCome(t *testing.T) {
	c := newCluster(t, 3)
	set, late := c.latePromise()
	c.by(Message{Kind: Prepare, Ballot: rival(3)}, 1, 3)
	c.advance(testTiming.Acquire)
	c.mail = []Message{late}
	c.run(1)
	c.open(set)
	require.Zero(t, c.events[TermAcquired])
	get := c.ask(1, "get k")
	c.failed(get, NotDone, LostTerm, 0)
}
