package register

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestKeysWaitForAnOpenBatch: a new home does nothing before it knows which keys that has.
func TestKeysWaitForAnOpenBatch(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.recorded(1, 2)
	set := c.force(2, "set b 5") // which needs to know nothing of b
	c.run(2, 3)
	c.done(set, "+OK\r\n")
	require.Equal(t, "1", c.value(3, "a"))
	require.Equal(t, "5", c.value(3, "b"))
}

// TestARecordIsNotWrittenAgainAsItIs: it names writes of the term in which it was written.
func TestARecordIsNotWrittenAgainAsItIs(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.recorded(1, 2)
	c.sent = nil
	get := c.force(2, "get "+string(BatchKey))
	c.run(2, 3)
	require.Len(t, get.answers, 1)
	for _, m := range c.sent {
		if m.Kind == Accept && string(m.Key) == string(BatchKey) {
			b, err := parseBatch(m.State)
			require.NoError(t, err)
			for i, k := range b.keys {
				require.Equal(t, m.Version.Seq+uint64(i)+1, k.seq)
			}
		}
	}
}

// TestARecordStaysOpen until a quorum holds what it says of its keys.
func TestARecordStaysOpen(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	batch := c.together(1, "a", "b", "1")
	c.propose()
	toOne := func(key string) (Message, bool) {
		return c.take(func(m *Message) bool { return !m.Reply && m.Kind == Accept && m.To == 2 && string(m.Key) == key })
	}
	record, found := toOne(string(BatchKey))
	require.True(t, found)
	c.deliver(record)
	c.propose()
	c.done(batch, "1")
	for _, key := range []string{"a", string(BatchKey)} {
		m, found := toOne(key)
		require.Equal(t, key == "a", found, "closed too early")
		if found {
			c.deliver(m)
		}
		c.propose()
	}
	b, found := toOne("b")
	require.True(t, found)
	c.deliver(b)
	c.propose()
	_, found = toOne(string(BatchKey))
	require.True(t, found)
}

// TestABatchThatWasDroppedIsDoneAgain: it was not included (R11).
func TestABatchThatWasDroppedIsDoneAgain(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.doneAgain(c.recorded(1))
}

// doneAgain has another home write a key of a batch that only process 1 has recorded, and wants process 1, when it leads again, to do the batch on that.
func (c *cluster) doneAgain(batch *asked) {
	helper(c.t)
	set := c.force(2, "set a 9")
	c.run(2, 3)
	c.done(set, "+OK\r\n")
	c.process(1).stepDown()
	for range 2 {
		c.advance(testTiming.Backoff + 1)
		c.run()
	}
	c.done(batch, "91")
	require.Equal(c.t, "91", c.value(3, "b"))
}

// TestABatchThatWasDroppedIsDoneAgainThoughItsRecordWasRepaired: the record has a later version then than the batch was written in.
func TestABatchThatWasDroppedIsDoneAgainThoughItsRecordWasRepaired(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	batch := c.recorded(1)
	again := c.ask(1, "again "+string(BatchKey))
	c.propose()
	c.lose()
	c.process(1).loop = nil
	c.doneAgain(batch)
	require.Len(t, again.answers, 1)
}

// appended lets process 1 append something to a key, at its own replica and those that are named, and gives up its term then.
func appended(t *testing.T, reached ...uint16) (c *cluster, doubt *asked) {
	c = newCluster(t, 3)
	c.lead(1)
	doubt = c.ask(1, "append a 0")
	c.propose()
	for _, id := range reached {
		c.one(Accept, id)
	}
	c.lose()
	c.process(1).loop = nil
	c.process(1).stepDown()
	return c, doubt
}

// TestDoubtsWaitForABatch: to decide on one is to write the key, and so to drop a batch that was chosen.
func TestDoubtsWaitForABatch(t *testing.T) {
	c, doubt := appended(t, 2, 3)
	c.recorded(2, 3)
	for range 2 {
		c.advance(testTiming.Backoff + 1)
		c.run(1, 3)
	}
	require.Equal(t, 1, c.events[BatchCompleted])
	c.done(doubt, ":1\r\n")
	require.Equal(t, "01", c.value(3, "b"))
}

// TestWhatABatchDoesNotKnowOfHasNoEffect: it was not chosen, and is done again after the batch.
func TestWhatABatchDoesNotKnowOfHasNoEffect(t *testing.T) {
	c, doubt := appended(t)
	c.together(2, "a", "b", "1")
	c.stuck = Accept
	c.run(2, 3) // which know nothing of the first one
	c.stuck = 0
	c.one(Accept, 3)
	c.lose()
	c.process(2).loop = nil
	for range 3 { // it is refused first
		c.advance(testTiming.Acquire + 1)
		c.run(1, 3)
	}
	c.done(doubt, ":2\r\n")
	require.Equal(t, "10", c.value(3, "a"))
	require.Equal(t, "1", c.value(3, "b"))
}

// TestAKeyIsNotWrittenAgainBeforeItsBatch, not even for one whose floor is too high (R14): it would have the batch's seq, and not its value.
func TestAKeyIsNotWrittenAgainBeforeItsBatch(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	first := c.ask(1, "append a 0")
	c.run(1, 2)
	c.done(first, ":1\r\n")
	batch := c.together(1, "a", "b", "1")
	c.stuck = Accept
	c.run(1, 2)
	c.open(batch)
	p := c.process(3)
	p.store.meta.Promised = c.home(1).ballot
	p.store.meta.Floor = record.Version{Ballot: c.home(1).ballot, Seq: 99}
	p.start(p.home.config, 1003)
	m, found := c.take(func(m *Message) bool { return !m.Reply && m.Kind == Accept && m.To == 3 && string(m.Key) == "a" })
	require.True(t, found)
	c.sent = nil
	c.deliver(m)
	c.run()
	require.Equal(t, "", c.kinds(2))
	c.stuck = 0
	c.run()
	c.done(batch, "01")
	require.Equal(t, "01", c.value(2, "a"))
}

// TestABatchDeletesWhatHasExpired before it takes it for absent (R12).
func TestABatchDeletesWhatHasExpired(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "psetex a 10 v")
	c.run()
	c.done(set, "+OK\r\n")
	c.wall += 20
	read := c.both(1)
	c.propose()
	c.open(read)
	c.run()
	c.done(read, " ")
	require.False(t, c.process(2).store.records["a"].State.Live())
}
