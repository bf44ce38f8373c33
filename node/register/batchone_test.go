package register

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// appendTo gives a home a batch of one key, which appends to it, and replies what it holds then.
func (c *cluster) appendTo(id uint16, key, suffix string) *asked {
	return c.batch(id, []string{key}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		value := string(held[0].State.Value) + suffix
		return append(dst, value...), []record.Effect{{Kind: record.Replaced, State: text(value)}}, nil
	})
}

// TestABatchOfOneKey is a write of that key, or a read.
func TestABatchOfOneKey(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.put(5, "a", text("0"), 1, 2, 3)
	batch := c.appendTo(1, "a", "1")
	c.propose()
	c.open(batch)
	c.run()
	c.done(batch, "01")
	require.Equal(t, []string{"a=01"}, c.proposed(2))
	for id := uint16(1); id <= 3; id++ {
		require.Equal(t, "01", c.value(id, "a"))
		require.NotContains(t, c.process(id).store.records, string(BatchKey))
	}
	require.Equal(t, 1, c.events[BatchOfOne])

	read := c.batch(1, []string{"a"}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		return append(dst, held[0].State.Value...), make([]record.Effect, 1), nil
	})
	c.run()
	c.done(read, "01")
	require.Len(t, c.proposed(2), 1)
	require.False(t, c.home(1).Active())
}

// TestABatchOfOneKeyWaits for what is in flight there, and several that wait are one write together.
func TestABatchOfOneKeyWaits(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set a 0")
	c.propose()
	first := c.appendTo(1, "a", "1")
	c.propose()
	require.Equal(t, []string{"a=0"}, c.proposed(2), "the head is not chosen yet")
	c.run()
	c.done(set, "+OK\r\n")
	c.done(first, "01")
	require.Equal(t, []string{"a=0", "a=01"}, c.proposed(2))

	second := c.appendTo(1, "a", "2")
	c.propose()
	others := []*asked{c.appendTo(1, "a", "3"), c.appendTo(1, "a", "4"), c.ask(1, "append a 5")}
	c.run()
	c.done(second, "012")
	c.done(others[0], "0123")
	c.done(others[1], "01234")
	c.done(others[2], ":6\r\n")
	require.Equal(t, [2]int{1, 2}, [2]int{c.events[BatchRecorded], c.events[BatchOfOne]})
	require.Equal(t, "012345", c.value(3, "a"))
}

// TestABatchOfOneKeyGoesOnBesideOthers, whose record is being written.
func TestABatchOfOneKeyGoesOnBesideOthers(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.put(5, "c", text("0"), 1, 2, 3)
	c.together(1, "a", "b", "1")
	c.propose()
	c.appendTo(1, "c", "1")
	c.appendTo(1, "a", "2")
	c.propose()
	require.Equal(t, "c=01", c.proposed(2)[1])
	require.Len(t, c.proposed(2), 2, "a is of the record")
	c.run()
	require.Equal(t, "12", c.value(3, "a"))
}

// TestABatchOfOneKeyIsADelta, as a command is: of what has expired there is none, for replicas have that still.
func TestABatchOfOneKeyIsADelta(t *testing.T) {
	long := strings.Repeat("0", 1000)
	for _, expired := range []bool{false, true} {
		c := newCluster(t, 3)
		c.lead(1)
		c.ask(1, "psetex a 10 "+long)
		c.run()
		c.sent = nil
		want := long + "x"
		if expired {
			c.wall, want = c.wall+20, "x"
		}
		batch := c.batch(1, []string{"a"}, func(dst []byte, held []record.Record, now int64) ([]byte, []record.Effect, error) {
			st := held[0].State
			if !st.Live() {
				st = record.State{}
			}
			dst, effect := datatype.Execute(dst, st, commandOf(t, "append a x"), now)
			if expired { // whatever the command says of it
				effect.Kind, effect.Delta = record.Changed, []byte{0}
			}
			return dst, []record.Effect{effect}, nil
		})
		c.run()
		require.Len(t, batch.answers, 1)
		require.Equal(t, !expired, c.proposed(2)[0] == "a=Δ")
		for id := uint16(1); id <= 3; id++ {
			require.Equal(t, want, c.value(id, "a"))
		}
	}
}

// largeKey has process 1 lead the slot, of which a is a large hash.
func largeKey(t *testing.T) *cluster {
	c := newCluster(t, 3)
	c.lead(1)
	words := "hset a"
	for i := range 3000 {
		words += fmt.Sprint(" field", i, " value")
	}
	c.ask(1, words)
	c.run()
	c.sent = nil
	return c
}

// adds gives process 1 a batch that adds a field to the first of some keys, and replies how many it has added.
func (c *cluster) adds(field string, keys ...string) *asked {
	return c.batch(1, keys, func(dst []byte, held []record.Record, now int64) ([]byte, []record.Effect, error) {
		effects := make([]record.Effect, len(held))
		dst, effects[0] = datatype.Execute(dst, held[0].State, commandOf(c.t, "hset a "+field+" x"), now)
		return dst, effects, nil
	})
}

// TestABatchOfALargeKeyWaitsForOneOfSeveralKeys that came before it, and whose record is being put together.
func TestABatchOfALargeKeyWaitsForOneOfSeveralKeys(t *testing.T) {
	c := largeKey(t)
	c.ask(1, "hset a first x")
	c.propose()
	several, one := c.adds("another", "a", "b"), c.adds("another", "a")
	c.run()
	c.done(several, ":1\r\n")
	c.done(one, ":0\r\n")
}

// TestBatchesOfALargeKeyAreDeltas, one after the other, also if several wait.
func TestBatchesOfALargeKeyAreDeltas(t *testing.T) {
	c := largeKey(t)
	var batches []*asked
	for i := range 3 {
		batches = append(batches, c.adds(fmt.Sprint("another", i), "a"))
	}
	c.run()
	for _, batch := range batches {
		c.done(batch, ":1\r\n")
	}
	require.Equal(t, []string{"a=Δ", "a=Δ", "a=Δ"}, c.proposed(2))
	get := c.ask(1, "hget a another2")
	c.run()
	c.done(get, "$1\r\nx\r\n")
}

// TestNoBatchOfOneKeyComesBetweenACensusAndItsRecord: it would make a key that the census does not count.
func TestNoBatchOfOneKeyComesBetweenACensusAndItsRecord(t *testing.T) {
	c := written(t, "k", "y")
	c.together(1, "a", "b", "1")
	c.ask(1, "del "+of("k"))
	census := c.census(1, c.home(1).ballot, "y")
	c.propose()
	one := c.appendTo(1, of("k"), "1") // which waits for the deletion to be chosen
	for {
		m, ok := c.take(func(m *Message) bool { return m.Kind == Accept && string(m.Key) == of("k") })
		if !ok {
			break
		}
		c.deliver(m)
	}
	c.run()
	c.done(census, "1")
	c.done(one, "1")
	records := c.process(1).store.records
	require.Less(t, records[of("y")].Version.Seq, records[of("k")].Version.Seq)
}

// triedAlone has process 1 write a batch of one key nowhere but to its own replica, which is slow, and those that are named, and lose its term.
func (c *cluster) triedAlone(key string, reached ...uint16) *asked {
	helper(c.t)
	c.lead(1)
	c.process(1).slow = true
	batch := c.appendTo(1, key, "1")
	c.propose()
	for _, id := range reached {
		c.one(Accept, id)
	}
	c.lose()
	c.process(1).loop = nil
	c.depose()
	c.open(batch)
	return batch
}

// TestABatchOfOneKeyInDoubt is included, or done again, as what is known of that key says.
func TestABatchOfOneKeyInDoubt(t *testing.T) {
	for _, reached := range [][]uint16{{2}, nil} {
		c := newCluster(t, 3)
		c.put(5, "a", text("0"), 1, 2, 3)
		batch := c.triedAlone("a", reached...)
		c.advance(testTiming.Backoff + 1)
		c.run()
		c.done(batch, "01")
		require.Equal(t, "01", c.value(3, "a"), "once")
		require.Equal(t, len(reached), c.events[ResolvedIncluded])
	}
}

// TestABatchOfOneKeyThatWasTriedStaysWhereItWas: the version that it may have got at its key says nothing at the record.
func TestABatchOfOneKeyThatWasTriedStaysWhereItWas(t *testing.T) {
	c := newCluster(t, 3)
	c.put(5, "a", text("0"), 1, 2, 3)
	batch := c.triedAlone("a")
	require.Equal(t, 1, c.events[BatchOfOne])
	c.mono += testTiming.Backoff + 1
	others := []*asked{c.appendTo(1, "a", "2"), c.appendTo(1, "a", "3")}
	c.run()
	c.done(batch, "01")
	c.done(others[0], "012")
	c.done(others[1], "0123")
	require.Equal(t, [2]int{1, 2}, [2]int{c.events[BatchRecorded], c.events[BatchOfOne]})
}

// TestABatchOfOneKeyThatReadsSharesTheFateOfTheWriteBehindIt (R11): what it found is the answer if that is included, and it is executed again before it if not.
func TestABatchOfOneKeyThatReadsSharesTheFateOfTheWriteBehindIt(t *testing.T) {
	for _, reached := range [][]uint16{{2}, nil} {
		c := newCluster(t, 3)
		c.lead(1)
		c.ask(1, "set a 0")
		c.run()
		c.process(1).slow = true
		batch := c.batch(1, []string{"a"}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
			return append(dst, held[0].State.Value...), make([]record.Effect, 1), nil
		})
		add := c.ask(1, "append a 1")
		for _, id := range reached {
			c.one(Accept, id)
		}
		c.lose()
		c.process(1).loop = nil
		c.depose()
		c.open(batch, add)
		c.advance(testTiming.Backoff + 1)
		c.run()
		c.done(batch, "0")
		c.done(add, ":2\r\n")
		require.Equal(t, "01", c.value(3, "a"))
	}
}

// TestARecordedBatchOfOneKeyStaysWhereItWas: the version that it may have got at the record says nothing at its key. The first batch of a term is recorded that is on a key of a database that is placed
// together (B12).
func TestARecordedBatchOfOneKeyStaysWhereItWas(t *testing.T) {
	c := newCluster(t, 3)
	c.put(5, of("a"), text("0"), 1, 2, 3)
	batch := c.triedAlone(of("a"))
	require.Equal(t, [2]int{1, 0}, [2]int{c.events[BatchRecorded], c.events[BatchOfOne]})
	c.advance(testTiming.Backoff + 1)
	c.run()
	c.done(batch, "01")
	require.Equal(t, [2]int{2, 0}, [2]int{c.events[BatchRecorded], c.events[BatchOfOne]})
	next := c.appendTo(1, of("a"), "2")
	c.run()
	c.done(next, "012")
	require.Equal(t, [2]int{2, 1}, [2]int{c.events[BatchRecorded], c.events[BatchOfOne]})
}
