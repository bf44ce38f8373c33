package register

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// placed is a database that is placed together, and of names one of its keys.
const placed = database.ID(database.Count + 1)

func of(key string) string { return string(placed.Key([]byte(key))) }

// census gives a home a batch that reads all keys of the database as of a listing, replies how many there are, or why it cannot say so, and writes that to one of them.
func (c *cluster) census(id uint16, listed record.Ballot, to string, names ...string) *asked {
	a := &asked{command: "census"}
	all := []string{string(placed.All())}
	for _, name := range append(names, to) {
		if name != "" && !slices.Contains(all, of(name)) {
			all = append(all, of(name))
		}
	}
	w := &Whole{Database: placed, Listed: listed}
	run := func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		effects := make([]record.Effect, len(held))
		if w.Unlisted || len(w.Missing) > 0 {
			dst = fmt.Append(dst, "unlisted ", w.Unlisted)
			for _, name := range w.Missing {
				_, key := database.Split(name)
				dst = fmt.Append(dst, " ", string(key))
			}
			return dst, effects, nil
		}
		n := 0
		for i := range held {
			if held[i].State.Live() {
				n++
			}
		}
		reply := fmt.Sprint(n)
		if to != "" {
			effects[slices.Index(all, of(to))] = record.Effect{Kind: record.Replaced, State: text("of " + reply)}
		}
		return append(dst, reply...), effects, nil
	}
	var keys [][]byte
	for _, name := range all {
		keys = append(keys, []byte(name))
	}
	r := NewBatch(keys, run, a, 0, c.mono)
	r.ReadAll(w)
	c.process(id).step(Input{Happening: Asked, Request: r, Except: AllOthers})
	return a
}

// set gives a home a SET of a key of the database.
func (c *cluster) set(id uint16, key, value string) *asked {
	return c.force(id, "set "+of(key)+" "+value)
}

// written has a process lead the slot, and the database have some keys.
func written(t *testing.T, keys ...string) *cluster {
	c := newCluster(t, 3)
	c.lead(1)
	for _, key := range keys {
		a := c.set(1, key, "0")
		c.run()
		c.done(a, "+OK\r\n")
	}
	c.sent, c.events = nil, map[Event]int{}
	return c
}

// TestACensus reads all keys that it names, if these are all.
func TestACensus(t *testing.T) {
	c := written(t, "a", "b")
	ballot := c.home(1).ballot
	short := c.census(1, ballot, "", "a")
	c.run()
	all := c.census(1, ballot, "", "a", "b", "none")
	c.run()
	c.done(short, "unlisted false b")
	c.done(all, "2")
	del := c.ask(1, "del "+of("b"))
	c.run()
	c.done(del, ":1\r\n")
	all = c.census(1, ballot, "n", "a")
	c.run()
	c.done(all, "1")
	require.Equal(t, "of 1", c.value(2, of("n")))
	require.False(t, c.home(1).Active() && c.home(1).batching())
}

// TestACensusIsOfItsTerm: what was listed before the term says nothing of what others have written since.
func TestACensusIsOfItsTerm(t *testing.T) {
	c := written(t, "a")
	before := c.home(1).ballot
	get := c.force(2, "get "+of("a"))
	c.run()
	c.done(get, "$1\r\n0\r\n")
	late := c.census(2, before, "", "a")
	c.run()
	c.done(late, "unlisted true")
}

// TestACensusSeesWhatIsInFlight: a key whose write nobody has acknowledged may be there or not, and so may one that is being deleted, or read.
func TestACensusSeesWhatIsInFlight(t *testing.T) {
	for _, command := range []string{"set %s 1", "del %s", "get %s"} {
		c := written(t, "a", "b")
		ballot := c.home(1).ballot
		warm := c.census(1, ballot, "", "a", "b")
		c.run()
		c.done(warm, "2")
		if command == "get %s" { // a new term does not know of the key yet
			c.process(1).stepDown()
			c.advance(100)
			warm := c.force(1, "set "+of("a")+" 1")
			c.run()
			c.done(warm, "+OK\r\n")
			ballot = c.home(1).ballot
			warm = c.census(1, ballot, "", "a", "none")
			c.run()
			c.done(warm, "unlisted false b")
		}
		c.stuck = Accept
		one := c.force(1, fmt.Sprintf(command, of("b")))
		if command == "get %s" {
			c.lose()
		}
		census := c.census(1, ballot, "", "a")
		c.run()
		c.stuck = 0
		c.run()
		c.advance(testTiming.Resend)
		c.run()
		require.Len(t, one.answers, 1)
		require.Equal(t, "unlisted false b", string(census.answers[0].Reply), command)
	}
}

// TestNothingComesBesideACensus that writes: a key that appears while its record is written would be seen by somebody who does not see what the batch writes yet.
func TestNothingComesBesideACensus(t *testing.T) {
	c := written(t, "a")
	census := c.census(1, c.home(1).ballot, "a")
	c.propose()
	c.sent = nil
	phantom, other := c.set(1, "phantom", "1"), c.ask(1, "set elsewhere 1")
	c.propose()
	c.open(census, phantom)
	require.NotContains(t, named(c), of("phantom"))
	require.Contains(t, named(c), "elsewhere")
	c.run()
	c.done(census, "1")
	c.done(phantom, "+OK\r\n")
	c.done(other, "+OK\r\n")
}

// named are the keys that were sent in Accepts.
func named(c *cluster) (keys []string) {
	for _, m := range c.sent {
		if m.Kind == Accept {
			keys = append(keys, string(m.Key))
		}
	}
	return keys
}

// TestNothingComesBesideACensusThatIsCompleted by the next home, which may have been chosen or not.
func TestNothingComesBesideACensusThatIsCompleted(t *testing.T) {
	c := written(t, "a")
	c.census(1, c.home(1).ballot, "a")
	c.propose()
	c.one(Accept, 2) // its record
	c.lose()
	c.process(1).loop = nil
	c.dead[1] = true
	c.stuck = Accept
	phantom := c.set(2, "phantom", "1")
	c.run(2, 3)
	require.NotContains(t, named(c), of("phantom"), "the record comes first")
	c.stuck = 0
	c.run(2, 3)
	c.done(phantom, "+OK\r\n")
	require.Equal(t, 1, c.events[BatchCompleted])
	require.Equal(t, "of 1", c.value(2, of("a")))
}

// TestATermBeginsItsRecord before it does anything with a key of such a database: a home that finds the record of a census later has to know that others did something meanwhile.
func TestATermBeginsItsRecord(t *testing.T) {
	c := written(t, "a")
	census := c.census(1, c.home(1).ballot, "a")
	c.propose()
	c.lose() // nobody but 1 has the record
	c.run(1)
	c.lose()
	phantom := c.set(2, "phantom", "1")
	c.run(2, 3)
	c.done(phantom, "+OK\r\n")
	get := c.force(3, "get "+of("a"))
	c.run(2, 3)
	c.done(get, "$1\r\n0\r\n")

	read := c.force(1, "get "+of("a"))
	c.advance(200)
	c.run()
	c.advance(200)
	c.run()
	require.NotEmpty(t, read.answers)
	last := c.force(1, "get "+of("a"))
	c.run()
	c.done(last, "$1\r\n0\r\n")
	require.Zero(t, c.events[BatchCompleted], "it would not know of the phantom")
	for _, a := range census.answers {
		require.NotEqual(t, Done, a.Outcome, string(a.Reply))
	}
}

// TestReadsBeginTheRecordToo: what a minority holds comes to be chosen by a read.
func TestReadsBeginTheRecordToo(t *testing.T) {
	c := written(t)
	get := c.ask(1, "get "+of("k"))
	c.run()
	c.done(get, "$-1\r\n")
	require.Equal(t, 1, c.events[RecordBegun])
	get = c.ask(1, "get "+of("k"))
	c.run()
	require.Equal(t, 1, c.events[RecordBegun], "once in a term")
	plain := c.ask(1, "get plain")
	c.run()
	c.done(plain, "$-1\r\n")
	require.True(t, strings.HasPrefix(string(get.answers[0].Reply), "$-1"))
}

// TestNoRoomToBeginTheRecord: who waits for it is told.
func TestNoRoomToBeginTheRecord(t *testing.T) {
	c := written(t)
	c.full[1] = true
	set, census := c.set(1, "a", "1"), c.census(1, c.home(1).ballot, "n")
	c.run()
	c.failed(set, NotDone, StorageFull, 0)
	c.failed(census, NotDone, StorageFull, 0)
	read := c.census(1, c.home(1).ballot, "")
	c.run()
	c.done(read, "0")
	c.full[1] = false
	set = c.set(1, "a", "1")
	c.run()
	c.done(set, "+OK\r\n")
}

// TestACensusIsAlone at the beginning of its record: of what others of the record write no replica knows yet.
func TestACensusIsAlone(t *testing.T) {
	c := written(t, "a")
	ballot := c.home(1).ballot
	c.stuck = Accept
	first := c.together(1, of("x"), of("y"), "1")
	c.run()
	other, census := c.together(1, of("v"), of("w"), "1"), c.census(1, ballot, "", "a", "x", "y")
	c.stuck = 0
	c.run()
	c.done(first, "1")
	c.done(other, "1")
	c.done(census, "unlisted false v w")
}

// TestAClearAndACensus: the clear waits for the record, and the next term finds it.
func TestAClearAndACensus(t *testing.T) {
	c := written(t, "a")
	census := c.census(1, c.home(1).ballot, "a")
	c.propose()
	cleared := c.ask(1, "clear")
	c.open(cleared)
	c.run()
	c.done(census, "1")
	c.done(cleared, "+OK\r\n")
	none := c.census(1, c.home(1).ballot, "")
	c.run()
	c.done(none, "0")
}
