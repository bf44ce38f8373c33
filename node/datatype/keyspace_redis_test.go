package datatype

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// TestKeyspaceAsRedis runs random commands of several keys in keyspaces and on a real redis-server, and compares the replies, and what the keys hold in the end.
// QUOLL_DIFFERENTIAL and QUOLL_SEED are as in TestSameAsRedis.
func TestKeyspaceAsRedis(t *testing.T) {
	addr := redistest.Start(t, "--proto-max-bulk-len", "512mb", "--zset-max-listpack-entries", "100000", "--zset-max-listpack-value", "100000")
	duration, seed := time.Second, uint64(time.Now().UnixNano())
	if text := os.Getenv("QUOLL_DIFFERENTIAL"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	if text := os.Getenv("QUOLL_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	conns := []*redisConn{dialRedis(t, addr, "2"), dialRedis(t, addr, "3")}
	compared := 0
	for end := time.Now().Add(duration); time.Now().Before(end) && !t.Failed(); seed++ {
		compared += runKeyspace(t, seed, conns)
	}
	t.Logf("compared %d replies", compared)
}

// runKeyspace compares one sequence of commands, and returns how many they were. They are executed in keyspaces of 20.
func runKeyspace(t *testing.T, seed uint64, conns []*redisConn) (compared int) {
	g := &severalGenerator{randomGenerator(seed), ""}
	g.kind = pick(g.generator, "string", "list", "set", "integers", "zset", "sketch", "geo", "hash")
	names := make([][]byte, len(severalKeys))
	for i, name := range severalKeys {
		names[i] = []byte(name)
	}
	states := make([]record.State, len(names))
	conns[0].ask(t, "FLUSHALL")
	for range 5 {
		resp3 := g.chance(50)
		conn := conns[0]
		if resp3 {
			conn = conns[1]
		}
		k := NewKeyspace(names, states, time.Now().UnixMilli(), func(req *command.Request) { req.MaxValue, req.MaxCollection = 64<<20, 64<<20 })
		var done [][]string
		for range 20 {
			args := g.command()
			if isLexOfDifferentScores(k, args) {
				continue
			}
			here := executeHere(k, args, resp3)
			if here == "-"+errForeignKey+"\r\n" || strings.Contains(here, "by Quoll") {
				continue
			}
			done = append(done, args)
			there := conn.ask(t, args...)
			compared++
			if there == "-"+errSortNumber+"\r\n" && here[0] == ':' { // Redis takes numbers for such for a while, see TestSortNumbers
				for _, key := range severalKeys {
					executeHere(k, []string{"DEL", key}, resp3)
					conn.ask(t, "DEL", key)
				}
				continue
			}
			if !sameOfSeveral(args, here, there) {
				t.Fatalf("QUOLL_SEED=%d RESP3 %v: %.200q %s\nbefore it: %s", seed, resp3, args, difference(here, there), lastOf(done))
			}
			if strings.HasPrefix(here, "-INVALIDOBJ") && strings.EqualFold(args[0], "PFADD") { // Redis has added some of the elements
				executeHere(k, []string{"DEL", args[1]}, resp3)
				conn.ask(t, "DEL", args[1])
			}
		}
		for i, effect := range k.Effects() {
			if effect.Kind != record.Unchanged {
				states[i] = effect.State
			}
		}
		after := NewKeyspace(names, states, time.Now().UnixMilli(), nil)
		for i, key := range severalKeys {
			for _, args := range readings(states[i], key) {
				here, there := executeHere(after, args, resp3), conn.ask(t, args...)
				if !sameOfSeveral(args, here, there) {
					t.Fatalf("QUOLL_SEED=%d RESP3 %v: in the end %.200q %s\nbefore it: %s", seed, resp3, args, difference(here, there), lastOf(done))
				}
			}
		}
	}
	return compared
}

// isLexOfDifferentScores reports whether a command asks for a range of members in a sorted set that has no order for that: what is in it depends on the form.
func isLexOfDifferentScores(k *Keyspace, args []string) bool {
	if !strings.EqualFold(args[0], "ZRANGESTORE") || !slices.ContainsFunc(args, func(arg string) bool { return strings.EqualFold(arg, "BYLEX") }) {
		return false
	}
	z := zsetIn(k.get([]byte(args[2])))
	return z.count() > 0 && z.at(0).score != z.at(z.count()-1).score
}

// difference is where two replies differ.
func difference(here, there string) string {
	at := 0
	for at < min(len(here), len(there)) && here[at] == there[at] {
		at++
	}
	from := max(0, at-40)
	return fmt.Sprintf("from byte %d on\nRedis: %.200q\nhere:  %.200q", from, there[from:], here[from:])
}

// lastOf writes commands, the last ones of them if they are long.
func lastOf(done [][]string) string {
	text := ""
	for _, args := range done {
		line := fmt.Sprintf("%.40q", args)
		text += line[:min(len(line), 150)] + " "
	}
	return text[max(0, len(text)-2500):]
}

// executeHere executes a command on a keyspace, of which rubbish is made then.
func executeHere(k *Keyspace, args []string, resp3 bool) (reply string) {
	req := clientRequest(args...)
	req.RESP3 = resp3
	out := k.Execute(nil, req)
	reply = string(out)
	for _, b := range append(req.Args, out[:cap(out)]) {
		for i := range b {
			b[i] ^= 0x55
		}
	}
	return reply
}

// ask sends a command and returns its reply.
func (c *redisConn) ask(t *testing.T, args ...string) string {
	t.Helper()
	c.send(args...)
	require.NoError(t, c.flush())
	reply, err := c.read(nil)
	require.NoError(t, err)
	return string(reply)
}

// readings are commands that say all of what a key holds.
func readings(st record.State, key string) [][]string {
	all := [][]string{{"TYPE", key}, {"TTL", key}}
	switch st.Type {
	case record.String:
		return append(all, []string{"GET", key})
	case record.Hash:
		return append(all, []string{"HGETALL", key})
	case record.List:
		return append(all, []string{"LRANGE", key, "0", "-1"})
	case record.Set:
		return append(all, []string{"SMEMBERS", key}, []string{"OBJECT", "ENCODING", key})
	case record.SortedSet:
		return append(all, []string{"ZRANGE", key, "0", "-1", "WITHSCORES"})
	}
	return all
}

// sameOfSeveral compares two replies.
func sameOfSeveral(args []string, here, there string) bool {
	if here == there {
		return true
	}
	name := strings.ToUpper(args[0])
	switch {
	case name == "TTL":
		h, err := strconv.Atoi(strings.Trim(here, ":\r\n"))
		r, err2 := strconv.Atoi(strings.Trim(there, ":\r\n"))
		return err == nil && err2 == nil && h > 0 && r > 0 && max(h-r, r-h) < 100
	case name == "HGETALL", name == "SMEMBERS", name == "SINTER", name == "SUNION", name == "SDIFF":
		return inOrder(here) == inOrder(there)
	case name == "OBJECT": // of a set that was others before
		return here[0] == '$' && there[0] == '$'
	case name == "ZRANGE" && args[1] == severalKeys[4]:
		return sameNumbers(here, there)
	case strings.HasPrefix(name, "GEO"): // of those that are as far away any may come first
		return strings.Contains(strings.ToUpper(strings.Join(args, " ")), "COUNT") && shape(here) == shape(there)
	}
	return false
}

// sameNumbers compares replies in which numbers may differ a little.
func sameNumbers(here, there string) bool {
	a, b := strings.Split(here, "\r\n"), strings.Split(there, "\r\n")
	return slices.EqualFunc(a, b, func(a, b string) bool {
		x, err := strconv.ParseFloat(strings.TrimPrefix(a, ","), 64)
		y, err2 := strconv.ParseFloat(strings.TrimPrefix(b, ","), 64)
		return a == b || strings.HasPrefix(a, "$") && strings.HasPrefix(b, "$") || err == nil && err2 == nil && math.Abs(x-y) <= 1e-6*math.Abs(x)
	})
}
