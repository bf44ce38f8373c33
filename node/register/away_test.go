package register

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// long gives a home a batch that is evaluated elsewhere: it appends to a key and writes what came of it to another one.
func (c *cluster) long(id uint16, from, to, suffix string) *asked {
	return c.batch(id, []string{from, to}, func([]byte, []record.Record, int64) ([]byte, []record.Effect, error) {
		return nil, nil, &Long{With: func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
			value := string(held[0].State.Value) + suffix
			effect := record.Effect{Kind: record.Replaced, State: text(value)}
			return append(dst, value...), []record.Effect{effect, effect}, nil
		}}
	})
}

// back runs the first batch that is evaluated elsewhere for a home, and tells that.
func (c *cluster) back(id uint16) {
	helper(c.t)
	p := c.process(id)
	require.NotEmpty(c.t, p.away)
	e := p.away[0]
	p.away = p.away[1:]
	e.Run()
	p.step(Input{Happening: Evaluated, Evaluation: e})
}

// TestALongBatchHoldsUpItsKeysOnly: the slot goes on while it is evaluated.
func TestALongBatchHoldsUpItsKeysOnly(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.put(5, "a", text("0"), 1, 2, 3)
	batch := c.long(1, "a", "b", "1")
	c.run()
	last, beside := c.ask(1, "append a 3"), c.together(1, "d", "e", "2")
	c.run()
	c.open(batch, last)
	c.done(beside, "2")
	c.back(1)
	c.run()
	c.done(batch, "01")
	c.done(last, ":3\r\n")
	require.Equal(t, "013", c.value(3, "a"))
	require.Equal(t, "01", c.value(3, "b"))
	require.False(t, c.home(1).Active())
	require.Equal(t, 1, c.events[BatchAway])
}

// TestALongBatchIsEvaluatedAgainIfAKeyWasWritten meanwhile, as by a clear, which waits for nobody.
func TestALongBatchIsEvaluatedAgainIfAKeyWasWritten(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.put(5, "a", text("0"), 1, 2, 3)
	batch := c.long(1, "a", "b", "1")
	c.run()
	flush := c.ask(1, "clear")
	c.run()
	c.done(flush, "+OK\r\n")
	c.back(1)
	c.run()
	c.open(batch)
	c.back(1)
	c.run()
	c.done(batch, "1")
	require.Equal(t, "1", c.value(2, "a"))
}

// TestALongBatchOfALostTermIsDropped: its request is tried elsewhere, and what comes of the evaluation means nothing.
func TestALongBatchOfALostTermIsDropped(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	batch := c.long(1, "a", "b", "1")
	c.run()
	e := c.process(1).away[0]
	require.False(t, e.Dropped())
	c.process(1).stepDown()
	require.Len(t, batch.answers, 1)
	require.Equal(t, NotDone, batch.answers[0].Outcome)
	require.True(t, e.Dropped())
	c.back(1)
	c.advance(testTiming.Backoff + 1)
	again := c.long(1, "a", "b", "2")
	c.run()
	c.process(1).step(Input{Happening: Evaluated, Evaluation: e})
	c.run()
	c.open(again)
	c.back(1)
	c.run()
	c.done(again, "2")
}

// TestALongBatchMayTakeTooLong: then nothing of it is done.
func TestALongBatchMayTakeTooLong(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	batch := c.long(1, "a", "b", "1")
	c.run()
	e := c.process(1).away[0]
	c.advance(testTiming.Request + 1)
	c.failed(batch, NotDone, NoQuorum, 0)
	require.True(t, e.Dropped())
	c.back(1)
	c.run()
	require.Empty(t, c.value(2, "a"))
	require.False(t, c.home(1).Active())
}

// TestALongBatchDoesNotJoinWhatItReads: what others write to its keys is not there yet, so it is evaluated when that is written.
func TestALongBatchDoesNotJoinWhatItReads(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	before := c.together(1, "x", "y", "0") // whose record both wait for
	c.propose()
	first, second := c.together(1, "a", "b", "1"), c.long(1, "a", "d", "2")
	c.propose()
	c.run()
	c.done(before, "0")
	c.done(first, "1")
	c.open(second)
	c.back(1)
	c.run()
	c.done(second, "12")
	require.Equal(t, "12", c.value(2, "d"))
}

// TestALongBatchThatCannotBeRead ends the home; but what a rival has written over is no fault of the store.
func TestALongBatchThatCannotBeRead(t *testing.T) {
	for _, deposed := range []bool{false, true} {
		c := newCluster(t, 3)
		c.lead(1)
		batch := c.batch(1, []string{"a", "b"}, func([]byte, []record.Record, int64) ([]byte, []record.Effect, error) {
			return nil, nil, &Long{With: func([]byte, []record.Record, int64) ([]byte, []record.Effect, error) {
				return nil, nil, errors.New("a part is not there")
			}}
		})
		c.run()
		if deposed {
			c.by(Message{Kind: Prepare, Ballot: rival(2)}, 1)
		}
		c.back(1)
		require.Len(t, batch.answers, 1)
		require.Equal(t, NotDone, batch.answers[0].Outcome)
		if deposed {
			require.NoError(t, c.home(1).Err())
		} else {
			require.ErrorContains(t, c.home(1).Err(), "a part is not there")
		}
	}
}
