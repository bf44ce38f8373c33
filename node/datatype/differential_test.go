package datatype

import (
	"os"
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
		"--hash-max-listpack-entries", "100000", "--hash-max-listpack-value", "100000") // in the order in which fields came
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
}

// run compares one sequence of commands, pipelined in batches. One seed names one
// sequence.
func (d *differential) run(t *testing.T, seed uint64) {
	g := randomGenerator(seed)
	keys := map[string]record.State{}
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
			conn.send(s.args...)
			steps = append(steps, s)
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
		return step{args: []string{"RPUSH", key, "x"}, reply: ":1\r\n"}
	case kind < 3:
		return runLCS(g, keys, resp3)
	}
	args := g.command(key)
	if st.Type == otherType && strings.EqualFold(args[0], "TYPE") {
		args = []string{"EXISTS", key}
	}
	req := request(args...)
	req.RESP3, req.MaxValue, req.Random = resp3, 512<<20, uint64(g.intn(1<<62))
	s := step{args: args, before: st}
	s.reply, keys[key], _ = execute(t, st, req, time.Now().UnixMilli())
	return s
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
	case "HRANDFIELD":
		return s.reply[0] != '-' && shape(s.reply) == shape(reply)
	case "TTL", "EXPIRETIME":
		tolerance = 100
	case "PTTL", "PEXPIRETIME":
		tolerance = 100_000
	}
	here, err := strconv.ParseInt(strings.Trim(s.reply, ":\r\n"), 10, 64)
	there, err2 := strconv.ParseInt(strings.Trim(reply, ":\r\n"), 10, 64)
	return err == nil && err2 == nil && here > 0 && there > 0 && max(here-there, there-here) <= tolerance
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

// shape returns a reply without what is in its bulk strings.
func shape(reply string) (out string) {
	for reply != "" {
		line, rest, _ := strings.Cut(reply, "\r\n")
		if n, err := strconv.Atoi(line[1:]); line[0] == '$' && err == nil && n >= 0 {
			line, rest = "$", rest[n+2:]
		}
		out, reply = out+line+" ", rest
	}
	return out
}
