package register

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// earlier is a ballot of a term before all that homes acquire here.
func earlier(seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: 0, Incarnation: record.NewIncarnation(1, 3)}, Seq: seq}
}

// put lets some replicas hold a record of an earlier term.
func (c *cluster) put(seq uint64, key string, st record.State, members ...uint16) {
	for _, id := range members {
		c.process(id).store.records[key] = record.Record{Version: earlier(seq), State: st}
	}
}

func TestR4SyncReadAgreed(t *testing.T) {
	c := newCluster(t, 3)
	c.put(1, "k", text("v"), 1, 2, 3)
	get := c.ask(1, "get k")
	c.run()
	c.done(get, "$1\r\nv\r\n")
	require.Equal(t, "prepare sync-read", c.kinds(2), "nothing is written")
	require.Equal(t, 1, c.events[SyncReadAgreed])
	require.Zero(t, c.home(1).keys.len(), "and forgotten")
}

func TestR4SyncReadDiffers(t *testing.T) {
	c := newCluster(t, 3)
	c.put(1, "k", text("old"), 1, 3)
	c.put(2, "k", text("new"), 2)
	get := c.ask(1, "get k")
	c.run(1, 2)
	c.done(get, "$3\r\nnew\r\n")
	require.Equal(t, "prepare sync-read accept", c.kinds(2), "the highest version, written under this term (R9)")
	require.Equal(t, []int{1, 1}, []int{c.events[SyncReadDiffered], c.events[WroteBack]})
	require.Equal(t, "new", c.value(1, "k"))
}

func TestR4TheQuorumDecidesNotTheOwnReplica(t *testing.T) {
	c := newCluster(t, 3)
	c.put(1, "k", text("stale"), 1)
	c.put(2, "k", text("v"), 2, 3)
	add := c.ask(1, "append k w")
	c.run()
	c.done(add, ":2\r\n")
	for id := uint16(1); id <= 3; id++ {
		require.Equal(t, "vw", c.value(id, "k"))
	}
}

func TestR4BlindWriteOnAColdKey(t *testing.T) {
	for words, want := range map[string]string{
		"set k v":         "prepare accept",
		"psetex k 1000 v": "prepare accept",
		"set k v nx":      "prepare sync-read accept",
		"append k v":      "prepare sync-read accept",
		"setnx k v":       "prepare sync-read accept",
		"del k":           "prepare sync-read", // no effect: a read
		"psetex k x v":    "prepare sync-read", // an error in it: not blind
	} {
		c := newCluster(t, 3)
		a := c.ask(1, words)
		c.run()
		require.Len(t, a.answers, 1, words)
		require.Equal(t, Done, a.answers[0].Outcome, words)
		require.Equal(t, want, c.kinds(2), words)
	}
}

func TestR7NeedFullGetsTheHead(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k "+long)
	c.run(1, 2) // 3 misses it
	c.done(set, "+OK\r\n")
	c.lose()

	first, second := c.ask(1, "append k 1"), c.ask(1, "append k 2")
	require.Equal(t, 2, c.events[DeltaSent])
	require.Equal(t, NeedFull, c.one(Accept, 3).Result)
	c.open(first, second)
	c.run(1, 2)
	c.done(first, ":1001\r\n")
	c.done(second, ":1002\r\n")
	reply := c.one(Accept, 3) // the second delta
	require.Equal(t, NeedFull, reply.Result)
	c.sent = nil
	c.process(1).reply(&reply)
	require.Len(t, c.sent, 1)
	require.False(t, c.sent[0].IsDelta)
	c.run()
	require.Equal(t, long+"12", c.value(3, "k"))
	require.Equal(t, c.process(1).store.records["k"].Version, c.process(3).store.records["k"].Version, "under the head's version")
}

func TestAHomeWhoseOwnReplicaLags(t *testing.T) {
	c := newCluster(t, 3)
	c.put(2, "k", text(long), 2, 3)
	add := c.ask(1, "append k y")
	for range 5 { // the own replica cannot apply the delta
		c.run()
		c.advance(50)
	}
	c.done(add, ":1001\r\n")
	for id := uint16(1); id <= 3; id++ {
		require.Equal(t, long+"y", c.value(id, "k"))
	}
}

func TestR8AcknowledgementsArePerKey(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	a, b := c.ask(1, "set a v"), c.ask(1, "set b v")
	c.run(1) // the own replica holds both
	c.open(a, b)
	toA, _ := c.take(func(m *Message) bool { return m.To == 2 && string(m.Key) == "a" })
	c.run(1, 2)
	c.done(b, "+OK\r\n") // of a later seq
	c.open(a)            // of which no other replica has heard
	c.deliver(toA)
	c.run(1, 2)
	c.done(a, "+OK\r\n")
}

func TestR8ALaterWriteOfTheKeyAcknowledgesTheEarlierOnes(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	first, second := c.ask(1, "set k 1"), c.ask(1, "set k 2")
	_, ok := c.take(func(m *Message) bool { return m.To == 2 }) // lost
	require.True(t, ok)
	c.run(1, 2)
	c.done(first, "+OK\r\n")
	c.done(second, "+OK\r\n")
	require.Equal(t, 1, c.events[Pipelined])
}

func TestR8OneMemberIsNoQuorum(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k v")
	m, _ := c.take(func(m *Message) bool { return m.To == 2 })
	c.process(1).slow = true // its own acknowledgement is not durable yet
	var reply Message
	require.NoError(t, execute(c.process(2).acceptor, &m, &reply))
	for range 3 { // duplicates
		c.process(1).reply(&reply)
		c.open(set)
	}
	c.process(1).slow = false
	c.run(1)
	c.done(set, "+OK\r\n")
}

func TestR9AReadIsConfirmed(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	get := c.ask(1, "get warm") // the home knows it: its own replica holds this term's version
	require.Equal(t, "confirm", c.kinds(2))
	c.run(1)
	c.open(get) // the own replica's confirmation is not a quorum's
	c.run(1, 3)
	c.done(get, "$2\r\nup\r\n")
}

func TestR9ADeposedHomeAnswersNoRead(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.by(Message{Kind: Prepare, Ballot: rival(2)}, 2, 3)
	c.by(write(rival(2), 1, "warm", "newer"), 2, 3)
	get := c.ask(1, "get warm")
	c.run()
	c.failed(get, NotDone, LostTerm, 0)
	require.False(t, c.home(1).Leading())
}

func TestR9TheRoundIsSentAfterArrival(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set other v")
	before, _ := c.take(func(m *Message) bool { return m.To == 2 })
	get := c.ask(1, "get warm")
	c.run(1)
	c.deliver(before) // answered after the read arrived, but sent before
	c.take(func(m *Message) bool { return !m.Reply && m.To == 2 })
	c.run(1, 2)
	c.done(set, "+OK\r\n")
	c.open(get)
	c.ask(1, "set another v") // any message of a later round will do
	c.run(1, 2)
	c.done(get, "$2\r\nup\r\n")
}

func TestR9OneRoundIsForAllWhoCameBeforeIt(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	first := c.ask(1, "get warm")
	require.Equal(t, "confirm", c.kinds(2))
	second, third := c.ask(1, "get warm"), c.ask(1, "setnx warm x")
	require.Empty(t, c.kinds(2), "one is on its way: the next one is for both")
	confirm, _ := c.take(func(m *Message) bool { return m.To == 2 })
	c.run(1)
	c.deliver(confirm)
	reply, _ := c.take(func(m *Message) bool { return m.From == 2 })
	c.deliver(reply)
	c.done(first, "$2\r\nup\r\n")
	c.open(second, third)
	require.Equal(t, "confirm", c.kinds(2))
	c.run(1, 2)
	c.done(second, "$2\r\nup\r\n")
	c.done(third, ":0\r\n")
}

func TestR9ALostRoundIsSentAgain(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	first, second := c.ask(1, "get warm"), c.ask(1, "get warm")
	c.lose()
	c.run()
	c.open(first, second)
	c.advance(testTiming.Resend)
	c.run()
	c.done(first, "$2\r\nup\r\n")
	c.done(second, "$2\r\nup\r\n")
}

func TestR9AReadWaitsForTheHead(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set, get := c.ask(1, "set k v"), c.ask(1, "get k")
	accept, _ := c.take(func(m *Message) bool { return m.Kind == Accept && m.To == 2 })
	c.run(1, 2) // the term is confirmed, the head is not
	c.open(set, get)
	c.deliver(accept)
	c.run(1, 2)
	c.done(set, "+OK\r\n")
	c.done(get, "$1\r\nv\r\n")
}

// The head may be of a write that nobody waits for any more, and of which no quorum has heard.
func TestR9AReadWaitsForTheHeadOfAWriteThatWasGivenUp(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.stuck = Accept
	set := c.ask(1, "set k v")
	c.run()
	c.advance(testTiming.Request + 1)
	c.run()
	c.failed(set, Unknown, NoQuorum, 0)
	get := c.ask(1, "get k")
	c.run() // the term is confirmed, the head is not
	c.open(get)
	c.stuck = 0
	c.run()
	c.done(get, "$1\r\nv\r\n")
}

func TestR9WithoutEffectIsARead(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	setnx := c.ask(1, "setnx warm x")
	require.Equal(t, "confirm", c.kinds(3))
	c.run(1)
	c.open(setnx)
	c.run()
	c.done(setnx, ":0\r\n")
}

func TestR9WriteBackIsHeldBeforeTheAnswer(t *testing.T) {
	c := newCluster(t, 3)
	c.put(1, "k", text("minority"), 1)
	get := c.ask(1, "get k")
	c.run(1, 2) // term, sync-read, and an accept that ...
	c.done(get, "$8\r\nminority\r\n")
	require.Equal(t, "minority", c.value(2, "k"), "... reached a quorum")

	c = newCluster(t, 3)
	c.put(1, "k", text("minority"), 1)
	get = c.ask(1, "get k")
	for _, kind := range []Kind{Prepare, SyncRead} {
		c.run(1)
		reply := c.one(kind, 2)
		c.process(1).reply(&reply)
	}
	c.run(1)
	c.open(get)
	require.Equal(t, 1, c.events[WroteBack])
}

func TestStaleSyncReadRepliesDoNotCount(t *testing.T) { // simulator, mode purge, seed 31
	c := newCluster(t, 3)
	c.lead(1)
	first := c.ask(1, "get k")
	stale := c.one(SyncRead, 2)
	c.run(1, 3)
	c.done(first, "$-1\r\n")
	c.lose()

	second := c.ask(1, "get k")
	require.Equal(t, "sync-read sync-read", c.kinds(3), "the key was forgotten: read again in the same term")
	c.put(1, "k", text("v"), 2)
	c.process(1).slow = true
	c.process(1).reply(&stale)
	fresh := c.one(SyncRead, 3)
	c.process(1).reply(&fresh)
	c.open(second)
	require.Equal(t, 1, c.events[SyncReadAgreed], "one fresh reply and a stale one are no quorum")
	fresh = c.one(SyncRead, 2)
	c.process(1).reply(&fresh)
	require.Equal(t, []int{1, 1}, []int{c.events[SyncReadAgreed], c.events[SyncReadDiffered]})
	c.process(1).slow = false
	c.run()
	c.done(second, "$1\r\nv\r\n")
}

func TestR12ExpiryIsAWrite(t *testing.T) {
	c := newCluster(t, 3)
	expired := text("v")
	expired.ExpireAt = c.wall
	c.put(1, "k", expired, 1, 2, 3)
	get := c.ask(1, "get k")
	c.run(1, 2) // nil, though ...
	c.done(get, "$-1\r\n")
	require.Equal(t, "prepare sync-read accept", c.kinds(3))
	for _, id := range []uint16{1, 2} { // ... only with a tombstone at a quorum
		rec := c.process(id).store.records["k"]
		require.False(t, rec.State.Live())
		require.Equal(t, c.home(1).ballot, rec.Version.Ballot)
	}

	t.Run("not before a quorum holds the tombstone", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		set := c.ask(1, "psetex k 10 v")
		c.run()
		c.done(set, "+OK\r\n")
		c.wall += 10
		get := c.ask(1, "get k")
		require.Equal(t, "accept accept", c.kinds(2))
		c.run(1)
		c.open(get)
		c.run(1, 3)
		c.done(get, "$-1\r\n")
	})
	t.Run("a command sees the key as absent and sends no delta", func(t *testing.T) {
		c := newCluster(t, 3)
		st := text(long)
		st.ExpireAt = c.wall
		c.put(1, "k", st, 1, 2, 3)
		add := c.ask(1, "append k v")
		c.run()
		c.done(add, ":1\r\n")
		require.Equal(t, "v", c.value(2, "k"))
		require.Zero(t, c.events[DeltaSent])
	})
}

func TestR14BelowFloorIsNoAcknowledgement(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k v")
	late := c.mail
	c.mail = nil
	del := c.ask(1, "set other v")
	c.run()
	c.done(del, "+OK\r\n")
	del = c.ask(1, "del other")
	c.run()
	c.done(del, ":1\r\n")
	require.Equal(t, 1, c.events[Purged])
	require.Equal(t, c.home(1).seq, c.process(2).store.meta.Floor.Seq)

	for _, m := range late {
		c.deliver(m)
	}
	replies := c.mail
	c.mail = nil
	for i := range replies {
		require.Equal(t, BelowFloor, replies[i].Result)
	}
	c.process(1).reply(&replies[0])
	c.open(set)
	require.Equal(t, 1, c.events[FloorHit])
	c.process(1).reply(&replies[1])
	require.Equal(t, 1, c.events[FloorHit], "the head is above the floor by then")
	c.run(1)
	c.open(set)
	c.run()
	c.done(set, "+OK\r\n")
	require.Equal(t, "v", c.value(2, "k"))
	require.Equal(t, c.home(1).seq, c.process(2).store.records["k"].Version.Seq, "the same state under a new seq")
}

func TestR13PurgeNeedsAllMembers(t *testing.T) {
	purged := func(c *cluster) int { return strings.Count(c.kinds(2), "purge") }
	setUp := func(t *testing.T) *cluster {
		c := newCluster(t, 3)
		c.lead(1)
		c.ask(1, "del warm")
		return c
	}
	t.Run("all", func(t *testing.T) {
		c := setUp(t)
		c.run(1, 2)
		require.Zero(t, purged(c), "a majority is not enough")
		require.Equal(t, 1, c.home(1).keys.len(), "it waits for the last one")
		c.run()
		require.Equal(t, 1, purged(c))
		for id := uint16(1); id <= 3; id++ {
			require.NotContains(t, c.process(id).store.records, "warm")
			require.Equal(t, c.home(1).ballot, c.process(id).store.meta.Floor.Ballot)
		}
		require.Zero(t, c.home(1).keys.len())
		get := c.ask(1, "get warm")
		c.run()
		c.done(get, "$-1\r\n")
	})
	t.Run("exactly the tombstone", func(t *testing.T) {
		c := setUp(t)
		tombstone, _ := c.take(func(m *Message) bool { return m.To == 3 })
		set := c.ask(1, "set warm again") // what 3 acknowledges is newer
		c.run()
		c.done(set, "+OK\r\n")
		c.deliver(tombstone)
		c.run()
		require.Zero(t, purged(c))
		require.Equal(t, "again", c.value(3, "warm"))
	})
	t.Run("not what was before it", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.ask(1, "set k v")
		del := c.ask(1, "del k")
		c.run(1, 2)
		c.done(del, ":1\r\n")
		reply := c.one(Accept, 3) // of the value
		c.process(1).reply(&reply)
		require.Zero(t, purged(c))
		c.run()
		require.Equal(t, 1, purged(c))
	})
	t.Run("for a while", func(t *testing.T) {
		c := setUp(t)
		late := c.lastTo(3)
		c.run(1, 2)
		c.lose()
		c.advance(testTiming.Linger)
		c.advance(1)
		require.Zero(t, c.home(1).keys.len(), "it lingers no longer")
		c.deliver(late)
		c.run()
		require.Zero(t, purged(c))
	})
	t.Run("not in a joint epoch", func(t *testing.T) {
		c := newCluster(t, 3)
		joint := NewConfig(2, []uint16{1, 2, 3}, []uint16{1, 2, 3})
		for id := uint16(1); id <= 3; id++ {
			c.process(id).learn(joint)
		}
		c.lead(1)
		del, get := c.ask(1, "del warm"), c.ask(1, "get warm")
		c.stuck = Confirm
		c.run()
		c.done(del, ":1\r\n")
		c.open(get) // the home still knows the key when the last acknowledgement comes
		require.Zero(t, purged(c))
		require.Contains(t, c.process(2).store.records, "warm")
	})
}

// lastTo returns a copy of what was sent last to a member.
func (c *cluster) lastTo(id uint16) Message {
	var last Message
	for _, m := range c.sent {
		if m.To == id {
			last = m
		}
	}
	return last
}

func TestWhatIsLostIsSentAgain(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set, get, cold := c.ask(1, "set k v"), c.ask(1, "get warm"), c.ask(1, "get cold")
	c.run(1)
	c.lose()
	c.advance(testTiming.Resend - 1)
	require.Empty(t, c.mail)
	c.advance(1)
	c.run(1, 3)
	c.done(set, "+OK\r\n")
	c.done(get, "$2\r\nup\r\n")
	c.done(cold, "$-1\r\n")
	require.False(t, c.home(1).Active())
}
