package datatype

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// setOf makes a set, in the form that it has.
func setOf(all ...string) record.State {
	req := request(append([]string{"SADD", "k"}, all...)...)
	_, eff := Execute(nil, record.State{}, req, testNow)
	return record.State{Type: record.Set, Value: slices.Clip(eff.State.Value), Object: eff.State.Object}
}

// setIn returns the members of a set.
func setIn(st record.State) map[string]bool {
	all := map[string]bool{}
	for member := range membersIn(st).all() {
		all[string(member)] = true
	}
	return all
}

// requireForm checks that a set has the only form that its members may have.
func requireForm(t require.TestingT, st record.State) {
	ints := true
	for member := range setIn(st) {
		n, err := strconv.ParseInt(member, 10, 64)
		ints = ints && err == nil && strconv.FormatInt(n, 10) == member
	}
	m := membersIn(st)
	switch n := m.count(); {
	case ints && n <= maxIntegers:
		require.True(t, isIntegers(st.Value), "%d integers", n)
	case n <= packedFields && m.size() <= packedSize:
		require.NotNil(t, st.Value, "%d members in %d bytes", n, m.size())
	default:
		require.NotNil(t, st.Object, "%d members in %d bytes", n, m.size())
	}
}

// numbers returns numbers as they are written.
func numbers(from, to int) (list []string) {
	for i := from; i < to; i++ {
		list = append(list, strconv.Itoa(i))
	}
	return list
}

func TestSets(t *testing.T) {
	ints, words, none := setOf("3", "-70000", "1"), setOf("b", "a", "1"), record.State{}
	expiring := ints
	expiring.ExpireAt = testNow + 5
	with := func(at int64, all ...string) record.State {
		st := setOf(all...)
		st.ExpireAt = at
		return st
	}
	wrong := str("v")
	runRows(t, []row{
		{none, "SADD k 3 -70000 1 3", ":3\r\n", ints, record.Replaced},
		{ints, "SADD k 3", ":0\r\n", ints, record.Unchanged},
		{ints, "SADD k 2 3", ":1\r\n", setOf("1", "2", "3", "-70000"), record.Replaced},
		{ints, "SADD k 03", ":1\r\n", setOf("-70000", "1", "3", "03"), record.Replaced},
		{ints, "SADD k \"\"", ":1\r\n", setOf("-70000", "1", "3", ""), record.Replaced},
		{expiring, "SADD k 2", ":1\r\n", with(testNow+5, "1", "2", "3", "-70000"), record.Replaced},
		{words, "SADD k a b c", ":1\r\n", setOf("b", "a", "1", "c"), record.Replaced},
		{wrong, "SADD k a", wrongType, wrong, record.Unchanged},

		{ints, "SREM k 2 x", ":0\r\n", ints, record.Unchanged},
		{ints, "SREM k -70000 3 3 x", ":2\r\n", setOf("1"), record.Replaced},
		{expiring, "SREM k 3", ":1\r\n", with(testNow+5, "1", "-70000"), record.Replaced},
		{words, "SREM k b a", ":2\r\n", setOf("1"), record.Replaced},
		{words, "SREM k b a 1", ":3\r\n", none, record.Replaced},
		{ints, "SREM k -70000 1 3", ":3\r\n", none, record.Replaced},
		{none, "SREM k a", ":0\r\n", none, record.Unchanged},
		{wrong, "SREM k a", wrongType, wrong, record.Unchanged},

		{ints, "SISMEMBER k 1", ":1\r\n", ints, record.Unchanged},
		{ints, "SISMEMBER k 01", ":0\r\n", ints, record.Unchanged},
		{words, "SISMEMBER k a", ":1\r\n", words, record.Unchanged},
		{none, "SISMEMBER k a", ":0\r\n", none, record.Unchanged},
		{wrong, "SISMEMBER k a", wrongType, wrong, record.Unchanged},
		{words, "SMISMEMBER k a x 1", "*3\r\n:1\r\n:0\r\n:1\r\n", words, record.Unchanged},
		{words, "SMISMEMBER k a x 1 a a a a a a", "*9\r\n:1\r\n:0\r\n:1\r\n" + strings.Repeat(":1\r\n", 6), words, record.Unchanged},
		{none, "SMISMEMBER k a b", "*2\r\n:0\r\n:0\r\n", none, record.Unchanged},
		{wrong, "SMISMEMBER k a", wrongType, wrong, record.Unchanged},

		{ints, "SMEMBERS k", "*3\r\n$6\r\n-70000\r\n$1\r\n1\r\n$1\r\n3\r\n", ints, record.Unchanged},
		{words, "SMEMBERS k", "*3\r\n$1\r\nb\r\n$1\r\na\r\n$1\r\n1\r\n", words, record.Unchanged},
		{none, "SMEMBERS k", "*0\r\n", none, record.Unchanged},
		{wrong, "SMEMBERS k", wrongType, wrong, record.Unchanged},
		{ints, "SCARD k", ":3\r\n", ints, record.Unchanged},
		{none, "SCARD k", ":0\r\n", none, record.Unchanged},
		{wrong, "SCARD k", wrongType, wrong, record.Unchanged},

		{ints, "SMOVE k k 3", ":1\r\n", ints, record.Unchanged},
		{ints, "SMOVE k k 4", ":0\r\n", ints, record.Unchanged},
		{none, "SMOVE k k 4", ":0\r\n", none, record.Unchanged},
		{wrong, "SMOVE k k 4", wrongType, wrong, record.Unchanged},

		{none, "SPOP k", "$-1\r\n", none, record.Unchanged},
		{setOf("a"), "SPOP k", "$1\r\na\r\n", none, record.Replaced},
		{ints, "SPOP k 7", "*3\r\n$6\r\n-70000\r\n$1\r\n1\r\n$1\r\n3\r\n", none, record.Replaced},
		{ints, "SPOP k 0", "*0\r\n", ints, record.Unchanged},
		{none, "SPOP k 3", "*0\r\n", none, record.Unchanged},
		{wrong, "SPOP k 3", wrongType, wrong, record.Unchanged},
		{wrong, "SPOP k", wrongType, wrong, record.Unchanged},
		{wrong, "SPOP k -1", "-ERR value is out of range, must be positive\r\n", wrong, record.Unchanged},
		{wrong, "SPOP k 1 2", "-ERR syntax error\r\n", wrong, record.Unchanged},

		{none, "SRANDMEMBER k", "$-1\r\n", none, record.Unchanged},
		{none, "SRANDMEMBER k 2", "*0\r\n", none, record.Unchanged},
		{setOf("a"), "SRANDMEMBER k -2", "*2\r\n$1\r\na\r\n$1\r\na\r\n", setOf("a"), record.Unchanged},
		{wrong, "SRANDMEMBER k 1 2", "-ERR syntax error\r\n", wrong, record.Unchanged},
		{wrong, "SRANDMEMBER k", wrongType, wrong, record.Unchanged},
		{ints, "SSCAN k 0 MATCH ?", "*2\r\n$1\r\n0\r\n*2\r\n$1\r\n1\r\n$1\r\n3\r\n", ints, record.Unchanged},
		{wrong, "SSCAN k 0", wrongType, wrong, record.Unchanged},
	})
	for _, c := range []struct{ args, reply string }{{"SMEMBERS k", "~3\r\n"}, {"SPOP k 2", "~2\r\n"}, {"SRANDMEMBER k 2", "*2\r\n"}, {"SPOP k 0", "~0\r\n"}} {
		req := request(strings.Fields(c.args)...)
		req.RESP3 = true
		reply, _, _ := execute(t, ints, req, testNow)
		require.Contains(t, reply, c.reply)
	}
}

// TestIntegers: packed integers are in their order, and take as many bytes as the widest needs.
func TestIntegers(t *testing.T) {
	edges := []int64{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, math.MinInt16, math.MaxInt16, math.MinInt8, math.MaxInt8, 0}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-200, 200), rapid.SampledFrom(edges))
		list := rapid.SliceOfNDistinct(one, 1, 40, func(v int64) int64 { return v }).Draw(t, "list")
		slices.Sort(list)
		s := packIntegers(list, new(space))
		require.True(t, s.valid())
		require.Equal(t, list, s.list(nil))
		require.Equal(t, len(list), s.count())
		v := one.Draw(t, "v")
		at, there := slices.BinarySearch(list, v)
		rank, found := s.find(v)
		require.Equal(t, []any{at, there}, []any{rank, found})
		for i := range s {
			require.False(t, s[:i].valid() && i < integersHead+int(s[1]), "a part of it")
		}
	})
	require.Len(t, packIntegers([]int64{-128, 127}, new(space)), 4)
	require.Len(t, packIntegers([]int64{-129}, new(space)), 4)
	require.Len(t, packIntegers([]int64{32768}, new(space)), 6)
	require.Len(t, packIntegers([]int64{0, 1 << 31}, new(space)), 18)
	for _, bad := range []integers{{}, {0}, {0, 1}, {1, 1, 5}, {0, 3, 1, 2, 3}, {0, 2, 5, 0}, {0, 1, 5, 5}, {0, 1, 6, 5}, {0, 2, 0, 1, 0}} {
		require.False(t, bad.valid(), "%v", bad)
	}
	require.False(t, packIntegers(make([]int64, maxIntegers+1), new(space)).valid())
}

// TestSetsAsAMap compares any sequence of changes with those of a map, in all forms, and with what replicas make of the effects: one that follows each, and one
// that is sent the whole set now and then.
func TestSetsAsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st, want := record.State{}, map[string]bool{}
		for range rapid.IntRange(1, 25).Draw(t, "commands") {
			words := []string{rapid.SampledFrom([]string{"SADD", "SADD", "SREM"}).Draw(t, "name"), "k"}
			from, n := rapid.IntRange(-200, 600).Draw(t, "from"), rapid.SampledFrom([]int{1, 1, 1, 3, 100, 500}).Draw(t, "n")
			prefix := rapid.SampledFrom([]string{"", "", "", "m"}).Draw(t, "prefix")
			for _, number := range numbers(from, from+n) {
				words = append(words, prefix+number)
			}
			changed := 0
			for _, member := range words[2:] {
				if want[member] != (words[0] == "SADD") {
					changed++
				}
				if want[member] = true; words[0] == "SREM" {
					delete(want, member)
				}
			}
			reply, next, eff := execute(t, st, request(words...), testNow)
			require.Equal(t, ":"+strconv.Itoa(changed)+"\r\n", reply)
			if other := arrived(st); eff.Kind == record.Changed {
				applied, err := Apply(other, eff.Delta)
				require.NoError(t, err)
				require.True(t, sameState(next, applied), "a replica that was sent the whole set")
			}
			st = next
			require.Equal(t, len(want) > 0, st.Live())
			require.Equal(t, want, setIn(st))
			if st.Live() {
				requireForm(t, st)
				blob, err := decodeState(encodeState(st))
				require.NoError(t, err)
				require.True(t, sameState(st, blob))
			}
		}
	})
}

// TestSPopTakesWhatItSays: what is handed out is what is gone, whatever the count, and the form.
func TestSPopTakesWhatItSays(t *testing.T) {
	for _, size := range []int{1, 5, 200, 512, 600, 3000} {
		for _, prefix := range []string{"", "m"} {
			all := numbers(0, size)
			for i := range all {
				all[i] = prefix + all[i]
			}
			st, want := setOf(all...), map[string]bool{}
			for _, member := range all {
				want[member] = true
			}
			for i := 0; st.Live(); i++ {
				words := []string{"SPOP", "k"}
				if i%3 > 0 {
					words = append(words, strconv.Itoa(i*i))
				}
				req := request(words...)
				req.Random = uint64(i)
				reply, next, eff := execute(t, st, req, testNow)
				lines := strings.Split(reply, "\r\n")
				popped := lines[1 : len(lines)-1]
				if len(words) > 2 {
					popped = nil
					for j := 2; j < len(lines); j += 2 {
						popped = append(popped, lines[j])
					}
					require.Len(t, popped, min(len(want), i*i))
				}
				for _, member := range popped {
					require.True(t, want[member], "%q was not there any more", member)
					delete(want, member)
				}
				if eff.Kind == record.Changed {
					require.Less(t, len(eff.Delta), 1+len(popped)*8, "as long as what is popped")
				}
				st = next
				require.Equal(t, want, setIn(st))
			}
			require.Empty(t, want)
		}
	}
}

// TestALargeSPopIsADelta: it says what is gone, and no more.
func TestALargeSPopIsADelta(t *testing.T) {
	all := numbers(0, 10_000)
	_, _, eff := execute(t, setOf(all...), request("SPOP", "k", "100"), testNow)
	require.Equal(t, record.Changed, eff.Kind)
	require.Less(t, len(eff.Delta), 600)
	_, _, eff = execute(t, setOf(all...), request("SADD", "k", "x", "5"), testNow)
	require.Equal(t, []byte{deltaFields, 2, 'x', 0}, eff.Delta, "what is there already is not said")
}

// TestRandomMembersAreFair: each member is as likely as any other, in all forms, one by one, several different ones, with repetitions, and for SPOP. The bound is the
// value that chi-square exceeds once in a million times with so many degrees of freedom; the seeds are always the same.
func TestRandomMembersAreFair(t *testing.T) {
	const n, bound = 100, 187.0 // 99 degrees of freedom
	large := numbers(0, n)
	for i := range large {
		large[i] = "m" + strings.Repeat("x", 300) + large[i]
	}
	words := numbers(0, n)
	for i := range words {
		words[i] = "m" + words[i]
	}
	for form, all := range map[string][]string{"integers": numbers(0, n), "packed": words, "parts": large} {
		st := setOf(all...)
		require.Equal(t, form == "parts", st.Object != nil)
		require.Equal(t, form == "integers", isIntegers(st.Value))
		for _, args := range [][]string{{"SRANDMEMBER", "k"}, {"SRANDMEMBER", "k", "1"}, {"SRANDMEMBER", "k", "10"}, {"SRANDMEMBER", "k", "-10"}, {"SRANDMEMBER", "k", "90"}, {"SPOP", "k"}, {"SPOP", "k", "7"}} {
			times, total := map[string]int{}, 0
			seeds := rand.New(rand.NewPCG(20, 26))
			for range 3000 {
				req := request(args...)
				req.Random = seeds.Uint64()
				reply, _ := Execute(nil, st, req, testNow)
				for _, line := range strings.Split(string(reply), "\r\n") {
					if slices.Contains(all, line) {
						times[line]++
						total++
					}
				}
			}
			chi, want := 0.0, float64(total)/n
			for _, member := range all {
				d := float64(times[member]) - want
				chi += d * d / want
			}
			require.Less(t, chi, bound, "%s %v", form, args)
			require.Greater(t, total, 2999)
		}
	}
}

// TestSetsAreLimited by the setting for collections.
func TestSetsAreLimited(t *testing.T) {
	st := setOf(numbers(0, 2000)...)
	req := request("SADD", "k", "x")
	req.MaxCollection = st.Size()
	reply, _, _ := execute(t, st, req, testNow)
	require.Equal(t, "-"+errTooLong(record.Set)+"\r\n", reply)
	req = request("SADD", "k", "x")
	req.MaxValue, req.MaxCollection = 1, st.Size()+4
	reply, _, _ = execute(t, st, req, testNow)
	require.Equal(t, ":1\r\n", reply)
	require.Equal(t, "ERR the set would be longer than a value may be (proto-max-bulk-len, max-collection); nothing was done", errTooLong(record.Set))
}

// TestSScanMissesNothing, though members go meanwhile.
func TestSScanMissesNothing(t *testing.T) {
	st, seen := setOf(numbers(0, 2000)...), map[string]bool{}
	for cursor, pages := "0", 0; cursor != "0" || pages == 0; pages++ {
		reply, _, _ := execute(t, st, request("SSCAN", "k", cursor, "COUNT", "50"), testNow)
		lines := strings.Split(reply, "\r\n")
		cursor = lines[2]
		for i := 5; i < len(lines); i += 2 {
			seen[lines[i]] = true
		}
		_, st, _ = execute(t, st, request("SREM", "k", fmt.Sprint(pages)), testNow)
		require.Less(t, pages, 100)
	}
	for _, member := range numbers(100, 2000) {
		require.True(t, seen[member], member)
	}
}

// TestASmallSetAllocatesNothing: what changes or reads it, at the home and at the other replicas.
func TestASmallSetAllocatesNothing(t *testing.T) {
	long := numbers(100_000_000, 100_000_060)
	words := slices.Clone(long)
	for i := range words {
		words[i] = "m" + words[i]
	}
	for name, st := range map[string]record.State{"integers": setOf(long...), "others": setOf(words...)} {
		for _, args := range [][]string{{"SADD", "k", "5"}, {"SADD", "k", long[3]}, {"SREM", "k", long[3], "x"}, {"SADD", "k", words[3]}, {"SREM", "k", words[3]}, {"SISMEMBER", "k", long[7]}} {
			if name == "integers" && args[0] == "SADD" && args[2] == words[3] {
				continue // which makes another form of it
			}
			req, dst := request(args...), make([]byte, 0, 4096)
			req.Owned = true
			limit := 0.0
			if len(args) > 3 && name == "integers" {
				limit = 10
			}
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() { dst, _ = Execute(dst[:0], st, req, testNow) }), limit, "%s %q", name, args)
			_, eff := Execute(nil, st, req, testNow)
			if eff.Kind != record.Changed {
				continue
			}
			var a Applier
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
				if _, err := a.Apply(st, eff.Delta); err != nil {
					panic(err)
				}
			}), limit, "%s %q", name, args)
		}
	}
}
