package datatype

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// TestObjectAsRedis compares what is said of values that have just been set with what a Redis says.
func TestObjectAsRedis(t *testing.T) {
	addr := redistest.Start(t)
	redis := map[bool]*redisConn{false: dialRedis(t, addr, "2"), true: dialRedis(t, addr, "3")}
	compare := func(t require.TestingT, set []string) string {
		if h, ok := t.(interface{ Helper() }); ok {
			h.Helper()
		}
		st := record.State{}
		if set != nil {
			_, st, _ = execute(t, st, request(set...), testNow)
		}
		encoding := ""
		for _, about := range []string{"ENCODING", "refcount", "FREQ", "IdleTime"} {
			for resp3, conn := range redis {
				conn.send("DEL", "k")
				if set == nil {
					conn.send("EXISTS", "k")
				} else {
					conn.send(set...)
				}
				conn.send("OBJECT", about, "k")
				require.NoError(t, conn.flush())
				var theirs []byte
				for range 3 {
					var err error
					theirs, err = conn.read(nil)
					require.NoError(t, err)
				}
				req := request("OBJECTSTATE", "k", about)
				req.RESP3 = resp3
				ours, _, eff := execute(t, st, req, testNow)
				require.Equal(t, noEffect, eff)
				if about == "IdleTime" && theirs[0] == ':' { // a second may have begun in between, and small integers are objects that a Redis has had since it was started
					theirs = []byte(":0\r\n")
				}
				require.Equal(t, string(theirs), ours, "OBJECT %s after %.300q", about, set)
				if about == "ENCODING" {
					encoding = ours
				}
			}
		}
		return encoding
	}
	repeated := func(name string, n int, what func(i int) []string) []string {
		args := []string{name, "k"}
		for i := range n {
			args = append(args, what(i)...)
		}
		return args
	}
	field := func(i int) []string { return []string{"f" + strconv.Itoa(i), "v"} }
	scored := func(i int) []string { return []string{"1", "m" + strconv.Itoa(i)} }
	number := func(i int) []string { return []string{strconv.Itoa(i * 1_000_000_007)} }
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		encoding string
		set      []string
	}{
		{"", nil},
		{"int", []string{"SET", "k", "0"}}, {"int", []string{"SET", "k", "9999"}}, {"int", []string{"SET", "k", "10000"}}, {"int", []string{"SET", "k", "-1"}},
		{"int", []string{"SET", "k", "-9223372036854775808"}}, {"embstr", []string{"SET", "k", "9223372036854775808"}}, {"embstr", []string{"SET", "k", "01"}},
		{"embstr", []string{"SET", "k", ""}}, {"embstr", []string{"SET", "k", x(44)}}, {"raw", []string{"SET", "k", x(45)}}, {"raw", []string{"SET", "k", strings.Repeat("1", 45)}},
		{"quicklist", []string{"RPUSH", "k", "1"}},
		{"listpack", repeated("HSET", 512, field)}, {"hashtable", repeated("HSET", 513, field)},
		{"listpack", []string{"HSET", "k", x(64), x(64)}}, {"hashtable", []string{"HSET", "k", x(65), "v"}}, {"hashtable", []string{"HSET", "k", "f", x(65)}},
		{"listpack", repeated("HSET", 512, func(i int) []string { return []string{fmt.Sprintf("%064d", i), x(64)} })}, // more than is packed here
		{"intset", repeated("SADD", 512, number)}, {"hashtable", repeated("SADD", 513, number)}, {"hashtable", []string{"SADD", "k", "1", "x"}}, {"hashtable", []string{"SADD", "k", "01"}},
		{"listpack", repeated("ZADD", 128, scored)}, {"skiplist", repeated("ZADD", 129, scored)}, {"listpack", []string{"ZADD", "k", "1", x(64)}}, {"skiplist", []string{"ZADD", "k", "1", x(65)}},
		{"listpack", repeated("ZADD", 128, func(i int) []string { return []string{"0.1", fmt.Sprintf("%064d", i)} })},
	} {
		if encoding := compare(t, c.set); c.set != nil {
			require.Equal(t, fmt.Sprintf("$%d\r\n%s\r\n", len(c.encoding), c.encoding), encoding, "%.100q", c.set)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
		compare(t, pick(g, func() []string { return []string{"SET", "k", g.value()} }, func() []string { return append([]string{"HSET", "k"}, firstValues(evenly(g))...) },
			func() []string { return append([]string{"ZADD", "k"}, scoredMembers(g)...) }, func() []string { return append([]string{"RPUSH", "k"}, g.value()) },
			func() []string { return append([]string{"SADD", "k", g.integer()}, g.some(g.integer, 3)...) },
			func() []string { return append([]string{"SADD", "k", g.number()}, g.some(g.number, 600)...) })())
	})
}

// firstValues returns each field with its first value: a Redis remembers of one that is named twice that a value was long which is there no more.
func firstValues(pairs []string) (once []string) {
	known := map[string]bool{}
	for i := 0; i < len(pairs); i += 2 {
		if !known[pairs[i]] {
			known[pairs[i]] = true
			once = append(once, pairs[i], pairs[i+1])
		}
	}
	return once
}
