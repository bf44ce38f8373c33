package verify

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func number(n int64) answer {
	if n == 0 {
		return answer{null: true}
	}
	return answer{text: strconv.FormatInt(n, 10)}
}

// pendingRead is a read under way in a linearizable register: it has taken effect, or not yet.
type pendingRead struct {
	at    floor
	value int64
	taken bool
}

// TestLinearizableRegisterIsNeverBlamed: writes take effect at any moment between call and answer, refused ones never, the last one, if
// its outcome is unknown, whenever it likes; reads overlap with all of that.
func TestLinearizableRegisterIsNeverBlamed(t *testing.T) {
	t.Run("as it is", func(t *testing.T) { testLinearizableRegister(t, false) })
	t.Run("which may be evicted", func(t *testing.T) { testLinearizableRegister(t, true) })
}

func testLinearizableRegister(t *testing.T, evicts bool) {
	rapid.Check(t, func(t *rapid.T) {
		r := &register{place: place{key: "k"}, evicts: evicts}
		var stored, writing int64 // writing: sent and not answered yet
		applied, unknown := false, false
		var reads []*pendingRead
		apply := func() {
			if writing > 0 && !applied {
				stored, applied = writing, true
			}
		}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"write", "apply", "ack", "refuse", "unknown", "begin", "take", "end", "evict"}).Draw(t, "step") {
			case "write":
				if writing == 0 {
					writing, applied = r.next(), false
				}
			case "apply":
				apply()
			case "ack":
				if writing > 0 && !unknown {
					apply()
					r.wrote(writing)
					writing = 0
				}
			case "refuse":
				if writing > 0 && !applied && !unknown {
					require.Nil(t, r.refuse(writing))
					writing = 0
				}
			case "evict":
				if evicts {
					stored = 0
				}
			case "unknown":
				unknown = unknown || writing > 0 // nobody writes it any more
			case "begin":
				reads = append(reads, &pendingRead{at: r.floor()})
			case "take":
				for _, read := range reads {
					read.value, read.taken = stored, true
				}
			case "end":
				for _, read := range reads {
					if !read.taken {
						read.value = stored
					}
					found, old := r.read(read.at, number(read.value))
					require.Nil(t, found)
					require.False(t, old, "%+v", read)
				}
				reads = nil
			}
		}
	})
}

// TestLinearizableCounterIsNeverBlamed: the same of a counter, with several increments under way.
func TestLinearizableCounterIsNeverBlamed(t *testing.T) {
	type increment struct {
		at    floor
		value int64
	}
	rapid.Check(t, func(t *rapid.T) {
		c := &counter{place: place{key: "k"}}
		var stored int64
		var open []*increment
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			i := rapid.IntRange(0, max(0, len(open)-1)).Draw(t, "which")
			what := rapid.SampledFrom([]string{"send", "apply", "ack", "refuse", "read"}).Draw(t, "step")
			switch {
			case what == "send":
				open = append(open, &increment{at: c.send()})
			case what == "read":
				found, old := c.read(c.floor(), number(stored))
				require.Nil(t, found)
				require.False(t, old)
			case len(open) == 0:
			case what == "apply" && open[i].value == 0:
				stored++
				open[i].value = stored
			case what == "ack" && open[i].value > 0:
				require.Nil(t, c.incremented(open[i].at, number(open[i].value)))
				open = append(open[:i], open[i+1:]...)
			case what == "refuse" && open[i].value == 0:
				c.refuse()
				open = append(open[:i], open[i+1:]...)
			}
		}
	})
}

// TestRegisterNamesWhatIsWrong: after 1 and 2 were acknowledged, 3 was refused and 4 is under way.
func TestRegisterNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct {
		reply      answer
		everywhere bool
		want       Class
	}{
		{number(2), false, ""},
		{number(4), false, ""},
		{number(1), false, Stale},
		{number(1), true, Lost},
		{number(0), false, Stale},
		{number(0), true, Lost},
		{number(3), true, Wrong},
		{number(5), true, Wrong},
		{number(-1), true, Wrong},
		{answer{text: "x"}, true, Wrong},
		{answer{text: ""}, true, Wrong},
	} {
		r := &register{place: place{key: "k"}}
		r.wrote(r.next())
		r.wrote(r.next())
		require.Nil(t, r.refuse(r.next()))
		r.next()
		require.Equal(t, tc.want, verdict(r, tc.reply, tc.everywhere), tc.reply)
	}
}

// verdict is the class of what a read is found to be, "" for nothing.
func verdict(j judged, reply answer, everywhere bool) Class {
	at := j.floor()
	found, old := j.read(at, reply)
	if old {
		found = j.older(at, reply, everywhere)
	}
	if found == nil {
		return ""
	}
	return found.Class
}

// TestReadsDoNotGoBack: what was read, and never acknowledged, may not be gone again.
func TestReadsDoNotGoBack(t *testing.T) {
	r := &register{place: place{key: "k"}}
	r.wrote(r.next())
	r.next() // outcome unknown
	require.Empty(t, verdict(r, number(1), false))
	require.Empty(t, verdict(r, number(2), false))
	require.Equal(t, Stale, verdict(r, number(1), true))
	found := r.refuse(2)
	require.NotNil(t, found, "it was read")
	require.Equal(t, Wrong, found.Class)
}

// TestCounterNamesWhatIsWrong: of four increments two were acknowledged, and one refused.
func TestCounterNamesWhatIsWrong(t *testing.T) {
	open := func() *counter {
		c := &counter{place: place{key: "k"}}
		require.Nil(t, c.incremented(c.send(), number(1)))
		c.send()
		require.Nil(t, c.incremented(c.send(), number(2)))
		c.send()
		c.refuse()
		return c
	}
	for _, tc := range []struct {
		reply      answer
		everywhere bool
		want       Class
	}{
		{number(2), false, ""},
		{number(3), false, ""},
		{number(1), false, Stale},
		{number(1), true, Wrong},
		{number(0), true, Wrong},
		{number(4), false, Wrong},
		{answer{text: "x"}, false, Wrong},
	} {
		require.Equal(t, tc.want, verdict(open(), tc.reply, tc.everywhere), tc.reply)
	}
	for reply, right := range map[answer]bool{
		number(3): true, number(4): true, number(2): false, number(0): false, number(5): false, {text: "x"}: false,
	} {
		c := open()
		require.Equal(t, right, c.incremented(c.send(), reply) == nil, reply)
	}
	c := open()
	first, second := c.send(), c.send()
	require.Nil(t, c.incremented(first, number(4)))
	require.NotNil(t, c.incremented(second, number(4)), "the same twice")
}
