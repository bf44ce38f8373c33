package datatype

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// sortArguments draws options of SORT, none of which another key is needed for.
func (g *generator) sortArguments() (out []string) {
	for range g.intn(5) {
		out = append(out, pick(g, []string{g.word("ASC")}, []string{g.word("DESC")}, []string{g.word("DESC")}, []string{g.word("ALPHA")}, []string{g.word("ALPHA")},
			[]string{g.word("ALPHA")}, []string{g.word("LIMIT"), g.index(), g.index()}, []string{g.word("LIMIT"), strconv.Itoa(g.intn(5)), strconv.Itoa(g.intn(20))},
			[]string{g.word("BY"), pick(g, "nosort", "", "#", "\x00*")}, []string{g.word("GET"), pick(g, "#", "#", "#", "##", "x", "", "#\x00*")})...)
	}
	if g.chance(3) {
		out = append(out, pick(g, []string{"LIMIT", "1"}, []string{"BY"}, []string{"GET"}, []string{"STORE"}, []string{"x"}, []string{"LIMIT", "x", "1"}, []string{"LIMIT", "1", ""})...)
	}
	return out
}

// sortElement draws an element that is a number, in one of its forms, or, seldom, none.
func (g *generator) sortElement() string {
	if g.chance(1) {
		return pick(g, "x", "1 ", "nan", "0x", " ", "-", "1e", "1_0", "infin")
	}
	n := strconv.Itoa(g.intn(20) - 10)
	return pick(g, n, n, n, n+".0", n+".5", " "+n, "\t\n"+n, n+"e0", n+"e2", "+"+strings.TrimPrefix(n, "-"), "-0", "", "0x1p3", "0X8", "inf", "-Infinity", "1e300", "8\x00x")
}

// TestSortAsRedis sorts the same in Redis, in both forms of all three types. Only the order in which a set is, if it is not to be sorted, is Redis' own.
func TestSortAsRedis(t *testing.T) {
	addr := redistest.Start(t)
	conns := []*redisConn{dialRedis(t, addr, "2"), dialRedis(t, addr, "3")}
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
		word := func() string {
			return pick(g, g.sortElement(), "", "B", "a", "b", "ab", "aB", "\xff", "é", strconv.Itoa(g.intn(30)))
		}
		element := pick(g, g.sortElement, g.sortElement, func() string { return strings.ReplaceAll(word(), "\x00", "") })
		var elements []string
		for range 1 + g.intn(pick(g, 3, 10, 200)) {
			elements = append(elements, element())
		}
		write := pick(g, append([]string{"RPUSH", "k"}, elements...), append([]string{"SADD", "k"}, elements...), []string{"ZADD", "k"}, []string{"HSET", "k", "f", "v"}, []string{"SET", "k", "v"}, nil)
		if write != nil && write[0] == "ZADD" {
			for _, member := range elements {
				write = append(write, strconv.Itoa(g.intn(9)), member)
			}
		}
		st := record.State{}
		if write != nil {
			_, st, _ = execute(t, st, request(write...), testNow)
		}
		for range 5 {
			args := append([]string{pick(g, "SORT", "sort_ro"), "k"}, g.sortArguments()...)
			if slices.ContainsFunc(args, func(arg string) bool { return strings.EqualFold(arg, "ALPHA") }) && strings.Contains(strings.Join(elements, ""), "\x00") {
				continue // what is equal up to it is in any order in Redis
			}
			which := g.intn(2)
			conn := conns[which]
			conn.send("DEL", "k")
			if write != nil {
				conn.send(write...)
			} else {
				conn.send("EXISTS", "k")
			}
			conn.send(args...)
			require.NoError(t, conn.flush())
			var theirs []byte
			for range 3 {
				var err error
				theirs, err = conn.read(nil)
				require.NoError(t, err)
			}
			req := request(args...)
			req.RESP3 = which == 1
			ours, _, eff := execute(t, st, req, testNow)
			require.Equal(t, noEffect, eff)
			if !sameSorted(step{args: args, reply: ours, before: st}, string(theirs), false) {
				require.Equal(t, string(theirs), ours, "%q of %q", args, write)
			}
		}
	})
}

// sameSorted reports whether two replies of SORT differ only as they may. What a set is in the order of, if it is not sorted, is open. Of strings Redis sees no more than
// what is before a zero byte. And it takes every number for one that is out of range, once it has met one, until something else has gone wrong: longAgo says that it may have.
func sameSorted(s step, reply string, longAgo bool) bool {
	options := strings.ToUpper(strings.Join(s.args[2:], " "))
	if s.reply[0] != '*' || reply[0] != '*' {
		return longAgo && reply == "-"+errSortNumber+"\r\n" && s.reply[0] == '*' ||
			s.reply == "-"+errSortPattern+"\r\n" && strings.Contains(options, "*")
	}
	if s.before.Type == record.Set && strings.Contains(options, "BY") && !strings.Contains(options, "LIMIT") {
		return inOrder(s.reply) == inOrder(reply)
	}
	return shape(s.reply) == shape(reply) &&
		(s.before.Type == record.Set && strings.Contains(options, "BY") || longAgo && strings.Contains(options, "ALPHA") && strings.Contains(s.reply+reply, "\x00"))
}

// TestSortNumbers: what C's strtod says of numbers out of range, Redis says once, and then of all others, too (it does not clear errno).
func TestSortNumbers(t *testing.T) {
	for text, ok := range map[string]bool{
		"0x1p-1074": true, "4.9e-324": false, "2.2250738585072014e-308": true, "2.2250738585072011e-308": false, "0x1p-1075": false, "1e-400": false, "0x1.8p-1074": false,
		"1e400": false, "0e-400": true, "-1e-320": false, "": true, " ": false, "0x.8": true, "1\x00x": true, "\x00": true, "1e308": true, "1e309": false,
		strings.Repeat("0", 3000) + "e-320": true, strings.Repeat("0", 3000) + "1e-320": false,
	} {
		reply, _, _ := execute(t, listOf(text), request("SORT", "k"), testNow)
		require.Equal(t, ok, reply[0] == '*', "%.40q: %q", text, reply)
		if !ok {
			require.Equal(t, "-"+errSortNumber+"\r\n", reply, "%.40q", text)
		}
	}
}

// TestSortRefuses, as a command of one key, what is of others, but first what Redis refuses.
func TestSortRefuses(t *testing.T) {
	runRows(t, []row{
		{st: record.State{}, args: "SORT k BY w_*", reply: "-" + errSortPattern + "\r\n"},
		{st: record.State{}, args: "SORT_RO k BY nosort GET w_*->f", reply: "-" + errSortPattern + "\r\n"},
		{st: record.State{}, args: "SORT k BY * x", reply: "-" + errSyntax + "\r\n"},
		{st: record.State{}, args: "SORT k STORE k", reply: "-" + errSortStore + "\r\n"},
		{st: record.State{}, args: "SORT k STORE l LIMIT 1 x", reply: "-" + errNotInteger + "\r\n"},
		{st: record.State{}, args: "SORT_RO k STORE l", reply: "-" + errSyntax + "\r\n"},
	})
}

// TestSortIsBounded: neither what is sorted nor what is replied takes more memory than a reply may.
func TestSortIsBounded(t *testing.T) {
	large, st := strings.Repeat("x", 8<<20), record.State{}
	push := func(n int) {
		for range n {
			req := request("RPUSH", "k", large)
			req.MaxValue = 512 << 20
			_, eff := Execute(nil, st, req, testNow)
			st = eff.Whole()
		}
	}
	sort := func(options ...string) string {
		reply, _ := Execute(nil, st, request(append([]string{"SORT", "k"}, options...)...), testNow)
		return string(reply[:min(len(reply), 100)])
	}
	push(13)
	require.Equal(t, "-"+errMuchReply+"\r\n", sort("ALPHA", "GET", "#", "GET", "#"))
	require.Equal(t, "*1\r\n$8388608\r\nxx", sort("ALPHA", "LIMIT", "0", "1")[:16])
	push(3)
	require.Equal(t, "-"+errMuchSort+"\r\n", sort("ALPHA", "LIMIT", "0", "1"))
	require.Equal(t, "*1\r\n$8388608\r\nxx", sort("BY", "nosort", "LIMIT", "0", "1")[:16])
}
