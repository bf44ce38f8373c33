package datatype

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// streamGenerator makes commands on streams.
type streamGenerator struct {
	*rand.Rand
	next int // the time of the next entry
	many bool
}

func (g *streamGenerator) of(texts ...string) string { return texts[g.IntN(len(texts))] }

func (g *streamGenerator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *streamGenerator) key() string {
	if g.chance(3) {
		return g.of("none", "text")
	}
	return g.of("{k}a", "{k}a", "{k}b")
}

func (g *streamGenerator) group() string {
	if g.chance(4) {
		return "nogroup"
	}
	return g.of("g", "g", "h", "")
}

func (g *streamGenerator) consumer() string { return g.of("alice", "bob", "bob", "") }

// id makes an ID near those of entries.
func (g *streamGenerator) id() string {
	switch g.IntN(40) {
	case 0:
		return g.of("x", "-", "+", "", "1-", "-1", "1--2", "1-2-3", "18446744073709551615-18446744073709551615", "18446744073709551616-1", "0x1", "+1-+2", " 3", "03-1", "(1", "1-*")
	case 1:
		return g.of("0", "0-0", "0-1", "18446744073709551615-1", "9223372036854775808")
	case 2:
		return strconv.Itoa(g.IntN(g.next + 2))
	}
	return fmt.Sprintf("%d-%d", max(0, g.next-g.IntN(12)), g.IntN(3))
}

func (g *streamGenerator) ids() (ids []string) {
	for range 1 + g.IntN(4) {
		ids = append(ids, g.id())
	}
	return ids
}

func (g *streamGenerator) bound() string {
	switch g.IntN(8) {
	case 0:
		return "-"
	case 1:
		return "+"
	case 2:
		return "(" + g.id()
	}
	return g.id()
}

func (g *streamGenerator) number() string {
	return g.of("0", "1", "2", "5", "10", "1000", "-1", "x", "1.5", "99999999999999999999")
}

func (g *streamGenerator) trim() (args []string) {
	args = append(args, g.of("MAXLEN", "minid"))
	if g.chance(40) {
		args = append(args, g.of("=", "="))
	}
	if strings.EqualFold(args[0], "minid") {
		return append(args, g.id())
	}
	if g.chance(20) {
		return append(args, g.number())
	}
	return append(args, strconv.Itoa(g.IntN(30)))
}

func (g *streamGenerator) add(key string) []string {
	args := []string{"XADD", key}
	if g.chance(5) {
		args = append(args, "NOMKSTREAM")
	}
	if g.chance(10) && !g.many {
		args = append(args, g.trim()...)
	}
	switch g.IntN(12) {
	case 0:
		args = append(args, g.id())
	case 1:
		args = append(args, fmt.Sprintf("%d-*", g.next-g.IntN(2)))
	case 2:
		args = append(args, strconv.Itoa(g.next))
	default:
		args = append(args, fmt.Sprintf("%d-%d", g.next, g.IntN(3)))
	}
	if g.chance(70) {
		g.next++
	}
	for range 1 + g.IntN(3) {
		args = append(args, g.of("f", "field", ""), g.of("v", "12", "", strings.Repeat("long", g.IntN(30))))
	}
	if g.chance(2) {
		args = args[:len(args)-1]
	}
	return args
}

// command makes any command.
func (g *streamGenerator) command() []string {
	key := g.key()
	switch n := g.IntN(100); {
	case n < 30:
		return g.add(key)
	case n < 34:
		args := []string{g.of("XRANGE", "XREVRANGE"), key, g.bound(), g.bound()}
		if g.chance(40) {
			args = append(args, "COUNT", g.number())
		}
		return args
	case n < 38:
		return append([]string{"XDEL", key}, g.ids()...)
	case n < 40:
		if g.many {
			return []string{"XLEN", key}
		}
		args := append([]string{"XTRIM", key}, g.trim()...)
		if g.chance(10) {
			args = append(args, g.of("LIMIT", "MAXLEN", "x"), g.number())
		}
		return args
	case n < 41:
		args := []string{"XSETID", key, g.id()}
		if g.chance(30) {
			args = append(args, "ENTRIESADDED", g.number())
		}
		if g.chance(30) {
			args = append(args, "MAXDELETEDID", g.id())
		}
		return args
	case n < 42:
		return []string{"XLEN", key}
	case n < 50:
		return g.xgroup(key)
	case n < 54:
		return g.read("XREAD")
	case n < 72:
		return g.read("XREADGROUP")
	case n < 78:
		return append([]string{"XACK", key, g.group()}, g.ids()...)
	case n < 84:
		return g.pending(key)
	case n < 89:
		return g.claim(key)
	case n < 93:
		args := []string{"XAUTOCLAIM", key, g.group(), g.consumer(), g.of("0", "0", "0", "1000000", "x"), g.bound()}
		if g.chance(60) {
			args = append(args, "COUNT", g.of("1", "2", "3", "0", "x"))
		}
		if g.chance(30) {
			args = append(args, "JUSTID")
		}
		return args
	case n < 99:
		return g.info(key)
	}
	return []string{g.of("DEL", "TYPE", "EXISTS", "XGROUP", "XINFO"), key}
}

func (g *streamGenerator) xgroup(key string) []string {
	switch g.IntN(8) {
	case 0, 1, 2:
		args := []string{"XGROUP", "CREATE", key, g.group(), g.of("0", "$", g.id())}
		if g.chance(50) {
			args = append(args, "MKSTREAM")
		}
		if g.chance(20) {
			args = append(args, "ENTRIESREAD", g.number())
		}
		return args
	case 3:
		args := []string{"XGROUP", "SETID", key, g.group(), g.of("0", "$", g.id())}
		if g.chance(30) {
			args = append(args, g.of("ENTRIESREAD", "MKSTREAM"), g.number())
		}
		return args
	case 4:
		if g.chance(70) {
			return []string{"XLEN", key}
		}
		return []string{"XGROUP", "DESTROY", key, g.group()}
	case 5:
		return []string{"XGROUP", "CREATECONSUMER", key, g.group(), g.consumer()}
	case 6:
		return []string{"XGROUP", "DELCONSUMER", key, g.group(), g.consumer()}
	}
	return []string{"XGROUP", g.of("DESTROY", "create", "foo"), key, g.group()}
}

func (g *streamGenerator) read(name string) []string {
	args := []string{name}
	if name == "XREADGROUP" && !g.chance(1) {
		args = append(args, "GROUP", g.group(), g.consumer())
	}
	if g.chance(50) {
		args = append(args, "COUNT", g.of("1", "2", "3", "10", g.number()))
	}
	if g.chance(5) && name == "XREADGROUP" {
		args = append(args, "NOACK")
	}
	if g.chance(2) {
		args = append(args, g.of("NOACK", "x", "GROUP", "COUNT"))
	}
	args = append(args, "STREAMS")
	keys := []string{g.key()}
	if g.chance(25) {
		keys = append(keys, g.key())
	}
	args = append(args, keys...)
	for range keys {
		switch {
		case name == "XREADGROUP" && g.chance(65):
			args = append(args, ">")
		case g.chance(5):
			args = append(args, g.of("$", ">"))
		case g.chance(30):
			args = append(args, "0")
		default:
			args = append(args, g.id())
		}
	}
	if g.chance(1) {
		args = args[:len(args)-1]
	}
	return args
}

func (g *streamGenerator) pending(key string) []string {
	args := []string{"XPENDING", key, g.group()}
	if g.chance(30) {
		return args
	}
	if g.chance(30) {
		args = append(args, "IDLE", g.of("0", "-5", "50000", "10000000", "x"))
	}
	args = append(args, g.bound(), g.bound(), g.number())
	if g.chance(40) {
		args = append(args, g.consumer())
	}
	if g.chance(3) {
		args = args[:len(args)-1]
	}
	return args
}

func (g *streamGenerator) claim(key string) []string {
	args := append([]string{"XCLAIM", key, g.group(), g.consumer(), g.of("0", "0", "0", "50000", "x", "-3")}, g.ids()...)
	for _, option := range [][]string{{"IDLE", g.of("0", "100000", "-5", "x")}, {"TIME", g.of("1", "99999999999999", "-7", "x")}, {"RETRYCOUNT", g.number()}, {"FORCE"}, {"JUSTID"}, {"LASTID", g.id()}, {"OTHER"}} {
		if g.chance(15) && (option[0] != "OTHER" || g.chance(20)) {
			args = append(args, option...)
		}
	}
	return args
}

func (g *streamGenerator) info(key string) []string {
	switch g.IntN(4) {
	case 0:
		return []string{"XINFO", "STREAM", key}
	case 1:
		args := []string{"XINFO", "STREAM", key, "FULL"}
		if g.chance(60) {
			args = append(args, "COUNT", g.number())
		}
		return args
	case 2:
		return []string{"XINFO", "GROUPS", key}
	}
	return []string{"XINFO", "CONSUMERS", key, g.group()}
}

// streamsHere are the keys here.
type streamsHere map[string]record.State

var streamKeys = [][]byte{[]byte("{k}a"), []byte("{k}b"), []byte("none"), []byte("text")}

// run executes a command, as a proxy and a node do, and checks that its delta leads to the same state.
func (h streamsHere) run(t *testing.T, args []string, resp3 bool, now int64) string {
	raw := make([][]byte, len(args))
	for i, arg := range args {
		raw[i] = []byte(arg)
	}
	cmd := command.Lookup(raw[0])
	if called := cmd.Called(raw); called != nil && !called.ArityOK(len(raw)) {
		return "-ERR wrong number of arguments for '" + called.Name + "' command\r\n"
	} else if called == nil {
		return fmt.Sprintf("-ERR unknown subcommand '%s'. Try %s HELP.\r\n", args[1], args[0])
	}
	req := command.Request{Op: cmd.Op, RESP3: resp3, Args: raw}
	if op, first, ok := command.KeyFirst(cmd.Op, raw); ok {
		req.Op, req.Args = op, first
	} else if read, ok := command.StreamReadOf(raw); ok && cmd.Flags&command.FlagBlocking != 0 && len(read.Keys()) == 1 {
		if req.Args, req.Op = read.One(0), command.OpXReadKey; cmd.Op == command.OpXReadGroup {
			req.Op = command.OpXReadGroupKey
		}
	} else if cmd.Flags&command.FlagBlocking != 0 {
		return h.together(&req, now)
	}
	key := string(req.Args[1])
	before := h[key]
	reply, eff := Execute(nil, before, &req, now)
	if eff.Kind == record.Unchanged {
		return string(reply)
	}
	after := eff.Whole().Keep()
	if eff.Kind == record.Changed {
		for _, from := range []record.State{before, before.Packed(), liveOf(before)} {
			applied, err := Apply(from, bytes.Clone(eff.Delta))
			require.NoError(t, err, "%q", args)
			require.Equal(t, after.Packed(), applied.Packed(), "%q", args)
			require.Equal(t, after.Object == nil, applied.Object == nil)
		}
	}
	if after.Live() && after.Type == record.Stream {
		require.True(t, streamVerbs.valid(after.Packed().Value), "%q", args)
	}
	h[key] = after
	return string(reply)
}

func liveOf(st record.State) record.State {
	live, _ := Live(st.Packed())
	return live
}

// together executes a command on several keys.
func (h streamsHere) together(req *command.Request, now int64) string {
	states := make([]record.State, len(streamKeys))
	for i, key := range streamKeys {
		states[i] = h[string(key)]
	}
	k := NewKeyspace(streamKeys, states, now, func(r *command.Request) { r.MaxValue = MaxValueLen })
	reply := string(k.Execute(nil, req))
	for i, eff := range k.Effects() {
		if eff.Kind != record.Unchanged {
			h[string(streamKeys[i])] = eff.Whole().Keep()
		}
	}
	return reply
}

// sameStreams makes replies comparable: times are near each other, and nobody has Redis' tree.
func sameStreams(args []string, reply string) string {
	lines := strings.Split(reply, "\r\n")
	for i := range lines {
		if i >= 1 && (lines[i-1] == "radix-tree-keys" || lines[i-1] == "radix-tree-nodes" || lines[i-1] == "idle") {
			lines[i] = ":?"
		}
		if n, err := strconv.ParseInt(strings.TrimPrefix(lines[i], ":"), 10, 64); err == nil && strings.HasPrefix(lines[i], ":") && (n > 1e12 && n < 1e15) {
			lines[i] = ":time"
		}
		if strings.EqualFold(args[0], "XPENDING") && len(args) > 3 && strings.HasPrefix(lines[i], ":") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], ":") {
			n, _ := strconv.ParseInt(lines[i][1:], 10, 64)
			lines[i] = ":" + strconv.FormatInt(n/20000, 10)
		}
	}
	return strings.Join(lines, "\r\n")
}

// TestStreamsSameAsRedis runs random commands on streams here and on a real redis-server. See TestSameAsRedis.
func TestStreamsSameAsRedis(t *testing.T) {
	addr := redistest.Start(t)
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
	conns := []*redisConn{dialRedis(t, addr, "2"), dialRedis(t, addr, "3")}
	compared, sequences := 0, 0
	for end := time.Now().Add(duration); time.Now().Before(end) && !t.Failed(); seed++ {
		sequences++
		g := &streamGenerator{Rand: rand.New(rand.NewPCG(seed, 0)), next: 5}
		here := streamsHere{"text": {Type: record.String, Value: []byte("x")}}
		conns[0].send("FLUSHALL")
		conns[0].send("SET", "text", "x")
		require.NoError(t, conns[0].flush())
		for range 2 {
			_, err := conns[0].read(nil)
			require.NoError(t, err)
		}
		g.many = g.chance(20)
		var log []string
		for range 8 {
			resp3 := g.IntN(2)
			var all [][]string
			for range 25 {
				all = append(all, g.command())
			}
			if g.many {
				for range 60 {
					all = append(all, g.add("{k}a"))
				}
			}
			replies := make([]string, len(all))
			now := time.Now().UnixMilli()
			for i, args := range all {
				replies[i] = here.run(t, args, resp3 == 1, now)
				conns[resp3].send(args...)
			}
			require.NoError(t, conns[resp3].flush())
			for i, args := range all {
				reply, err := conns[resp3].read(nil)
				require.NoError(t, err)
				log = append(log, fmt.Sprintf("%q", args))
				compared++
				if theirs, ours := sameStreams(args, string(reply)), sameStreams(args, replies[i]); theirs != ours {
					t.Fatalf("QUOLL_SEED=%d RESP3 %d %q\nRedis: %q\nhere:  %q\nafter:\n%s", seed, resp3, args, theirs, ours, strings.Join(log[max(0, len(log)-25):], "\n"))
				}
			}
		}
		here.restored(t, conns[0], seed)
	}
	t.Logf("compared %d replies of %d sequences", compared, sequences)
}

// restored checks that what Redis dumps is the same when it is restored here, and what is dumped here when Redis restores it.
func (h streamsHere) restored(t *testing.T, redis *redisConn, seed uint64) {
	ask := func(args ...string) string {
		redis.send(args...)
		require.NoError(t, redis.flush())
		reply, err := redis.read(nil)
		require.NoError(t, err)
		return string(reply)
	}
	full := []string{"XINFO", "STREAM", "{k}a", "FULL", "COUNT", "0"}
	payload, has := bulkText(ask("DUMP", "{k}a"))
	if !has {
		return
	}
	now := time.Now().UnixMilli()
	there := streamsHere{}
	reply, eff := Execute(nil, record.State{}, requestOf(command.OpRestore, "RESTORE", "{k}a", "0", payload), now)
	require.Equal(t, "+OK\r\n", string(reply), "QUOLL_SEED=%d", seed)
	there["{k}a"] = eff.Whole()
	want := sameStreams(full, ask(full...))
	require.Equal(t, want, sameStreams(full, there.run(t, full, false, now)), "QUOLL_SEED=%d", seed)

	reply, _ = Execute(nil, h["{k}a"], requestOf(command.OpDump, "DUMP", "{k}a"), now)
	payload, _ = bulkText(string(reply))
	require.Equal(t, "+OK\r\n", ask("RESTORE", "{k}a", "0", payload, "REPLACE"), "QUOLL_SEED=%d", seed)
	require.Equal(t, want, sameStreams(full, ask(full...)), "QUOLL_SEED=%d", seed)
	reply, eff = Execute(nil, record.State{}, requestOf(command.OpRestore, "RESTORE", "{k}a", "0", payload), now)
	require.Equal(t, "+OK\r\n", string(reply), "QUOLL_SEED=%d", seed)
	again, _ := Execute(nil, eff.Whole(), requestOf(command.OpDump, "DUMP", "{k}a"), now)
	second, _ := bulkText(string(again))
	require.Equal(t, payload, second)
}

func bulkText(reply string) (text string, has bool) {
	_, rest, _ := strings.Cut(reply, "\r\n")
	return strings.TrimSuffix(rest, "\r\n"), !strings.HasPrefix(reply, "$-1")
}

func requestOf(op command.Op, args ...string) *command.Request {
	req := &command.Request{Op: op}
	for _, arg := range args {
		req.Args = append(req.Args, []byte(arg))
	}
	return req
}
