package datatype

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/lcs"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// TestSameAsRedis runs random commands here and on a real redis-server and compares
// the replies byte for byte. QUOLL_DIFFERENTIAL sets how long (a Go duration), and
// QUOLL_SEED the first seed.
func TestSameAsRedis(t *testing.T) {
	addr := redistest.Start(t, "--proto-max-bulk-len", "512mb",
		"--hash-max-listpack-entries", "100000", "--hash-max-listpack-value", "100000", // in the order in which fields came
		"--zset-max-listpack-entries", "100000", "--zset-max-listpack-value", "100000") // which decides what ranges of members are if scores differ
	duration, seed := 3*time.Second, uint64(time.Now().UnixNano())
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
	d := &differential{resp2: dialRedis(t, addr, "2"), resp3: dialRedis(t, addr, "3")}
	end := time.Now().Add(duration)
	for ; time.Now().Before(end) && !t.Failed(); seed++ {
		d.run(t, seed)
	}
	t.Logf("compared %d replies", d.compared)
}

type differential struct {
	resp2, resp3 *redisConn
	compared     int
}

// step is a command and what was replied to it here.
type step struct {
	args  []string
	reply string
	// before is the key's state before the command.
	before record.State
	// anyOrder: since it is there the hash was large, or the set had others than integers: it has an order of its own.
	anyOrder bool
}

// run compares one sequence of commands, pipelined in batches. One seed names one
// sequence.
func (d *differential) run(t *testing.T, seed uint64) {
	g := randomGenerator(seed)
	keys, large := map[string]record.State{}, map[string]bool{}
	d.resp2.send("FLUSHALL")
	require.NoError(t, d.resp2.flush())
	_, err := d.resp2.read(nil)
	require.NoError(t, err)
	for range 10 {
		conn, resp3 := d.resp2, false
		if g.chance(50) {
			conn, resp3 = d.resp3, true
		}
		var steps []step
		for range 50 {
			s := runHere(t, g, keys, resp3)
			key := s.args[1]
			large[key] = s.before.Live() && large[key] || s.before.Object != nil || s.before.Type == record.Set && !isIntegers(s.before.Value)
			s.anyOrder = large[key]
			steps = append(steps, s)
			if key := s.args[1]; strings.EqualFold(s.args[0], "SPOP") && keys[key].Live() { // other members are left there
				steps = append(steps, step{args: []string{"DEL", key}, reply: ":1\r\n", before: keys[key]})
				delete(keys, key)
			}
		}
		for _, s := range steps {
			conn.send(s.args...)
		}
		require.NoError(t, conn.flush())
		for i, s := range steps {
			reply, err := conn.read(nil)
			require.NoError(t, err)
			d.compared++
			if !sameReply(s, string(reply)) {
				t.Fatalf("QUOLL_SEED=%d, RESP3 %v: %q on %+.200q\nRedis: %.500q\nhere:  %.500q\nbefore it: %.1000q",
					seed, resp3, s.args, s.before.Packed().Value, reply, s.reply, sameKey(steps[:i], s.args[1]))
			}
		}
	}
}

// runHere makes a command and runs it on the keys.
func runHere(t *testing.T, g *generator, keys map[string]record.State, resp3 bool) step {
	key := pick(g, "a", "b", "c")
	st := keys[key]
	switch kind := g.intn(100); {
	case kind == 0 && !st.Live(): // another type
		keys[key] = record.State{Type: otherType}
		return step{args: []string{"XADD", key, "1-1", "x", "y"}, reply: "$3\r\n1-1\r\n"}
	case kind < 3:
		return runLCS(g, keys, resp3)
	}
	args := g.command(key)
	if g.chance(10) {
		key, st = sketchKey, keys[sketchKey]
		args = g.sketchCommand()
	}
	if st.Type == otherType && strings.EqualFold(args[0], "TYPE") {
		args = []string{"EXISTS", key}
	}
	if dependsOnForm(st, args) {
		args = []string{"ZCARD", key}
	}
	req := request(args...)
	req.RESP3, req.MaxValue, req.Random = resp3, 512<<20, uint64(g.intn(1<<62))
	s := step{args: asSent(args), before: st}
	s.reply, keys[key], _ = execute(t, st, req, time.Now().UnixMilli())
	return s
}

// asSent returns what a client sends for a command that the proxy has put into another form.
func asSent(args []string) []string {
	if !strings.EqualFold(args[0], "LMPOP") && !strings.EqualFold(args[0], "ZMPOP") {
		return args
	}
	sent := []string{args[0], "1", args[1], args[2]}
	if len(args) > 3 {
		sent = append(sent, "COUNT", args[3])
	}
	return sent
}

// dependsOnForm reports whether a command asks for a range of members of a large sorted set whose scores differ: there is no order in which to search them, and
// Redis, which is told to keep all of them as small ones, looks at one after the other. Or it is SORT, which makes a large one of any sorted set: TestSortAsRedis has that.
func dependsOnForm(st record.State, args []string) bool {
	if st.Type == record.SortedSet && strings.HasPrefix(strings.ToUpper(args[0]), "SORT") {
		return true
	}
	z := zsetIn(st)
	return z.board != nil && strings.Contains(strings.ToUpper(strings.Join(args, " ")), "LEX") && z.at(0).score != z.at(z.count()-1).score
}

func runLCS(g *generator, keys map[string]record.State, resp3 bool) step {
	args := []string{"LCS", pick(g, "a", "b", "c"), pick(g, "a", "b", "d")}
	a, b := keys[args[1]], keys[args[2]]
	if holdsOther(a, record.String) || holdsOther(b, record.String) { // the proxy's matter
		return step{args: []string{"ECHO", "x"}, reply: "$1\r\nx\r\n"}
	}
	var options [][]byte
	for range g.intn(4) {
		options = append(options, pick(g, [][]byte{[]byte(g.word("LEN"))}, [][]byte{[]byte(g.word("IDX"))},
			[][]byte{[]byte(g.word("IDX"))}, [][]byte{[]byte(g.word("WITHMATCHLEN"))},
			[][]byte{[]byte(g.word("MINMATCHLEN")), []byte(pick(g, "0", "1", "2", "4", "-1", "x"))},
			[][]byte{[]byte(pick(g, "MINMATCHLEN", "foo", ""))})...)
	}
	for _, option := range options {
		args = append(args, string(option))
	}
	return step{args: args, reply: string(lcs.LCS(nil, a.Packed().Value, b.Packed().Value, options, resp3))}
}

// sameReply compares two replies. Those that tell a time may differ by what passed
// between the two executions, which on a busy machine is seconds. Of random fields there must be as many.
func sameReply(s step, reply string) bool {
	if reply == s.reply {
		return true
	}
	tolerance := int64(0)
	switch strings.ToUpper(s.args[0]) {
	case "HKEYS", "HVALS", "HGETALL", "HSCAN":
		return s.anyOrder && inOrder(s.reply) == inOrder(reply)
	case "HRANDFIELD", "SPOP", "SRANDMEMBER", "ZRANDMEMBER":
		return s.reply[0] != '-' && shape(s.reply) == shape(reply)
	case "SMEMBERS": // of sets with others than integers they are in no order
		return s.anyOrder && inOrder(s.reply) == inOrder(reply)
	case "SSCAN": // and in pages of their own
		return s.anyOrder && s.reply[0] == '*' && reply[0] == '*'
	case "ZSCAN": // a large one in pages of their own
		return s.reply[0] == '*' && reply[0] == '*' && s.before.Object != nil
	case "GEODIST": // the sine is that of another library
		return s.reply[0] == '$' && reply[0] == '$' && math.Abs(distanceIn(s.reply)-distanceIn(reply)) < 1.5e-4
	case "GEOSEARCH", "GEORADIUS", "GEORADIUS_RO", "GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER_RO": // of those that are as far away any may come first
		return s.reply[0] == '*' && strings.Contains(strings.ToUpper(strings.Join(s.args, " ")), "COUNT") && shape(s.reply) == shape(reply)
	case "SORT", "SORT_RO":
		return sameSorted(s, reply, true)
	case "TTL", "EXPIRETIME":
		tolerance = 100
	case "PTTL", "PEXPIRETIME":
		tolerance = 100_000
	}
	here, err := strconv.ParseInt(strings.Trim(s.reply, ":\r\n"), 10, 64)
	there, err2 := strconv.ParseInt(strings.Trim(reply, ":\r\n"), 10, 64)
	return err == nil && err2 == nil && here > 0 && there > 0 && max(here-there, there-here) <= tolerance
}

// distanceIn returns the number that a bulk string is.
func distanceIn(reply string) float64 {
	_, text, _ := strings.Cut(reply, "\r\n")
	f, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return f
}

// sameKey returns the commands on a key.
func sameKey(steps []step, key string) (commands [][]string) {
	for _, s := range steps {
		if s.args[1] == key {
			commands = append(commands, s.args)
		}
	}
	return commands
}

// inOrder returns a reply with what is in it in order.
func inOrder(reply string) string {
	lines := strings.Split(reply, "\r\n")
	slices.Sort(lines)
	return strings.Join(lines, "\r\n")
}

// shape returns a reply without what is in its bulk strings, and without its numbers.
func shape(reply string) (out string) {
	for reply != "" {
		line, rest, _ := strings.Cut(reply, "\r\n")
		if n, err := strconv.Atoi(line[1:]); line[0] == '$' && err == nil && n >= 0 {
			line, rest = "$", rest[n+2:]
		} else if line[0] == ',' || line[0] == ':' {
			line = line[:1]
		}
		out, reply = out+line+" ", rest
	}
	return out
}
