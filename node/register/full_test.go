package register

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// fill leaves a process without room, which its home knows.
func (c *cluster) fill(id uint16) { c.full[id], c.process(id).store.full = true, true }

func (c *cluster) makeRoom(id uint16) { c.full[id], c.process(id).store.full = false, false }

func TestAFullHomeRefusesWhatItWouldHaveToWrite(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	for _, words := range []string{"set k v", "set expired v", "psetex expired 10 v"} {
		a := c.ask(1, words)
		c.run()
		c.done(a, "+OK\r\n")
	}
	c.advance(100)
	c.sent = nil
	c.fill(1)
	writes := c.process(1).store.writes
	for _, words := range []string{"set k w", "append k w", "append cold w", "get expired", "clear"} {
		a := c.ask(1, words)
		c.run()
		c.failed(a, NotDone, StorageFull, 0)
	}
	for words, reply := range map[string]string{"get k": "$1\r\nv\r\n", "setnx k w": ":0\r\n", "get absent": "$-1\r\n", "del absent": ":0\r\n"} {
		a := c.ask(1, words)
		c.run()
		c.done(a, reply)
	}
	require.Empty(t, c.proposed(2))
	require.Equal(t, writes, c.process(1).store.writes)
	require.Equal(t, 5, c.events[NoRoom])
	require.True(t, c.home(1).Leading())
	require.False(t, c.home(1).Active())

	another := c.force(2, "append k w") // which a proxy asks then
	c.run()
	c.done(another, ":2\r\n")

	t.Run("and knows that it lost the term", func(t *testing.T) {
		c.makeRoom(1)
		c.sent = nil
		c.failed(c.force(1, "append k x"), NotDone, LostTerm, 2)
		require.Empty(t, c.sent, "it would have been refused, and in doubt")
		c.advance(testTiming.Backoff + 1)
		again := c.force(1, "append k x")
		c.run()
		c.done(again, ":3\r\n")
	})
}

func TestAFullHomeWritesNothingBack(t *testing.T) {
	c := newCluster(t, 3)
	c.by(write(record.Ballot{Incarnation: 2}, 1, "k", "v"), 2) // held by one
	c.lead(1)
	c.fill(1)
	read := c.ask(1, "get k")
	c.run(1, 2)
	c.failed(read, NotDone, StorageFull, 0)
}

func TestAFullHomeTakesNoTerm(t *testing.T) {
	c := newCluster(t, 3)
	c.fill(1)
	for _, words := range []string{"get k", "set k v"} {
		a := c.force(1, words)
		c.failed(a, NotDone, StorageFull, 0)
	}
	c.advance(1000)
	require.Empty(t, c.sent)

	t.Run("and points to the one that has it", func(t *testing.T) {
		c.lead(2) // of which the full one has heard
		a := c.ask(1, "get k")
		c.failed(a, NotDone, OtherHome, 2)
	})
}

// TestAHomeThatBecomesFullWithoutKnowing: its own replica does not take what it has sent
// to the others already.
func TestAHomeThatBecomesFullWithoutKnowing(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	first := c.ask(1, "set k v")
	c.run()
	c.done(first, "+OK\r\n")
	c.process(1).store.full = true
	sent := c.ask(1, "append k w")
	require.False(t, c.home(1).Leading(), "its replica does not show what it proposed last")
	c.open(sent)
	c.run()
	c.open(sent)
	read := c.ask(1, "get k")
	c.failed(read, NotDone, LostTerm, 0)

	c.fill(1)
	c.sent = nil
	c.advance(500)
	c.run()
	require.Empty(t, c.sent, "no term is taken for what is in doubt while there is no room")
	c.open(sent)
	c.makeRoom(1)
	c.advance(1)
	c.run()
	c.done(sent, ":2\r\n")
	require.Equal(t, "vw", c.value(3, "k"), "once")

	t.Run("and remains so", func(t *testing.T) {
		c.process(1).store.full = true
		sent := c.ask(1, "append k x")
		c.fill(1)
		c.run()
		c.advance(testTiming.Request + 1)
		c.failed(sent, Unknown, NoQuorum, 0)
	})
}

func TestAFullHomePurgesNothing(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	deleted := c.ask(1, "set k v")
	c.run()
	c.done(deleted, "+OK\r\n")
	c.ask(1, "del k")
	c.fill(1)
	c.run()
	require.True(t, c.home(1).Leading())
	require.Zero(t, c.events[Purged])
	for id := uint16(1); id <= 3; id++ {
		require.Contains(t, c.process(id).store.records, "k")
	}
	c.advance(testTiming.Linger + 1)
	require.False(t, c.home(1).Active())
}

// TestWhatIsNotWrittenIsNotPromised: a write that there was no room for has changed
// nothing, in memory neither.
func TestWhatIsNotWrittenIsNotPromised(t *testing.T) {
	b := rival(2)
	for name, m := range map[string]Message{
		"epoch":   {Kind: Confirm, Ballot: b, Epoch: 7},
		"prepare": {Kind: Prepare, Ballot: b},
		"read":    {Kind: SyncRead, Ballot: b, Change: record.Change{Key: []byte("k")}},
		"accept":  write(b, 1, "k", "v"),
		"clear":   {Kind: Clear, Ballot: b, Version: record.Version{Ballot: b, Seq: 1}},
		"purge":   {Kind: Purge, Ballot: b, Version: record.Version{Ballot: record.Ballot{Counter: 1}, Seq: 9}, Change: record.Change{Key: []byte("dead")}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 1)
			c.by(Message{Kind: Accept, Ballot: record.Ballot{Counter: 1}, Version: record.Version{Seq: 9}, Change: record.Change{Key: []byte("dead")}}, 1)
			p := c.process(1)
			before := p.acceptor.Meta()
			m.Epoch, m.Version.Ballot = max(1, m.Epoch), m.Ballot
			if m.Kind == Purge {
				m.Version.Ballot = record.Ballot{Counter: 1}
			}
			p.store.full = true
			var reply Message
			require.ErrorIs(t, execute(p.acceptor, &m, &reply), ErrNoRoom)
			require.Equal(t, before, p.acceptor.Meta())

			p.store.full = false // the same again
			require.NoError(t, execute(p.acceptor, &m, &reply))
			require.Equal(t, OK, reply.Result)
			require.NotEqual(t, before, p.store.meta)
			require.Equal(t, p.store.meta, p.acceptor.Meta())
		})
	}
	t.Run("what needs no write is answered", func(t *testing.T) {
		c := newCluster(t, 1)
		c.by(write(b, 1, "k", "v"), 1)
		p := c.process(1)
		p.store.full = true
		old := record.Ballot{Counter: 1}
		for want, m := range map[Result][]Message{
			OK:          {write(b, 1, "k", "v"), {Kind: Confirm, Ballot: b}, {Kind: SyncRead, Ballot: b, Change: record.Change{Key: []byte("k")}}},
			StaleBallot: {write(old, 1, "k", "v"), {Kind: Prepare, Ballot: old}, {Kind: Confirm, Ballot: old}},
		} {
			for _, m := range m {
				m.Epoch, m.Version.Ballot = 1, m.Ballot
				var reply Message
				require.NoError(t, execute(p.acceptor, &m, &reply), m.Kind)
				require.Equal(t, want, reply.Result, m.Kind)
			}
		}
	})
}
