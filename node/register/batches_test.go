package register

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// together gives a home a batch that appends to a key and writes what came of it to another one.
func (c *cluster) together(id uint16, from, to, suffix string) *asked {
	return c.batch(id, []string{from, to}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		value := string(held[0].State.Value) + suffix
		effect := record.Effect{Kind: record.Replaced, State: text(value)}
		return append(dst, value...), []record.Effect{effect, effect}, nil
	})
}

// both reads two keys.
func (c *cluster) both(id uint16) *asked {
	return c.batch(id, []string{"a", "b"}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		return append(append(append(dst, held[0].State.Value...), ' '), held[1].State.Value...), make([]record.Effect, 2), nil
	})
}

// derive writes to a key what another one holds, which it only reads.
func (c *cluster) derive(id uint16, from, to string) *asked {
	return c.batch(id, []string{from, to}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		return append(dst, held[0].State.Value...), []record.Effect{{}, {Kind: record.Replaced, State: text("of " + string(held[0].State.Value))}}, nil
	})
}

func (c *cluster) batch(id uint16, keys []string, run Run) *asked {
	a := &asked{command: "batch"}
	var names [][]byte
	for _, key := range keys {
		names = append(names, []byte(key))
	}
	c.process(id).step(Input{Happening: Asked, Request: NewBatch(names, run, a, 0, c.mono), Except: AllOthers})
	return a
}

// recorded has a home write the record of a batch to some of the other members, and forgets everything else that is on its way.
func (c *cluster) recorded(id uint16, reached ...uint16) *asked {
	helper(c.t)
	a := c.together(id, "a", "b", "1")
	c.propose()
	for _, other := range reached {
		c.one(Accept, other)
	}
	c.lose()
	c.process(id).loop = nil
	return a
}

// TestABatch is written to its record, and then to its keys, which others wait for.
func TestABatch(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	batch := c.together(1, "a", "b", "1")
	c.propose()
	other, get := c.ask(1, "append b 2"), c.ask(1, "get a")
	require.Equal(t, "sync-read sync-read accept", c.kinds(2), "nothing but the record")
	c.run(1, 2)
	c.done(batch, "1")
	c.done(other, ":2\r\n")
	c.done(get, "$1\r\n1\r\n")
	c.run()
	for id := uint16(1); id <= 3; id++ {
		require.Equal(t, "1", c.value(id, "a"))
		require.Equal(t, "12", c.value(id, "b"))
		batched, err := c.process(id).acceptor.Batched([]byte("b"))
		require.NoError(t, err)
		require.False(t, batched, "it is closed")
	}
	require.False(t, c.home(1).Active())

	c.sent = nil
	read := c.both(1)
	c.run()
	c.done(read, "1 12")
	require.NotContains(t, c.kinds(2), "accept")
}

// TestABatchWaitsForWhatIsInFlight, and what came later waits for the batch.
func TestABatchWaitsForWhatIsInFlight(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.put(5, "a", text("0"), 1, 2, 3)
	first := c.ask(1, "append a 1")
	c.propose()
	batch, last := c.together(1, "a", "b", "2"), c.ask(1, "append a 3")
	c.propose()
	c.open(first, batch, last)
	require.NotContains(t, c.process(1).store.records, string(BatchKey))
	c.run()
	c.done(first, ":2\r\n")
	c.done(batch, "012")
	c.done(last, ":4\r\n")
	require.Equal(t, "012", c.value(3, "b"))
	require.Equal(t, "0123", c.value(3, "a"))
}

// TestAnOpenBatchIsNoAnswer: who knows of one does not answer for its keys.
func TestAnOpenBatchIsNoAnswer(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.recorded(1, 2)
	for _, key := range []string{"a", "b", "warm"} {
		batched, err := c.process(2).acceptor.Batched([]byte(key))
		require.NoError(t, err)
		require.Equal(t, key != "warm", batched)
	}
	p := c.process(2)
	p.start(p.home.config, 1002)
	batched, err := p.acceptor.Batched([]byte("a"))
	require.NoError(t, err)
	require.True(t, batched, "also after a restart")
}

// TestABatchIsCompleted by the next home, whether it was chosen or not, wherever it was written.
func TestABatchIsCompleted(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.recorded(1, 2)
	get := c.force(2, "get b")
	c.run(2, 3)
	c.done(get, "$1\r\n1\r\n")
	require.Equal(t, 1, c.events[BatchCompleted])
	require.Equal(t, "1", c.value(3, "a"))
}

// TestABatchIsNotDoneTwice: what was written to its keys since stays.
func TestABatchIsNotDoneTwice(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	batch := c.together(1, "a", "b", "1")
	c.propose()
	c.one(Accept, 2)
	c.run(1)
	c.process(1).loop = nil
	c.lose()
	record := c.process(2).store.records[string(BatchKey)].Version
	c.by(write(record.Ballot, record.Seq+1, "a", "1"), 2)
	c.by(write(record.Ballot, record.Seq+5, "a", "1 and more"), 2)
	c.open(batch)
	get := c.force(2, "get a")
	c.run(2, 3)
	c.done(get, "$10\r\n1 and more\r\n")
	require.Equal(t, "1", c.value(3, "b"))
	require.Equal(t, "1 and more", c.value(3, "a"))
}

// TestABatchIsDropped if a term has written since that knew nothing of it, even to a key that it only read, or has purged.
func TestABatchIsDropped(t *testing.T) {
	for _, derived := range []bool{false, true} {
		c := newCluster(t, 3)
		c.lead(1)
		c.put(5, "a", text("0"), 1, 2, 3)
		if derived {
			c.derive(1, "a", "b")
			c.propose()
			c.lose()
			c.process(1).loop = nil
		} else {
			c.recorded(1)
		}
		set := c.force(2, "set a 9") // 2 and 3 know nothing of the batch
		c.run(2, 3)
		c.done(set, "+OK\r\n")
		get := c.force(3, "get b")
		c.run(1, 3)
		c.done(get, "$-1\r\n")
		require.Equal(t, 1, c.events[BatchDropped])
	}

	c := newCluster(t, 3)
	c.lead(1)
	c.recorded(1)
	for id := uint16(2); id <= 3; id++ {
		meta := &c.process(id).store.meta
		meta.Promised = rival(2)
		meta.Floor = record.Version{Ballot: rival(2), Seq: 1}
		c.process(id).start(c.home(id).config, 1000+uint64(id))
	}
	get := c.force(3, "get b")
	c.run(1, 3)
	c.done(get, "$-1\r\n")
	require.Equal(t, 1, c.events[BatchDropped])
}

// TestNothingIsPurgedWhileABatchIsOpen: that the batch has been done could not be told any more.
func TestNothingIsPurgedWhileABatchIsOpen(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.put(5, "k", text("v"), 1, 2, 3)
	batch := c.together(1, "a", "b", "1")
	del := c.ask(1, "del k")
	c.propose()
	for {
		m, ok := c.take(func(m *Message) bool { return !m.Reply && m.Kind == Accept && string(m.Key) == "k" })
		if !ok {
			break
		}
		c.deliver(m)
	}
	c.stuck = Accept
	c.run()
	c.done(del, ":1\r\n")
	c.open(batch)
	require.NotContains(t, c.kinds(2), "purge")
	c.stuck = 0
	c.run()
	c.done(batch, "1")
	require.Contains(t, c.kinds(2), "purge")
	require.NotContains(t, c.process(3).store.records, "k")
}

// TestABatchInDoubt is included, or done again.
func TestABatchInDoubt(t *testing.T) {
	for _, reached := range [][]uint16{{2}, nil} {
		c := newCluster(t, 3)
		c.lead(1)
		batch := c.recorded(1, reached...)
		if reached == nil {
			for id := range c.processes { // not even here
				delete(c.processes[id].store.records, string(BatchKey))
			}
		}
		c.process(1).stepDown()
		c.open(batch)
		c.advance(testTiming.Backoff + 1)
		c.run()
		c.done(batch, "1")
		for id := uint16(1); id <= 3; id++ {
			require.Equal(t, "1", c.value(id, "a"))
			require.Equal(t, "1", c.value(id, "b"))
		}
	}
}

// TestABatchThatAnotherHomeCompleted is known to be included, also when that one has written others since.
func TestABatchThatAnotherHomeCompleted(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	batch := c.recorded(1, 2)
	c.process(1).stepDown()
	again := c.together(2, "a", "b", "2")
	c.run(2, 3)
	c.done(again, "12")
	c.open(batch)
	for range 2 { // it learns of the other one's term first
		c.advance(testTiming.Backoff + 1)
		c.run()
	}
	c.done(batch, "1")
	require.Equal(t, "12", c.value(1, "a"))
}

// TestBatchesShareARecord: those that waited for a key are evaluated one after the other, each on what those before it leave, and are written at once.
func TestBatchesShareARecord(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	first := c.together(1, "a", "b", "1")
	second, third, other := c.together(1, "a", "b", "2"), c.together(1, "b", "a", "3"), c.derive(1, "c", "d")
	read, set, last := c.both(1), c.ask(1, "append a 4"), c.together(1, "a", "b", "5")
	c.run()
	c.done(first, "1")
	c.done(second, "12")
	c.done(third, "123")
	c.done(other, "")
	c.done(read, "123 123")
	c.done(set, ":4\r\n")
	c.done(last, "12345")
	require.Equal(t, 3, c.events[BatchRecorded], "the first, those that waited for it, and the one behind a command")
	for id := uint16(1); id <= 3; id++ {
		require.Equal(t, "12345", c.value(id, "a"))
		require.Equal(t, "12345", c.value(id, "b"))
		require.Equal(t, "of ", c.value(id, "d"))
	}
	require.False(t, c.home(1).Active())
}

// TestAReadBehindABatchWaitsForIt: what others of its record have written is not there before that is.
func TestAReadBehindABatchWaitsForIt(t *testing.T) {
	c := newCluster(t, 3)
	c.stuck = Accept
	write, read := c.together(1, "a", "b", "1"), c.both(1)
	c.run()
	c.open(write, read)
	c.stuck = 0
	c.run()
	c.done(write, "1")
	c.done(read, "1 1")
	require.Equal(t, 1, c.events[BatchRecorded])
}

// TestTheOutcomeOfAReadIsNeverUnknown: when the fate of its record is not known it may be repeated, but not so what writes, whatever the two have read.
func TestTheOutcomeOfAReadIsNeverUnknown(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.stuck = Accept
	write, read := c.together(1, "a", "b", "1"), c.both(1)
	c.run()
	c.open(write, read)
	c.stuck = 0
	c.lose()
	c.process(1).stepDown()
	again := c.together(2, "a", "b", "2")
	c.run(2, 3)
	c.done(again, "2")
	for range 2 { // it learns of the other one's term first
		c.advance(testTiming.Backoff + 1)
		c.run()
	}
	c.failed(write, Unknown, LostTerm, 0)
	c.failed(read, NotDone, LostTerm, 0)
}

// TestTheOutcomeOfAReadThatDeletes: what has expired is deleted before a read is answered, which is no effect of the read.
func TestTheOutcomeOfAReadThatDeletes(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "psetex a 10 v")
	c.run()
	c.done(set, "+OK\r\n")
	c.wall += 20
	read := c.both(1)
	c.propose()
	c.open(read)
	require.Equal(t, 1, c.events[BatchRecorded])
	c.process(1).store.failed = errors.New("broken")
	c.ask(1, "set cold v")
	c.failed(read, NotDone, StorageFailed, 0)
}

// TestABatchThatIsAlone is told the versions that its keys have, so it waits for those that write them: what it is told is remembered, and a later write is above it.
func TestABatchThatIsAlone(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.together(1, "a", "b", "1")
	c.together(1, "a", "b", "2")
	watch := &asked{command: "watch"}
	r := NewBatch([][]byte{[]byte("a")}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		require.Less(t, held[0].Version.Seq, uint64(math.MaxUint64), "as whoever writes it in this group would be told")
		return append(dst, held[0].State.Value...), make([]record.Effect, 1), nil
	}, watch, 0, c.mono)
	r.Alone()
	c.process(1).step(Input{Happening: Asked, Request: r, Except: AllOthers})
	c.run()
	c.done(watch, "12")
}
