package algebra

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/resp"
)

// words returns the arguments of a command line.
func words(line string) (args [][]byte) {
	for _, word := range strings.Fields(line) {
		args = append(args, []byte(word))
	}
	return args
}

func setOf(members ...string) Collection {
	c := AppendSet(nil)
	for _, m := range members {
		c = AppendMember(c, []byte(m))
	}
	return Collection(c)
}

func sortedOf(pairs ...any) Collection {
	c := AppendSortedSet(nil)
	for i := 0; i < len(pairs); i += 2 {
		c = AppendScored(c, []byte(pairs[i].(string)), pairs[i+1].(float64))
	}
	return Collection(c)
}

// The replies are those of Redis 7.0.15.
func TestReplies(t *testing.T) {
	abc, bcd, none, z := setOf("a", "b", "c"), setOf("b", "c", "d"), Collection(""), sortedOf("a", 1.5, "b", math.Inf(1))
	two := []Collection{abc, bcd}
	for _, c := range []struct {
		line  string
		of    []Collection
		resp3 bool
		reply string
	}{
		{"SINTER x y", two, false, "*2\r\n$1\r\nb\r\n$1\r\nc\r\n"},
		{"SINTER x y", two, true, "~2\r\n$1\r\nb\r\n$1\r\nc\r\n"},
		{"sunion x y", two, true, "~4\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n"},
		{"SDIFF x y", two, false, "*1\r\n$1\r\na\r\n"},
		{"SDIFF x x", []Collection{abc, abc}, false, "*0\r\n"},
		{"SDIFF n x", []Collection{none, abc}, false, "*0\r\n"},
		{"SINTER x n", []Collection{abc, none}, true, "~0\r\n"},
		{"SUNION n n", []Collection{none, none}, false, "*0\r\n"},
		{"SINTERCARD 2 x y", two, false, ":2\r\n"},
		{"SINTERCARD 2 x y LIMIT 1", two, false, ":1\r\n"},
		{"SINTERCARD 2 x y limit 9 limit 0", two, false, ":2\r\n"},
		{"ZUNION 2 x z WITHSCORES", []Collection{abc, z}, false, "*6\r\n$1\r\nc\r\n$1\r\n1\r\n$1\r\na\r\n$3\r\n2.5\r\n$1\r\nb\r\n$3\r\ninf\r\n"},
		{"ZUNION 2 x z", []Collection{abc, z}, true, "*3\r\n$1\r\nc\r\n$1\r\na\r\n$1\r\nb\r\n"},
		{"ZINTER 2 x z WEIGHTS 2 -inf AGGREGATE MIN WITHSCORES", []Collection{abc, z}, true, "*2\r\n*2\r\n$1\r\na\r\n,-inf\r\n*2\r\n$1\r\nb\r\n,-inf\r\n"},
		{"ZINTER 2 z z WEIGHTS 1 -1 WITHSCORES", []Collection{z, z}, false, "*4\r\n$1\r\na\r\n$1\r\n0\r\n$1\r\nb\r\n$1\r\n0\r\n"},
		{"ZUNION 1 z WEIGHTS 0 WITHSCORES", []Collection{z}, false, "*4\r\n$1\r\na\r\n$1\r\n0\r\n$1\r\nb\r\n$1\r\n0\r\n"},
		{"ZDIFF 2 z y WITHSCORES", []Collection{z, bcd}, true, "*1\r\n*2\r\n$1\r\na\r\n,1.5\r\n"},
		{"ZINTERCARD 2 z x LIMIT 0", []Collection{z, abc}, false, ":2\r\n"},
		{"ZUNION 1 z WEIGHTS", []Collection{z}, false, "-" + errSyntax + "\r\n"},
		{"ZUNION 1 z WEIGHTS x", []Collection{z}, false, "-" + errWeight + "\r\n"},
		{"ZDIFF 1 z WEIGHTS 1", []Collection{z}, false, "-" + errSyntax + "\r\n"},
		{"ZUNION 1 z AGGREGATE foo", []Collection{z}, false, "-" + errSyntax + "\r\n"},
		{"ZINTERCARD 1 z LIMIT -1", []Collection{z}, false, "-" + errLimit + "\r\n"},
		{"SUNION x", []Collection{"\x00\x09a"}, false, "-" + errDamaged + "\r\n"},
	} {
		command, problem := Parse(words(c.line))
		require.Empty(t, problem, c.line)
		require.Len(t, command.Keys, len(c.of))
		require.Equal(t, c.line[0] != 'Z', command.Sets())
		require.Equal(t, "before"+c.reply, string(command.Reply([]byte("before"), c.of, c.resp3)), c.line)
	}
	for line, want := range map[string]string{
		"SINTERCARD x a": errNumKeys, "SINTERCARD 0 a": errNumKeys, "SINTERCARD 2 a": errManyKeys, "SINTERCARD 1 a LIMIT": errSyntax, "SINTERCARD 1 a LIMIT x": errLimit,
		"SINTERCARD 1 a LIMIT -1": errLimit, "SINTERCARD 1 a FOO 1": errSyntax, "ZUNION x z": errInteger, "ZUNION 2 z": errSyntax,
		"ZUNION 0 z": "ERR at least 1 input key is needed for 'zunion' command", "ZFOO 1 z": "ERR 'zfoo' is no command on several sets",
	} {
		_, problem := Parse(words(line))
		require.Equal(t, want, problem, line)
	}
	for text, ok := range map[string]bool{"1": true, "0x10": true, "inf": true, "-Infinity": true, "1.": true, ".5": true, "1e-400": false, "0e-400": true, "1e400": false, "nan": false, "": false, "1_0": false, " 1": false, "0x": false} {
		_, got := parseDouble([]byte(text))
		require.Equal(t, ok, got, text)
	}
}

// TestAsMaps compares with sets that are maps.
func TestAsMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "", "\x00"}), 0, 6, rapid.ID[string]), 1, 4).Draw(t, "sets")
		times, in := map[string]int{}, make([]map[string]bool, len(lists))
		var of []Collection
		line := fmt.Sprint(len(lists))
		keys := ""
		for i, list := range lists {
			in[i] = map[string]bool{}
			for _, member := range list {
				times[member]++
				in[i][member] = true
			}
			of = append(of, setOf(list...))
			keys += " k"
		}
		for name, wanted := range map[string]func(member string) bool{
			"SUNION": func(string) bool { return true },
			"SINTER": func(member string) bool { return times[member] == len(lists) },
			"SDIFF":  func(member string) bool { return in[0][member] && times[member] == 1 },
		} {
			var want []string
			for member := range times {
				if wanted(member) {
					want = append(want, string(resp.AppendBulk(nil, member)))
				}
			}
			slices.Sort(want)
			c, _ := Parse(words(name + keys))
			var got []string
			for _, e := range c.combine(of) {
				got = append(got, string(resp.AppendBulk(nil, e.member)))
			}
			slices.Sort(got)
			require.Equal(t, want, got, name)
			z, problem := Parse(words("Z" + name[1:] + " " + line + keys))
			require.Empty(t, problem)
			require.Len(t, z.combine(of), len(want))
		}
	})
}

// FuzzCollection: whatever a node sends, nothing panics, and what is valid is what it says.
func FuzzCollection(f *testing.F) {
	f.Add(string(setOf("a", "")))
	f.Add(string(sortedOf("a", 1.5)))
	f.Add("\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
	f.Fuzz(func(t *testing.T, bytes string) {
		c := Collection(bytes)
		command, _ := Parse(words("ZUNION 2 a b"))
		command.Reply(nil, []Collection{c, c}, false)
		if c.Valid() != nil || len(c) == 0 {
			return
		}
		again := AppendSet(nil)
		if c[0] == scoredKind {
			again = AppendSortedSet(nil)
		}
		for member, score := range c.all() {
			if c[0] == scoredKind {
				again = AppendScored(again, []byte(member), score)
			} else {
				again = AppendMember(again, []byte(member))
			}
		}
		require.Equal(t, c.count(), Collection(again).count())
	})
}
