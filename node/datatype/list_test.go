package datatype

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// listOf returns the state of a list, in the form that it has.
func listOf(elements ...string) record.State {
	var all [][]byte
	for _, e := range elements {
		all = append(all, []byte(e))
	}
	s := new(parts.Sequence).Splice(0, 0, all...)
	l := list{parts: s}.settled()
	l.packed = slices.Clip(l.packed)
	return l.state(0)
}

// elementsOf returns the elements of a list.
func elementsOf(st record.State) (all []string) {
	for element := range listIn(st).from(0) {
		all = append(all, string(element))
	}
	return all
}

func words(list [][]byte) (all []string) {
	for _, w := range list {
		all = append(all, string(w))
	}
	return all
}

func TestListCommands(t *testing.T) {
	none, abc, long := record.State{}, listOf("a", "b", "c"), listOf("a", strings.Repeat("x", 300), "c")
	const set, keep, part = record.Replaced, record.Unchanged, record.Changed
	long.ExpireAt = testNow + 1
	shorter := func(elements ...string) record.State {
		st := listOf(elements...)
		st.ExpireAt = long.ExpireAt
		return st
	}
	x := strings.Repeat("x", 300)
	runRows(t, []row{
		{none, "LPUSH k a b c", ":3\r\n", listOf("c", "b", "a"), set},
		{none, "RPUSH k a b c", ":3\r\n", abc, set},
		{none, "RPUSHX k a", ":0\r\n", none, keep},
		{abc, "LPUSHX k x y", ":5\r\n", listOf("y", "x", "a", "b", "c"), set},
		{long, "LPUSH k y", ":4\r\n", shorter("y", "a", x, "c"), part},
		{long, "RPOP k", "$1\r\nc\r\n", shorter("a", x), part},
		{long, "LTRIM k 0 1", "+OK\r\n", shorter("a", x), part},
		{long, "LTRIM k 0 0", "+OK\r\n", shorter("a"), set},
		{long, "LREM k 0 c", ":1\r\n", shorter("a", x), part},
		{long, "LSET k 0 y", "+OK\r\n", shorter("y", x, "c"), record.Patched},
		{long, "LSET k 0 yy", "+OK\r\n", shorter("yy", x, "c"), part},
		{long, "LINSERT k AFTER a y", ":4\r\n", shorter("a", "y", x, "c"), part},
		{long, "RPOPLPUSH k k", "$1\r\nc\r\n", shorter("c", "a", x), part},
		{abc, "LPOP k 2", "*2\r\n$1\r\na\r\n$1\r\nb\r\n", listOf("c"), set},
		{abc, "RPOP k 9", "*3\r\n$1\r\nc\r\n$1\r\nb\r\n$1\r\na\r\n", none, set},
		{abc, "LPOP k 0", "*0\r\n", abc, keep},
		{none, "LPOP k 0", "*-1\r\n", none, keep},
		{none, "LPOP k", "$-1\r\n", none, keep},
		{abc, "LMPOP k RIGHT 2", "*2\r\n$1\r\nk\r\n*2\r\n$1\r\nc\r\n$1\r\nb\r\n", listOf("a"), set},
		{none, "LMPOP k LEFT", "*-1\r\n", none, keep},
		{abc, "LMOVE k k LEFT RIGHT", "$1\r\na\r\n", listOf("b", "c", "a"), set},
		{abc, "LMOVE k k LEFT LEFT", "$1\r\na\r\n", abc, keep},
		{listOf("a"), "RPOPLPUSH k k", "$1\r\na\r\n", listOf("a"), keep},
		{abc, "LTRIM k 5 9", "+OK\r\n", none, set},
		{abc, "LTRIM k -9 9", "+OK\r\n", abc, keep},
		{abc, "LPOS k c RANK -1 MAXLEN 1", ":2\r\n", abc, keep},
		{abc, "LPOS k a RANK -1 MAXLEN 2", "$-1\r\n", abc, keep},
		{abc, "LREM k -9223372036854775808 a", ":1\r\n", listOf("b", "c"), set},
		{str("s"), "RPUSH k a", wrongType, str("s"), keep},
		{str("s"), "LMOVE k k LEFT up", "-" + errSyntax + "\r\n", str("s"), keep},
	})
}

// TestListIsASlice compares a list, which may be large, with a slice.
func TestListIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		n := rapid.SampledFrom([]int{0, 3, 127, 128, 1000}).Draw(t, "elements")
		for i := range n {
			want = append(want, fmt.Sprint(i%7))
		}
		st := record.State{}
		if n > 0 {
			st = listOf(want...)
		}
		number := func(most int) int { return rapid.IntRange(-most, most).Draw(t, "number") }
		element := func() string {
			return rapid.SampledFrom([]string{"", "1", "2", "other", strings.Repeat("x", 100), strings.Repeat("y", 9000)}).Draw(t, "element")
		}
		do := func(words ...string) string {
			reply, next, eff := execute(t, st, request(words...), testNow)
			if eff.Kind == record.Changed {
				most := 40 + len(strings.Join(words, ""))
				switch words[0] {
				case "LREM": // each by itself
					most += 4 * (listIn(st).count() - listIn(next).count())
				case "LMOVE":
					most += len(reply)
				}
				require.LessOrEqual(t, len(eff.Delta), most, "a delta that is not of its own size")
			}
			st = next
			return reply
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) {
				e := element()
				if number(1) < 0 {
					want = slices.Insert(want, 0, e, "a")
					do("LPUSH", "k", "a", e)
				} else {
					want = append(want, "a", e)
					do("RPUSH", "k", "a", e)
				}
			},
			"pop": func(*rapid.T) {
				n := min(max(number(300), 1), len(want))
				left := number(1) < 0
				if left {
					want = want[n:]
					do("LPOP", "k", fmt.Sprint(max(n, 1)))
				} else {
					want = want[:len(want)-n]
					do("RPOP", "k", fmt.Sprint(max(n, 1)))
				}
			},
			"set": func(*rapid.T) {
				if len(want) > 0 {
					i, e := rapid.IntRange(0, len(want)-1).Draw(t, "rank"), element()
					want = slices.Clone(want)
					want[i] = e
					require.Equal(t, "+OK\r\n", do("LSET", "k", fmt.Sprint(i-len(want)), e))
				}
			},
			"insert": func(*rapid.T) {
				e := element()
				if i := slices.Index(want, "2"); i >= 0 {
					want = slices.Insert(slices.Clone(want), i+1, e)
				}
				do("LINSERT", "k", "after", "2", e)
			},
			"remove": func(*rapid.T) {
				n, e := number(3), element()
				next, left := slices.Clone(want), n
				if n < 0 {
					slices.Reverse(next)
					left = -n
				}
				next = slices.DeleteFunc(next, func(s string) bool {
					if s != e || n != 0 && left == 0 {
						return false
					}
					left--
					return true
				})
				if n < 0 {
					slices.Reverse(next)
				}
				require.Equal(t, fmt.Sprintf(":%d\r\n", len(want)-len(next)), do("LREM", "k", fmt.Sprint(n), e))
				want = next
			},
			"trim": func(*rapid.T) {
				from, to := rapid.IntRange(0, 4).Draw(t, "from"), rapid.IntRange(0, 4).Draw(t, "to")
				do("LTRIM", "k", fmt.Sprint(from), fmt.Sprint(-1-to))
				want = want[min(from, len(want)):max(len(want)-to, min(from, len(want)))]
			},
			"turn": func(*rapid.T) {
				do("LMOVE", "k", "k", "right", "left")
				if n := len(want); n > 0 {
					want = append([]string{want[n-1]}, want[:n-1]...)
				}
			},
			"": func(*rapid.T) {
				require.Equal(t, len(want) > 0, st.Live())
				require.True(t, slices.Equal(want, elementsOf(st)))
				require.Equal(t, st.Object == nil, !st.Live() || isPackedList(len(want), st.Size()), "it has the other form")
			},
		})
	})
}

// TestListsAreTheSameInAnyWay: a dump that is restored, what is built of a stream, and a snapshot with the deltas that followed are the list, and are changed as it is.
func TestListsAreTheSameInAnyWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{intn: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2)).IntN}
		home := listOf(strings.Split(strings.Repeat("a", rapid.IntRange(1, 400).Draw(t, "elements")), "")...)
		replicas := []record.State{home}
		for range 60 {
			if home.Live() && g.chance(20) {
				dumped, err := decodeState(encodeState(home))
				require.NoError(t, err)
				live, ok := Live(home.Packed())
				require.Equal(t, ok, home.Object != nil)
				replicas = append(replicas, dumped, live)
				if ok {
					b, err := NewBuilder(record.List, false, home.Size())
					require.NoError(t, err)
					_, err = io.Copy(b, home.Reader())
					require.NoError(t, err)
					built, err := b.State()
					require.NoError(t, err)
					replicas = append(replicas, built)
				}
			}
			name := pick(g, "LPUSH", "RPUSH", "LPUSH", "RPUSH", "LPOP", "RPOP", "LSET", "LINSERT", "LREM", "LTRIM", "LMOVE")
			args := []string{name, "k"}
			if name == "LMOVE" {
				args = append(args, "k")
			}
			var eff record.Effect
			_, home, eff = execute(t, home, request(append(args, g.listArguments(name)...)...), testNow)
			for i := range replicas {
				switch eff.Kind {
				case record.Replaced:
					replicas[i] = eff.State
				case record.Changed, record.Patched:
					delta := eff.Delta
					if eff.Kind == record.Patched {
						delta = eff.Patch().Append(nil)
					}
					next, err := Apply(replicas[i], delta)
					require.NoError(t, err)
					replicas[i] = next
				}
				require.True(t, sameState(home, replicas[i]))
				require.Equal(t, home.Object == nil, replicas[i].Object == nil)
			}
		}
	})
}

// TestALongListIsRefused before it is longer than it may be; what makes it shorter is not.
func TestALongListIsRefused(t *testing.T) {
	st := listOf(strings.Repeat("x", 500), strings.Repeat("y", 500))
	for words, want := range map[string]string{
		"RPUSH k zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz": "-" + errTooLong(record.List),
		"RPUSH k z":                            ":3",
		"LSET k 0 " + strings.Repeat("z", 530): "-" + errTooLong(record.List),
	} {
		req := request(strings.Fields(words)...)
		req.MaxCollection = st.Size() + 20
		reply, _, _ := execute(t, st, req, testNow)
		require.Equal(t, want+"\r\n", reply)
	}
	req := request("LPOP", "k")
	req.MaxCollection = 100
	reply, _, _ := execute(t, st, req, testNow)
	require.Contains(t, reply, "xxx")
}

// TestASmallListAllocatesNothing: what is pushed and popped, at the home and at the other replicas.
func TestASmallListAllocatesNothing(t *testing.T) {
	var elements []string
	for i := range 10 {
		elements = append(elements, fmt.Sprint("element", i, strings.Repeat("v", 50)))
	}
	st := listOf(elements...)
	for _, words := range []string{"LPUSH k new", "RPUSH k new", "LPOP k", "RPOP k", "LSET k 3 new", "LINDEX k -1", "LLEN k", "LTRIM k 1 5"} {
		req, dst := request(strings.Fields(words)...), make([]byte, 0, 4096)
		req.Owned = true
		require.Zero(t, testing.AllocsPerRun(100, func() { dst, _ = Execute(dst[:0], st, req, testNow) }), words)
	}
	_, eff := Execute(nil, st, request("RPUSH", "k", "new"), testNow)
	require.Equal(t, record.Changed, eff.Kind)
	var a Applier
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		if _, err := a.Apply(st, eff.Delta); err != nil {
			panic(err)
		}
	}), 1.0)
}

// TestTwoListsAreNotMoved: the home refuses them, whoever sends them.
func TestTwoListsAreNotMoved(t *testing.T) {
	for _, words := range []string{"LMOVE k other LEFT LEFT", "RPOPLPUSH k other"} {
		reply, _, eff := execute(t, listOf("a"), request(strings.Fields(words)...), testNow)
		require.Equal(t, "-", reply[:1])
		require.Equal(t, record.Unchanged, eff.Kind)
	}
}
