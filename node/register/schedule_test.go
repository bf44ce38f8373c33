package register

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The shortest schedules of messages that give a wrong answer when one rule is taken
// away, for rules whose absence random search seldom notices. internal/mutation takes them
// away and expects these tests to fail.

func TestR1ReplicasThatWereRemovedAreNoQuorum(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(2)
	c.process(1).learn(NewConfig(2, []uint16{1, 2, 3}, []uint16{1})) // 2 and 3 are to leave
	newer := c.force(1, "set warm newer")
	c.run(1, 2)
	c.done(newer, "+OK\r\n")
	c.process(1).learn(NewConfig(3, []uint16{1}, nil))
	c.mono += testTiming.Backoff + 1
	newest := c.force(1, "set warm newest")
	c.run(1)
	c.done(newest, "+OK\r\n")

	for range 3 { // 3 has heard nothing of it, and takes a higher ballot each time
		get := c.force(3, "get warm")
		c.run(2, 3)
		require.Empty(t, get.answers, "a stale read in an epoch that is over")
		c.advance(testTiming.Acquire + 1)
		c.advance(testTiming.Backoff + 1)
	}
}

func TestR16AWriteNeedsBothQuorums(t *testing.T) {
	c := newCluster(t, 5)
	c.process(1).learn(NewConfig(2, []uint16{1, 2, 3}, []uint16{3, 4, 5}))
	set := c.force(1, "set k v") // it leaves, and would have another one do it
	c.run(1, 2, 3)
	require.Empty(t, set.answers, "answered without a quorum of the next members")
	c.run()
	c.done(set, "+OK\r\n")
}

// A key that is forgotten is found again in the own replica and taken for certain: so
// it is not forgotten before a quorum holds it, though nobody waits any more.
func TestAKeyIsNotForgottenBeforeAQuorumHoldsIt(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k v")
	c.run(1)
	for range 3 {
		c.lose()
		c.advance(testTiming.Request)
	}
	c.failed(set, Unknown, NoQuorum, 0)
	c.lose()

	get := c.ask(1, "get k")
	c.stuck = Accept
	c.run()
	require.Empty(t, get.answers, "read a value that only one member holds")
}

// A version between the first and the last attempt may be a rival's, built on the first.
func TestR11ForeignBetweenTwoAttempts(t *testing.T) {
	c, asked := inDoubt(t, []uint16{2}, "append k v")
	c.by(write(rival(3), 1, "k", "vw"), 3) // on what 2 holds

	c.process(1).slow = false
	c.advance(testTiming.Backoff + 1)
	for _, kind := range []Kind{Prepare, SyncRead} {
		c.run(1)
		reply := c.one(kind, 2)
		c.process(1).reply(&reply)
	}
	require.Equal(t, 1, c.events[ResolvedIncluded])
	c.lose() // the identity write, its second attempt, reached the own replica only
	later := rival(3)
	later.Counter += 10
	c.by(Message{Kind: Prepare, Ballot: later}, 2, 3)
	c.advance(testTiming.Resend)
	c.run()
	c.open(asked...)

	c.process(1).slow = true // a quorum without the own replica
	c.advance(testTiming.Backoff + 1)
	c.run()
	require.NotEqual(t, "vwv", c.value(2, "k"), "applied twice")
	c.failed(asked[0], Unknown, LostTerm, 0)
}

// After a clear a key without record has the clear's version, and is absent all the same.
func TestR11PurgedAfterAClear(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	flush := c.ask(1, "clear")
	c.run()
	c.done(flush, "+OK\r\n")
	add := c.ask(1, "append k v")
	c.propose()
	c.lose()
	c.depose()
	for _, kind := range []Kind{Accept, Purge} { // a rival deleted what 2 and 3 might have held
		tombstone := write(rival(3), 1, "k", "")
		tombstone.Kind = kind
		c.by(tombstone, 1, 2, 3)
	}
	c.advance(testTiming.Backoff + 1)
	c.run()
	require.Empty(t, c.value(2, "k"), "applied again after it was deleted and purged")
	c.failed(add, Unknown, LostTerm, 0)
}

func TestR13APurgedKeyStaysAway(t *testing.T) {
	for name, upset := range map[string]func(*cluster){
		"at once": func(*cluster) {},
		"after a restart": func(c *cluster) {
			for id := uint16(2); id <= 3; id++ {
				c.process(id).start(c.home(id).Config(), 1000+uint64(id))
			}
		},
		"after the purge of an older tombstone": func(c *cluster) {
			older := write(earlier(1).Ballot, 1, "older", "")
			c.put(1, "older", older.State, 2, 3)
			older.Kind = Purge
			c.by(older, 2, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			c.lead(1)
			c.ask(1, "set k v")
			late := slices.Clone(c.mail)
			c.run()
			del := c.ask(1, "del k")
			c.run()
			c.done(del, ":1\r\n")
			require.Equal(t, 1, c.events[Purged])
			upset(c)
			c.mail = late // the same messages once more
			c.run()
			c.lose()
			get := c.force(3, "get k")
			c.run(2, 3)
			c.done(get, "$-1\r\n")
		})
	}
}

func TestR13AnAcknowledgementBeforeTheDeletionDoesNotPurge(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.process(1).slow = true
	c.ask(1, "set k v")
	held := c.one(Accept, 3)
	c.process(1).reply(&held) // 3 holds exactly the head
	c.lose()
	del := c.ask(1, "del k") // now the head is another one
	c.process(1).slow = false
	c.run(1, 2)
	c.done(del, ":1\r\n")
	c.lose()
	get := c.force(3, "get k")
	c.run(1, 3)
	c.done(get, "$-1\r\n")
}

// What 3 answers of a key is the last that it says of it in an older term: a write of
// that term which half reached its quorum must not be completed afterwards.
func TestR5NoOlderWriteIsAcknowledgedAfterASyncRead(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(2)
	set := c.ask(2, "set k v")
	late, _ := c.take(func(m *Message) bool { return m.To == 3 })
	c.lose()
	c.run(2) // 2 holds it
	c.force(1, "append k w")
	c.stuck = SyncRead
	c.run(1, 2) // they are the quorum of the new term, 1 and 3 that of its sync-read
	reply := c.one(SyncRead, 3)
	c.process(1).reply(&reply)
	c.deliver(late)
	c.run(2, 3)
	require.Empty(t, set.answers, "acknowledged behind the back of the newer term")
}

// Any answer of a later round confirms the term, so a sync-read of another key must
// not be answered in a term that is over.
func TestR5ASyncReadConfirmsTheTerm(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.by(Message{Kind: Prepare, Ballot: rival(2)}, 2, 3)
	c.by(write(rival(2), 1, "warm", "newer"), 2, 3)
	get := c.ask(1, "get warm")
	c.lose()
	c.ask(1, "get cold")
	c.run(1, 2)
	require.Empty(t, get.answers, "a stale read")
}

// A home takes what its own replica holds under its ballot for what it proposed last. It
// must not go on when that replica has promised a rival, and refuses.
func TestAHomeIsNotMisledByItsOwnReplica(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.by(Message{Kind: Prepare, Ballot: rival(2)}, 1) // and nobody else hears of it
	set := c.ask(1, "set warm newer")
	c.run()
	get := c.ask(1, "get warm")
	c.run()
	for _, a := range get.answers {
		require.NotEqual(t, "$2\r\nup\r\n", string(a.Reply), "a stale read")
	}
	c.failed(set, NotDone, LostTerm, 2)
}
