package register

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

func TestR3AfterARefusalTheCounterIsAboveThePromise(t *testing.T) {
	c := newCluster(t, 3)
	c.by(Message{Kind: Prepare, Ballot: rival(3)}, 2, 3)
	get := c.ask(1, "get k")
	c.run()
	require.False(t, c.home(1).Leading())
	c.failed(get, NotDone, LostTerm, 0)
	c.mono += testTiming.Backoff + 1
	get = c.ask(1, "get k")
	c.run()
	c.done(get, "$-1\r\n")
	require.Equal(t, rival(3).Counter+1, c.home(1).ballot.Counter)
}

func TestR3OneRefusalIsNotTheEnd(t *testing.T) {
	c := newCluster(t, 3)
	c.by(Message{Kind: Prepare, Ballot: rival(3)}, 3)
	get := c.ask(1, "get k")
	c.run()
	c.done(get, "$-1\r\n")
	require.False(t, c.home(1).Leading(), "the third one would miss what is written in this term")
	set := c.ask(1, "set k v")
	c.run()
	c.done(set, "+OK\r\n")
	require.True(t, c.home(1).Leading())
	require.Equal(t, rival(3).Counter+1, c.home(1).ballot.Counter)
	require.Equal(t, "v", c.value(3, "k"))
}

// TestR3ASecondCopyIsNoRival: a replica promises a ballot once, and refuses a Prepare that
// arrives twice, or that a later message of the same term has overtaken.
func TestR3ASecondCopyIsNoRival(t *testing.T) {
	c := newCluster(t, 3)
	get := c.ask(1, "get k")
	first := c.one(Prepare, 2)
	overtaken, _ := c.take(func(m *Message) bool { return m.To == 3 })
	c.process(1).reply(&first)
	c.run()
	c.done(get, "$-1\r\n")

	again := overtaken
	again.To = 2
	for _, m := range []Message{overtaken, again} {
		c.deliver(m)
		require.Equal(t, StaleBallot, c.mail[0].Result)
		c.run()
	}
	require.True(t, c.home(1).Leading())
	require.Zero(t, c.events[SteppedDown])
}

func TestR3ANewProcessHasAHigherBallot(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	before := c.home(1).ballot
	c.process(1).start(c.home(1).config, 1001)
	get := c.ask(1, "get warm")
	c.run()
	c.done(get, "$2\r\nup\r\n")
	require.True(t, before.Less(c.home(1).ballot))
	require.NotEqual(t, before.Incarnation, c.home(1).ballot.Incarnation)
}

func TestRepliesOfAnotherTermAreIgnored(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k v")
	reply := c.one(Accept, 2)
	for name, change := range map[string]func(*Message){
		"ballot":   func(m *Message) { m.Ballot.Counter-- },
		"epoch":    func(m *Message) { m.Epoch++ },
		"stranger": func(m *Message) { m.From = 9 },
		"refusal":  func(m *Message) { m.Result = StaleEpoch },
	} {
		other := reply
		change(&other)
		c.process(1).reply(&other)
		c.run(1)
		require.Empty(t, set.answers, name)
	}
	c.process(1).reply(&reply)
	c.done(set, "+OK\r\n")
}

func TestTheOwnReplicasRefusalEndsTheTerm(t *testing.T) {
	for _, kind := range []Kind{Prepare, Accept} {
		c := newCluster(t, 3)
		c.lead(1)
		if kind == Prepare {
			c.by(Message{Kind: Prepare, Ballot: rival(2)}, 1)
		} else {
			c.by(write(rival(2), 1, "warm", "newer"), 1)
		}
		set := c.ask(1, "set k v")
		c.failed(set, NotDone, LostTerm, 2)
		require.False(t, c.home(1).Leading())
		require.Empty(t, c.sent, "nothing is proposed any more")
		require.Equal(t, 1, c.events[SteppedDown])
	}
	t.Run("a message that was underway", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		set := c.ask(1, "set k v")
		c.lose()
		c.by(Message{Kind: Prepare, Ballot: rival(2)}, 1)
		c.advance(testTiming.Resend) // resends also to itself
		c.open(set)                  // in doubt
		require.False(t, c.home(1).Leading())
		require.Equal(t, 1, c.home(1).doubt)
	})
}

func TestATermWithoutQuorumIsGivenUpAndTriedAgain(t *testing.T) {
	c := newCluster(t, 3)
	get := c.ask(1, "get k")
	c.run(1)
	c.lose()
	first := c.home(1).ballot
	c.advance(testTiming.Acquire + 1)
	require.Equal(t, acquiring, c.home(1).phase)
	require.Equal(t, first, c.home(1).ballot, "after a pause")
	c.advance(testTiming.Backoff + 1)
	require.True(t, first.Less(c.home(1).ballot))
	c.run()
	c.done(get, "$-1\r\n")
}

func TestR15ANewEpochEndsTheTerm(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	before := c.home(1).ballot
	sent := c.ask(1, "append k v")
	c.propose()
	unsent := c.ask(1, "append cold v")
	c.process(1).learn(NewConfig(1, []uint16{3, 2, 1}, nil)) // not newer
	require.True(t, c.home(1).Leading())
	c.open(sent, unsent)

	c.process(1).learn(NewConfig(2, []uint16{1, 2, 3}, nil))
	require.False(t, c.home(1).Leading())
	c.failed(unsent, NotDone, LostTerm, 0) // it was only read for
	c.open(sent)                           // in doubt
	c.run()
	c.open(sent)
	c.advance(testTiming.Backoff + 1)
	c.run()
	c.done(sent, ":1\r\n")
	require.True(t, before.Less(c.home(1).ballot))
	require.EqualValues(t, 2, c.process(3).store.meta.Epoch)
}

func TestR15AReplicasNewerEpochEndsTheTerm(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	_, err := adopt(c.process(1).acceptor, 2)
	require.NoError(t, err)
	set := c.ask(1, "set k v")
	c.failed(set, NotDone, LostTerm, 0)
}

func TestTheMembersMayGrowWhileRequestsWait(t *testing.T) {
	for _, config := range []*Config{NewConfig(2, []uint16{1, 2, 3, 4, 5}, nil), NewConfig(2, []uint16{1, 2, 3}, []uint16{3, 4, 5}), NewConfig(2, []uint16{1}, nil)} {
		for _, word := range []string{"append k v", "clear"} {
			c := newCluster(t, 5)
			small := NewConfig(1, []uint16{1, 2, 3}, nil)
			c.process(1).start(small, 1)
			if word != "clear" { // a clear is not kept in doubt
				c.lead(1)
			}
			a := c.ask(1, word)
			if word != "clear" {
				c.propose()
			}
			c.process(1).slow = true
			c.lose()
			if word == "clear" {
				c.by(Message{Kind: Prepare, Ballot: rival(2)}, 1)
				c.advance(testTiming.Acquire + 1)
			} else {
				c.depose()
			}
			require.Equal(t, idle, c.home(1).phase)
			for id := uint16(1); id <= 5; id++ {
				c.process(id).learn(config)
			}
			c.process(1).slow = false
			c.advance(testTiming.Backoff + 1)
			c.run()
			c.advance(testTiming.Backoff + 1)
			c.run()
			require.Len(t, a.answers, 1, word)
			require.Equal(t, Done, a.answers[0].Outcome)
		}
	}
}

func TestTurnedAwayWhileAnotherLeads(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(2)
	get := c.ask(1, "get warm")
	c.failed(get, NotDone, OtherHome, 2)
	require.Empty(t, c.sent)

	c.dead[2] = true // the proxy cannot reach it either
	get = c.give(1, "get warm", 2)
	c.run(1, 3)
	c.done(get, "$2\r\nup\r\n")

	t.Run("unless forced", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(2)
		get := c.force(1, "get warm")
		c.run()
		c.done(get, "$2\r\nup\r\n")
		require.True(t, c.home(1).Leading())
		get = c.ask(2, "get warm") // finds out by itself
		c.failed(get, NotDone, LostTerm, 1)
	})
	t.Run("unless the other has turned it away", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(2)
		get := c.give(1, "get warm", 2)
		c.run()
		c.done(get, "$2\r\nup\r\n")
		require.True(t, c.home(1).Leading())
	})
	t.Run("also if a third has turned it away", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(2)
		inFlight := c.ask(2, "append k v")
		c.failed(c.give(1, "get warm", 3), NotDone, OtherHome, 2) // 3 knows less
		c.run()
		c.done(inFlight, ":1\r\n")
	})
	t.Run("a member that left leads nothing", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(3)
		c.process(1).learn(NewConfig(2, []uint16{1, 2}, nil))
		c.process(2).learn(NewConfig(2, []uint16{1, 2}, nil))
		get := c.ask(1, "get warm")
		c.run()
		c.done(get, "$2\r\nup\r\n")
	})
}

// TestStandIn: a process that comes back and does not know who has led the slot since turns away what
// the one that says so can do, until it has heard of a newer term.
func TestStandIn(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.dead[1] = true
	set := c.force(2, "set k v")
	c.run(2, 3)
	c.lose() // 1 hears nothing of it
	c.done(set, "+OK\r\n")
	require.True(t, c.home(2).Leading())
	c.dead[1] = false
	c.process(1).start(c.home(1).Config(), 77)
	c.standIn[1] = 2
	c.failed(c.ask(1, "get k"), NotDone, OtherHome, 2)
	get := c.give(1, "get k", 2) // whose proxy cannot turn to it
	c.run()
	c.done(get, "$1\r\nv\r\n")
	get = c.ask(1, "get k") // it leads in this life
	c.run()
	c.done(get, "$1\r\nv\r\n")
}

// TestLeaving: a process that is ending finishes what is in flight, and begins nothing that another
// member can do.
func TestLeaving(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(2)
	inFlight := c.ask(2, "set k v")
	c.leaving[2] = true
	c.dead[1] = true
	parked := c.ask(2, "append k w")
	c.open(inFlight, parked)
	c.run()
	c.done(inFlight, "+OK\r\n")
	c.failed(parked, NotDone, OtherHome, 3)
	require.False(t, c.home(2).Leading())
	c.failed(c.ask(2, "get k"), NotDone, OtherHome, 3)

	c.mono += testTiming.Request // 3 has not taken it
	c.failed(c.ask(2, "get k"), NotDone, OtherHome, 3)
	get := c.force(2, "get k") // the proxy reaches nobody else
	c.run()
	c.done(get, "$1\r\nv\r\n")

	c.dead[3] = true
	get = c.ask(2, "get k")
	c.run()
	c.done(get, "$1\r\nv\r\n")
}

// TestOneTakesOverFromWhoLeaves: wherever proxies turn to when a process has left, or is leaving, one and the same
// member takes the slot over.
func TestOneTakesOverFromWhoLeaves(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.leaving[1] = true
	c.failed(c.ask(1, "get warm"), NotDone, OtherHome, 2)
	c.failed(c.give(3, "get warm", 0), NotDone, OtherHome, 2)
	require.Empty(t, c.sent)
	get := c.give(2, "get warm", 0)
	c.run()
	c.done(get, "$2\r\nup\r\n")
	c.failed(c.give(3, "get warm", 1), NotDone, OtherHome, 2) // whose proxy cannot reach 1 any more
	c.failed(c.give(1, "get warm", 3), NotDone, OtherHome, 2)

	c.leaving[1], c.leaving[2] = false, true
	c.failed(c.give(2, "get warm", 1), NotDone, OtherHome, 3) // a proxy that 1 is out of reach for
}

func TestHandBack(t *testing.T) {
	setUp := func(t *testing.T) (*cluster, *asked, []*asked) {
		c := newCluster(t, 3)
		c.lead(2)
		inFlight := c.ask(2, "set k v")
		c.stable[1] = true
		parked := []*asked{c.ask(2, "append k w"), c.ask(2, "get warm"), c.ask(2, "clear"), c.force(2, "get other")}
		c.open(append(parked, inFlight)...)
		return c, inFlight, parked
	}
	t.Run("when nothing is in flight", func(t *testing.T) {
		c, inFlight, parked := setUp(t)
		c.run()
		c.done(inFlight, "+OK\r\n")
		for _, a := range parked {
			c.failed(a, NotDone, OtherHome, 1)
		}
		require.Equal(t, 1, c.events[HandedBack])
		require.False(t, c.home(2).Leading())
		next := c.ask(2, "get warm")
		c.failed(next, NotDone, OtherHome, 1) // though the promise still names 2

		c.mono += testTiming.Request
		next = c.ask(2, "get warm") // 1 did not take it
		c.run()
		require.Len(t, next.answers, 1)
	})
	t.Run("at once if nothing is in flight", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(2)
		c.stable[1] = true
		get := c.ask(2, "get warm")
		c.failed(get, NotDone, OtherHome, 1)
		get = c.force(1, "get warm")
		c.run()
		c.done(get, "$2\r\nup\r\n")
		require.True(t, c.home(1).Leading())
	})
	t.Run("is cancelled when it takes too long", func(t *testing.T) {
		c, inFlight, parked := setUp(t)
		c.lose()
		c.advance(testTiming.HandBack)
		c.open(append(parked, inFlight)...)
		c.lose()
		c.advance(1)
		c.advance(testTiming.Resend)
		c.run()
		c.done(inFlight, "+OK\r\n")
		c.done(parked[0], ":2\r\n")
		c.done(parked[1], "$2\r\nup\r\n")
		c.done(parked[2], "+OK\r\n")
		c.done(parked[3], "$-1\r\n")
		require.Zero(t, c.events[HandedBack])
		get := c.ask(2, "get k") // and not tried again at once
		c.run()
		c.done(get, "$-1\r\n")
		require.True(t, c.home(2).Leading())
	})
	t.Run("ends with the term", func(t *testing.T) {
		c, inFlight, parked := setUp(t)
		c.by(Message{Kind: Prepare, Ballot: rival(3)}, 2)
		c.lose()
		c.advance(testTiming.Resend)
		c.open(inFlight) // in doubt
		for _, a := range parked {
			c.failed(a, NotDone, LostTerm, 3)
		}
	})
	t.Run("not to one that has just come back", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(2)
		get := c.ask(2, "get warm")
		c.run()
		c.done(get, "$2\r\nup\r\n")
	})
}

func TestRequestsExpire(t *testing.T) {
	c := newCluster(t, 3)
	unsent := c.ask(1, "append k v")
	flush := c.ask(1, "clear")
	c.advance(testTiming.Request)
	c.open(unsent, flush)
	c.advance(1)
	c.failed(unsent, NotDone, NoQuorum, 0)
	c.failed(flush, NotDone, NoQuorum, 0)

	c = newCluster(t, 3)
	c.lead(1)
	cold, read, sent := c.ask(1, "append k v"), c.ask(1, "get warm"), c.ask(1, "set b v")
	c.lose()
	c.run(1)
	c.advance(testTiming.Request)
	c.open(cold, read, sent)
	c.lose()
	flush = c.ask(1, "clear")
	c.advance(1)
	c.failed(cold, Unknown, NoQuorum, 0) // the clear made its key known, so it was sent after all
	c.failed(read, NotDone, NoQuorum, 0)
	c.failed(sent, Unknown, NoQuorum, 0)
	require.Zero(t, c.home(1).reads)
	c.advance(testTiming.Request)
	c.failed(flush, Unknown, NoQuorum, 0)

	c.run() // the proposals stay in flight without the requests
	require.False(t, c.home(1).Active())
	require.NotContains(t, c.process(3).store.records, "b", "the clear came after it")
}

func TestAFailedStoreEndsTheHome(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	sent, unsent := c.ask(1, "set k v"), c.ask(1, "append cold v")
	broken := errors.New("broken")
	c.process(1).store.failed = broken
	last := c.ask(1, "set k w")
	require.ErrorIs(t, c.home(1).Err(), broken)
	c.failed(sent, Unknown, StorageFailed, 0)
	c.failed(unsent, NotDone, StorageFailed, 0)
	c.failed(last, Unknown, StorageFailed, 0) // it was sent to the others
	next := c.ask(1, "get k")
	c.failed(next, NotDone, StorageFailed, 0)
	c.sent = nil
	c.run()
	c.advance(1000)
	require.Empty(t, c.sent)
	require.False(t, c.home(1).Active())
}

func TestAStoreThatFailsWhenAKeyIsLookedUp(t *testing.T) {
	for _, words := range []string{"get cold", "set cold v", "clear"} {
		c := newCluster(t, 3)
		c.lead(1)
		c.process(1).store.failed = errors.New("broken")
		a := c.ask(1, words)
		require.Len(t, a.answers, 1, words)
		require.Equal(t, StorageFailed, a.answers[0].Reason)
	}
	t.Run("with requests parked", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(2)
		c.ask(2, "set k v")
		c.stable[1] = true
		var parked []*asked
		for i := range 3 {
			parked = append(parked, c.ask(2, fmt.Sprintf("get k%d", i)))
		}
		c.process(2).store.failed = errors.New("broken")
		c.lose()
		c.advance(testTiming.HandBack + 1)
		for _, a := range parked {
			c.failed(a, NotDone, StorageFailed, 0)
		}
	})
}

// TestAStateThatCannotBeRead: a command that needs what the store cannot read has no answer, and had no effect; nor does anything follow it.
func TestAStateThatCannotBeRead(t *testing.T) {
	for _, words := range []string{"get k", "set k w", "append k w"} {
		c := newCluster(t, 3)
		c.lead(1)
		c.ask(1, "set k v")
		c.run()
		sent := c.ask(1, "append k w")
		c.process(1).unreadable = errors.New("damaged")
		a, behind := c.ask(1, words), c.ask(1, "get k")
		require.ErrorContains(t, c.home(1).Err(), "damaged", words)
		c.failed(sent, Unknown, StorageFailed, 0)
		c.failed(a, NotDone, StorageFailed, 0)
		c.failed(behind, NotDone, StorageFailed, 0)
		require.False(t, c.home(1).Active())
	}
}

func TestMeta(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	require.Equal(t, c.process(1).store.meta, c.process(1).acceptor.Meta())
	require.EqualValues(t, 1, c.home(1).Config().Epoch())
	require.Equal(t, record.Ballot{Counter: 1, Incarnation: record.NewIncarnation(1, 1)}, c.home(1).ballot)
}

// move lets processes learn a joint epoch.
func (c *cluster) move(epoch uint64, members, next []uint16) {
	for _, id := range NewConfig(epoch, members, next).Members() {
		c.process(id).learn(NewConfig(epoch, members, next))
	}
}

// TestAHomeThatLeavesHandsOver before its slot has moved: what is in flight when the slot becomes joint is done by it in a term of that epoch, and everything
// else by a member that stays. So nothing is caught in it when the slot is not its own any more.
func TestAHomeThatLeavesHandsOver(t *testing.T) {
	c := newCluster(t, 4)
	c.move(2, []uint16{1, 2, 3}, nil)
	c.lead(1)
	inFlight := c.ask(1, "set k v")
	c.move(3, []uint16{1, 2, 3}, []uint16{4, 2, 3})
	c.open(inFlight)
	c.failed(c.ask(1, "get warm"), NotDone, LostTerm, 0)
	c.run()
	c.advance(testTiming.Backoff + 1)
	c.run()
	c.done(inFlight, "+OK\r\n")
	require.False(t, c.home(1).Leading(), "nobody has to ask for that")
	require.Equal(t, 1, c.events[HandedBack])
	c.failed(c.ask(1, "get k"), NotDone, OtherHome, 2)
	c.mono += testTiming.Request
	c.failed(c.ask(1, "get k"), NotDone, OtherHome, 2)
	c.failed(c.ask(3, "get k"), NotDone, OtherHome, 2)
	c.failed(c.ask(4, "get k"), NotDone, OtherHome, 2)
	get := c.give(2, "get k", 1)
	c.run()
	c.done(get, "$1\r\nv\r\n")

	c.stable[1] = true
	get = c.ask(2, "get k")
	c.run()
	c.done(get, "$1\r\nv\r\n") // it is not handed back to who leaves
	c.move(4, []uint16{4, 2, 3}, nil)
	c.process(1).learn(NewConfig(4, []uint16{4, 2, 3}, nil))
	c.failed(c.ask(1, "get k"), NotDone, NotMember, 0)
	c.advance(testTiming.Backoff + 1)
	get = c.ask(2, "get k")
	c.run()
	c.done(get, "$1\r\nv\r\n")
	c.stable[4] = true
	c.failed(c.ask(2, "get k"), NotDone, OtherHome, 4)
}

// TestAHomeThatLeavesInTheMiddle of something that takes a while parks what comes, and then hands over.
func TestAHomeThatLeavesInTheMiddle(t *testing.T) {
	c := newCluster(t, 4)
	c.move(2, []uint16{1, 2, 3}, []uint16{4, 2, 3})
	set := c.force(1, "set k v")
	parked := c.ask(1, "append k w")
	c.open(set)
	c.run()
	c.done(set, "+OK\r\n")
	if len(parked.answers) == 0 || parked.answers[0].Outcome != Done {
		c.failed(parked, NotDone, OtherHome, 2)
	}
	require.False(t, c.home(1).Leading())
}

// TestWhereNobodyStaysOneThatComesTakesOver, and who leaves goes on if there is none that answers.
func TestWhereNobodyStaysOneThatComesTakesOver(t *testing.T) {
	c := newCluster(t, 4)
	c.move(2, []uint16{1, 2}, []uint16{3, 4})
	c.failed(c.ask(2, "get k"), NotDone, OtherHome, 3)
	get := c.ask(3, "get k")
	c.run()
	c.done(get, "$-1\r\n")
	require.EqualValues(t, 3, c.home(1).Config().Preferred())

	c = newCluster(t, 4)
	c.move(2, []uint16{1, 2}, []uint16{3, 4})
	c.leaving[3], c.leaving[4] = true, true
	get = c.ask(1, "get k")
	c.run()
	c.done(get, "$-1\r\n")
	require.True(t, c.home(1).Leading())
}
