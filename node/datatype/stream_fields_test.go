package datatype

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// streamLoads are entries as programs add them, with how many bytes a redis-server 7.0.15 takes for each of 10^5 (MEMORY USAGE, SAMPLES 0), their IDs 137 ms apart.
var streamLoads = []struct {
	name   string
	redis  float64
	fields func(i int) []string
}{
	{"sensor", 31.2, func(i int) []string {
		return []string{"sensor", fmt.Sprint(rand.IntN(100)), "temp", fmt.Sprintf("%.1f", 10+20*rand.Float64()), "ts", fmt.Sprint(1_700_000_000 + i)}
	}},
	{"one short field", 20.9, func(int) []string { return []string{"f", "v"} }},
	{"numbers", 41.4, func(i int) []string {
		return []string{"a", fmt.Sprint(1<<31 + i), "b", fmt.Sprint(i), "c", fmt.Sprint(1_000_000_000_000 + i*7)}
	}},
	{"event", 107.5, func(i int) []string {
		return []string{"id", fmt.Sprintf("user:%08d", i), "event", "login", "data", string(bytes.Repeat([]byte("x"), 60))}
	}},
	{"a name of its own", 35.8, func(i int) []string { return []string{fmt.Sprint("key:", i), "x"} }},
}

// addRequest is an XADD of the i-th entry of a load.
func addRequest(i int, fields []string) *command.Request {
	args := [][]byte{[]byte("XADD"), []byte("k"), fmt.Appendf(nil, "%d-0", 1_700_000_000_000+i*137)}
	for _, f := range fields {
		args = append(args, []byte(f))
	}
	return &command.Request{Op: command.OpXAdd, Args: args}
}

// TestShortIDs: the order of short IDs is that of the IDs, and each is read as it was.
func TestShortIDs(t *testing.T) {
	number := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 300), rapid.Map(rapid.IntRange(0, 63), func(i int) uint64 { return 1<<i - 1 }), rapid.Map(rapid.IntRange(0, 63), func(i int) uint64 { return 1 << i }))
	drawn := rapid.Custom(func(t *rapid.T) streamID { return streamID{number.Draw(t, "ms"), number.Draw(t, "seq")} })
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawn.Draw(rt, "a"), drawn.Draw(rt, "b")
		short := entryKey(a)
		read, ok := shortIDIn(short)
		require.True(rt, ok && isShortID(short))
		require.Equal(rt, a, read)
		require.Equal(rt, a.less(b), bytes.Compare(short, entryKey(b)) < 0)
		require.NotPanics(rt, func() {
			other := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "other")
			if read, ok := shortIDIn(other); ok && isShortID(other) {
				require.Equal(rt, other, entryKey(read))
			}
		})
	})
	require.False(t, isShortID(append([]byte{aboutEntry}, make([]byte, idSize)...)), "as entries once were")
	require.True(t, bytes.Compare(entryKey(highestID), behindEntries) < 0 && bytes.Compare(entryKey(streamID{}), aboutEntries) >= 0)
}

// TestSchemas: names that were there before are kept once, however entries take turns, and names that are there once are not.
func TestSchemas(t *testing.T) {
	var st record.State
	add := func(i int, fields ...string) {
		_, eff := Execute(nil, st, addRequest(i, fields), 1)
		st = eff.Whole().Keep()
	}
	count := func() (n int) {
		for _, names := range streamIn(st).schemas() {
			if names != nil {
				n++
			}
		}
		return n
	}
	for i := range 100 {
		add(i, fmt.Sprint("name", i), "v")
	}
	require.Zero(t, count())
	for i := range 100 {
		add(100+i, fmt.Sprint("a", i%4), "v", "b", fmt.Sprint(i))
	}
	require.Equal(t, 4, count())
	before := st.Size()
	add(200, "a2", "w", "b", "x")
	require.Less(t, st.Size()-before, 16)
	for i := range 100 {
		add(300+2*i, fmt.Sprint("more", i), "v")
		add(301+2*i, fmt.Sprint("more", i), "v")
	}
	require.Equal(t, mostSchemas, count())
	i := 0
	for _, f := range streamIn(st).entries(streamID{}, highestID, 0) {
		var all []string
		for piece := range f.pieces() {
			all = append(all, string(piece))
		}
		require.Len(t, all, f.count())
		switch {
		case i < 100:
			require.Equal(t, []string{fmt.Sprint("name", i), "v"}, all)
		case i < 200:
			require.Equal(t, []string{fmt.Sprint("a", i%4), "v", "b", fmt.Sprint(i - 100)}, all)
		case i > 200:
			require.Equal(t, []string{fmt.Sprint("more", (i-201)/2), "v"}, all)
		}
		i++
	}
	require.Equal(t, 401, i)
	_, eff := Execute(nil, st, streamOp("XTRIM k MAXLEN 0"), 1)
	st = eff.Whole().Keep()
	require.Equal(t, mostSchemas, count())
	require.Zero(t, streamIn(st).length())
}

// TestSchemasThatAreNone: what refers to a schema that is not there, or has more or fewer values, is no stream.
func TestSchemasThatAreNone(t *testing.T) {
	e := stream{}.edit()
	e.put(headerKey, new(streamHeader).append(nil))
	e.put(schemaKey(2), []byte("\x01a\x01b"))
	whole := func(value string) bool {
		with := e.now().edit()
		with.put(entryKey(streamID{1, 1}), []byte(value))
		return streamVerbs.valid(with.now().packed)
	}
	require.True(t, whole("\x02\x01x\x01y"))
	require.True(t, whole("\x00\x01x\x01y"))
	for _, wrong := range []string{"", "\x01\x01x\x01y", "\x02\x01x", "\x02\x01x\x01y\x01z", "\x02\x01x\x02y", "\x00\x01x", "\x00", "\x02", "\x11\x01x\x01y", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		require.False(t, whole(wrong), "%q", wrong)
		for range (fieldsIn([]byte(wrong), e.schema)).pieces() { // but reads as something
			continue
		}
	}
	st := e.now().state(0)
	delta := append([]byte{deltaStream}, "\x20\x06\x01\x01\x00"...)
	_, err := Apply(st, delta)
	require.ErrorIs(t, err, ErrDelta)
}

// BenchmarkXAdd adds entries of each load to a stream that is in parts.
func BenchmarkXAdd(b *testing.B) {
	for _, load := range streamLoads {
		b.Run(load.name, func(b *testing.B) {
			var st record.State
			var reply []byte
			i := 0
			requests := make([]*command.Request, 1000)
			for j := range requests {
				requests[j] = addRequest(0, load.fields(j))
				requests[j].Args[2] = []byte("*")
			}
			b.ReportAllocs()
			for b.Loop() {
				var eff record.Effect
				reply, eff = Execute(reply[:0], st, requests[i%1000], int64(1_700_000_000_000+i))
				if st = eff.State; eff.Kind == record.Replaced {
					st = eff.Whole().Keep()
				}
				i++
			}
		})
	}
}

// TestAnEntryIsWrittenBehindAPackedStream: what comes of it is what comes of putting it, and the header, where they belong.
func TestAnEntryIsWrittenBehindAPackedStream(t *testing.T) {
	for _, load := range streamLoads {
		var st record.State
		written := 0
		for i := range 40 {
			_, eff := Execute(nil, st, addRequest(i, load.fields(i)), 1)
			if st = eff.Whole().Keep(); st.Object != nil {
				break
			}
			s := streamIn(st)
			h, id := s.header(), streamID{ms: 1 << 60, seq: uint64(i)}
			behind, put := s.edit(), s.edit()
			put.split()
			other, inline := h, inlineOf(load.fields(i))
			behind.addEntry(&h, id, inline)
			put.addEntry(&other, id, inline)
			if behind.packed != nil {
				written++
			}
			require.Equal(t, other, h)
			require.Equal(t, put.delta, behind.delta)
			require.Equal(t, put.now().packed, behind.now().packed, "%s, entry %d", load.name, i)
		}
		if load.name != "a name of its own" { // which takes a look at the last entries
			require.Greater(t, written, 30, load.name)
		}
	}
}

// inlineOf returns fields as entries without a schema have them.
func inlineOf(fields []string) (inline []byte) {
	for _, f := range fields {
		inline = parts.AppendLengthened(inline, []byte(f))
	}
	return inline
}
