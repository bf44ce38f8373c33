package datatype

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// streamOp returns a request of a command on a stream that has its key where all commands have it.
func streamOp(text string) *command.Request {
	args := bytes.Fields([]byte(text))
	switch string(args[0]) {
	case "XGROUPKEY":
		return &command.Request{Op: command.OpXGroupKey, Args: args}
	case "XREADGROUPKEY":
		return &command.Request{Op: command.OpXReadGroupKey, Args: args}
	}
	return &command.Request{Op: command.Lookup(args[0]).Op, Args: args}
}

// largeStream returns a stream of so many entries, which is in parts.
func largeStream(t *testing.T, entries int) record.State {
	e := stream{}.edit()
	e.silent = true
	h := streamHeader{last: streamID{uint64(entries), 0}, added: int64(entries)}
	e.put(headerKey, h.append(nil))
	for i := range entries {
		e.putEntry(streamID{uint64(i + 1), 0}, []byte("\x05field\x05value"))
	}
	st := e.now().state(0)
	require.NotNil(t, st.Object)
	return st
}

// TestIDsOfTheTimeGrow: an ID that is made of the time is above all before it, whatever the clock says.
func TestIDsOfTheTimeGrow(t *testing.T) {
	var st record.State
	for _, step := range []struct {
		now  int64
		id   string
		want string
	}{
		{100, "*", "100-0"}, {100, "*", "100-1"}, {90, "*", "100-2"}, {101, "*", "101-0"}, {90, "101-*", "101-1"}, {90, "102-*", "102-0"}, {101, "*", "102-1"},
		{90, "103-18446744073709551615", "103-18446744073709551615"}, {103, "*", "104-0"},
	} {
		reply, eff := Execute(nil, st, streamOp("XADD k "+step.id+" f v"), step.now)
		require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(step.want), step.want), string(reply))
		st = eff.Whole().Keep()
	}
	reply, eff := Execute(nil, st, streamOp("XADD k MAXLEN 1 18446744073709551615-18446744073709551615 f v"), 1)
	require.Equal(t, byte('$'), reply[0])
	reply, _ = Execute(nil, eff.Whole().Keep(), streamOp("XADD k * f v"), 1)
	require.Contains(t, string(reply), "The stream has exhausted the last possible ID")
}

// TestChangesOfLargeStreamsAreSmall: what is sent of a change is about as long as the change, however long the stream is.
func TestChangesOfLargeStreamsAreSmall(t *testing.T) {
	st := largeStream(t, 100_000)
	for _, text := range []string{
		"XADD k * f v", "XGROUPKEY k create g 0", "XREADGROUPKEY k > COUNT 3 GROUP g c", "XACK k g 1-0 2-0", "XCLAIM k g d 0 3-0", "XDEL k 500", "XADD k MAXLEN 90000 * f v", "XTRIM k MAXLEN 5000",
		"XGROUPKEY k destroy g",
	} {
		before := st
		reply, eff := Execute(nil, st, streamOp(text), 1<<40)
		require.NotEqual(t, byte('-'), reply[0], "%s: %s", text, reply)
		require.Equal(t, record.Changed, eff.Kind, text)
		require.Less(t, len(eff.Delta), 500, text)
		next, err := Apply(liveOf(before), eff.Delta)
		require.NoError(t, err)
		require.Equal(t, eff.State.Packed(), next.Packed(), text)
		st = eff.State
	}
}

// TestTrimmingAbout: with ~ whole hundreds are removed, counted from the first entry that there ever was, and no more than LIMIT.
func TestTrimmingAbout(t *testing.T) {
	st := largeStream(t, 1000)
	for _, step := range []struct {
		text string
		left int
	}{
		{"MAXLEN 555", 555}, {"MAXLEN ~ 444", 500}, {"MAXLEN ~ 400", 400}, {"MAXLEN ~ 301", 400}, {"MINID ~ 750", 300}, {"MAXLEN ~ 0 LIMIT 99", 300}, {"MAXLEN ~ 0 LIMIT 250", 100},
		{"MAXLEN ~ 0 LIMIT 0", 0},
	} {
		_, eff := Execute(nil, st, streamOp("XTRIM k "+step.text), 1)
		if eff.Kind != record.Unchanged {
			st = eff.Whole()
		}
		require.Equal(t, step.left, streamIn(st).length(), step.text)
	}
}

// TestDeltasOfStreams: a snapshot at any moment, and the deltas behind it, are the stream; on a replica that has it as bytes as on one that has it in parts.
func TestDeltasOfStreams(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		st := record.State{}
		if rapid.Bool().Draw(rt, "large") {
			st = largeStream(t, 300)
		}
		var copies []record.State
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			id := rapid.IntRange(1, 400).Draw(rt, "id")
			text := rapid.SampledFrom([]string{
				"XADD k %d-* f v", "XADD k * field %d", "XDEL k %d", "XTRIM k MINID %d", "XTRIM k MAXLEN %d", "XGROUPKEY k create g %d MKSTREAM", "XREADGROUPKEY k > COUNT 7 GROUP g c%d",
				"XREADGROUPKEY k %d COUNT 7 GROUP g c5", "XACK k g %d", "XCLAIM k g c5 0 %d FORCE", "XAUTOCLAIM k g c6 0 %d COUNT 5", "XGROUPKEY k delconsumer g c%d", "XSETID k %d",
			}).Draw(rt, "command")
			_, eff := Execute(nil, st, streamOp(fmt.Sprintf(text, id)), 1000)
			switch eff.Kind {
			case record.Replaced:
				for i := range copies {
					copies[i] = eff.State.Packed().Keep()
				}
			case record.Changed:
				for i := range copies {
					next, err := Apply(copies[i], eff.Delta)
					require.NoError(rt, err)
					copies[i] = next
				}
			}
			if eff.Kind != record.Unchanged {
				st = eff.State.Keep()
			}
			if rapid.IntRange(0, 5).Draw(rt, "snapshot") == 0 && st.Live() {
				copies = append(copies, st.Packed(), liveOf(st))
			}
		}
		for _, c := range copies {
			require.Equal(rt, st.Packed(), c.Packed())
			require.Equal(rt, st.Object == nil, c.Object == nil && len(c.Value) == len(st.Value))
		}
	})
}

// FuzzStreamDelta: whatever a delta says, what comes of it is a stream, or an error.
func FuzzStreamDelta(f *testing.F) {
	_, eff := Execute(nil, record.State{}, streamOp("XADD k 1-1 f v"), 1)
	small := eff.Whole().Keep()
	e := streamIn(small).edit()
	e.putEntry(streamID{2, 2}, []byte("\x01f\x01v"))
	e.remove(entryKey(streamID{1, 1}))
	e.cut(aboutEntries, behindEntries)
	f.Add(e.delta[1:], small.Value)
	added := streamIn(small).edit()
	h := streamIn(small).header()
	added.addEntry(&h, streamID{2, 2}, []byte("\x01f\x01v")) // makes a schema
	f.Add(added.delta[1:], small.Value)
	f.Add([]byte{elementRemoved}, small.Value)
	f.Add([]byte{elementsCut, 1, aboutEntry}, small.Value)
	f.Fuzz(func(t *testing.T, delta, value []byte) {
		st := record.State{Type: record.Stream, Value: value}
		if !streamVerbs.valid(value) {
			return
		}
		readAllOf(t, st)
		if live, ok := Live(st); ok {
			st = live
		}
		next, err := Apply(st, append([]byte{deltaStream}, delta...))
		if err != nil {
			require.ErrorIs(t, err, ErrDelta)
			return
		}
		require.True(t, streamVerbs.valid(next.Packed().Value))
		readAllOf(t, next)
	})
}

// readAllOf asks a stream for all that it has: nothing panics, however little its elements have to do with each other.
func readAllOf(t *testing.T, st record.State) {
	for _, text := range []string{"XRANGE k - +", "XREVRANGE k + -", "XPENDING k g", "XPENDING k g - + 10", "XAUTOCLAIM k g c 0 0", "XDEL k 1-1", "DUMP k"} {
		Execute(nil, st, streamOp(text), 1000)
	}
	full := requestOf(command.OpXInfoKey, "XINFO", "k", "STREAM", "FULL", "COUNT", "0")
	reply, _ := Execute(nil, st, full, 1000)
	require.NotEmpty(t, reply)
}

// TestIDsAreReadAsInRedis: what C takes for a number.
func TestIDsAreReadAsInRedis(t *testing.T) {
	for text, want := range map[string]streamID{
		"1-2": {1, 2}, "1": {1, 7}, "+1-+2": {1, 2}, " 3": {3, 7}, "03-1": {3, 1}, "1- -1": {1, math.MaxUint64}, "18446744073709551615-18446744073709551615": highestID,
	} {
		id, ok := parseID([]byte(text), 7)
		require.True(t, ok, text)
		require.Equal(t, want, id, text)
	}
	for _, text := range []string{"", "-", "+", "1-", "-1", "1--2", "1-2-3", "18446744073709551616", "1_0", "0x1", "1 ", "1\x00", strings.Repeat("0", 200)} {
		_, ok := parseID([]byte(text), 7)
		require.False(t, ok, text)
	}
}
