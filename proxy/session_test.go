package proxy

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
)

// TestPipelineKeepsOrder mixes operations, errors and commands of the proxy in one
// write.
func TestPipelineKeepsOrder(t *testing.T) { eachWay(t, testPipelineKeepsOrder) }

func testPipelineKeepsOrder(t *testing.T, w way) {
	_, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	c := dial(t, addr)
	c.send("SET a 1", "GET a", "PING", "NOSUCH x", "GET", "LPUSH l 1", "MSET b 2 c 3", "MGET a b none c",
		"INCR a", "DBSIZE", "DEL a b none", "EXISTS c c", "ECHO hi", "GET a", "QUIT", "SET late 1")
	require.Equal(t, "+OK\r\n$1\r\n1\r\n+PONG\r\n-ERR unknown command 'NOSUCH', with args beginning with: 'x' \r\n"+
		"-ERR wrong number of arguments for 'get' command\r\n"+
		"-ERR 'LPUSH' is not supported yet by Quoll; nothing was done. The connection can be used on\r\n+OK\r\n"+
		"*4\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n$1\r\n3\r\n:2\r\n:3\r\n:2\r\n:2\r\n$2\r\nhi\r\n$-1\r\n+OK\r\n", c.rest())
}

func TestPipelineIsOneBatch(t *testing.T) { eachWay(t, testPipelineIsOneBatch) }

func testPipelineIsOneBatch(t *testing.T, w way) {
	cluster := newFakeCluster()
	sizes := make(chan int, 10)
	cluster.before = func(b *Batch) { sizes <- len(b.Ops) }
	_, addr := w.serve(t, ServerConfig{}, cluster)
	c := dial(t, addr)
	c.send("SET a 1", "MGET a b c", "DEL a b", "GET a")
	for range 4 {
		c.reply()
	}
	require.Equal(t, 7, <-sizes)
	require.Empty(t, sizes)
}

func TestLargePipelineIsSeveralBatches(t *testing.T) { eachWay(t, testLargePipelineIsSeveralBatches) }

func testLargePipelineIsSeveralBatches(t *testing.T, w way) {
	cluster := newFakeCluster()
	cluster.data["k"] = strings.Repeat("v", 1000)
	largest := 0
	cluster.before = func(b *Batch) { largest = max(largest, len(b.Ops)) }
	_, addr := w.serve(t, ServerConfig{OutputLimit: 16 << 10}, cluster)
	c := dial(t, addr)
	for round := range 3 {
		if round == 1 {
			largest = 0 // the first batch told how large the replies are
		}
		c.send(strings.Split(strings.TrimSuffix(strings.Repeat("GET k\n", 500), "\n"), "\n")...)
		for range 500 {
			require.Len(t, c.reply(), 1000+len("$1000\r\n\r\n"))
		}
	}
	require.LessOrEqual(t, largest, 17)
}

// TestPartlyDone says what a client reads when some keys of a command could not be
// served.
func TestPartlyDone(t *testing.T) { eachWay(t, testPartlyDone) }

func testPartlyDone(t *testing.T, w way) {
	noMajority := AppendReply(nil, ErrNoMajority)
	unknown := AppendReply(nil, ErrUnknownOutcome)
	cluster := newFakeCluster()
	cluster.intercept = func(op *Op) bool {
		switch key := string(op.Req.Args[1]); {
		case strings.HasPrefix(key, "gone"):
			op.Outcome, op.Reply = NoEffect, noMajority
		case strings.HasPrefix(key, "maybe"):
			op.Outcome, op.Reply = Unknown, unknown
		default:
			return false
		}
		return true
	}
	_, addr := w.serve(t, ServerConfig{}, cluster)
	c := dial(t, addr)
	require.Equal(t, string(noMajority), c.do("MSET gone1 a gone2 b"))
	require.Equal(t, string(unknown), c.do("DEL maybe1"))
	require.Equal(t, "-UNKNOWN the command was executed on a part of its keys only: 1 of 2 keys were written; "+
		"nothing was done to the other 1. The first of them answered: "+string(noMajority[1:]), c.do("MSET k a gone2 b"))
	require.Equal(t, "-UNKNOWN the command was executed on a part of its keys only: 1 of 3 keys were certainly written "+
		"and 1 certainly not; the outcome for the other 1 is not known. Read them before repeating it\r\n", c.do("DEL k gone1 maybe1"))
	require.Equal(t, string(noMajority), c.do("MGET k gone1 gone2"))
	require.Equal(t, string(noMajority), c.do("EXISTS k gone1"))
	require.Equal(t, string(noMajority), c.do("LCS k gone1"))
	require.Equal(t, string(noMajority), c.do("COPY gone1 gone1{gone1}"))
	require.Equal(t, string(unknown), c.do("GET maybe1"))
}

func TestCopyAndLCS(t *testing.T) { eachWay(t, testCopyAndLCS) }

func testCopyAndLCS(t *testing.T, w way) {
	_, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	c := dial(t, addr)
	for _, step := range [][2]string{
		{"SET {k}a ohmytext", "+OK\r\n"},
		{"COPY {k}a {k}b", ":1\r\n"},
		{"COPY {k}a {k}b", ":0\r\n"},
		{"COPY {k}a {k}b REPLACE DB 0", ":1\r\n"},
		{"COPY {k}none {k}b", ":0\r\n"},
		{"COPY {k}a {k}b DB 1", "-ERR DB index is out of range\r\n"},
		{"COPY {k}a {k}b DB x", "-ERR value is not an integer or out of range\r\n"},
		{"COPY {k}a {k}b FOO", "-ERR syntax error\r\n"},
		{"COPY {k}a {k}a", "-ERR source and destination objects are the same\r\n"},
		{"COPY a b", "-CROSSSLOT Keys in request don't hash to the same slot\r\n"},
		{"GET {k}b", "$8\r\nohmytext\r\n"},
		{"SET other mynewtext", "+OK\r\n"},
		{"LCS {k}a other", "$6\r\nmytext\r\n"},
		{"LCS {k}a other LEN", ":6\r\n"},
		{"LCS {k}a none", "$0\r\n\r\n"},
		{"LCS {k}a other FOO", "-ERR syntax error\r\n"},
		{"MEMORY USAGE {k}a", ":108\r\n"},
		{"MEMORY USAGE none", "$-1\r\n"},
	} {
		require.Equal(t, step[1], c.do(step[0]), step[0])
	}
}

func TestClientReply(t *testing.T) { eachWay(t, testClientReply) }

func testClientReply(t *testing.T, w way) {
	_, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	c := dial(t, addr)
	c.send("SET a 1", "CLIENT REPLY SKIP", "GET a", "GET a", "CLIENT REPLY OFF", "GET a", "MGET a a", "PING",
		"NOSUCH", "CLIENT REPLY SKIP", "CLIENT REPLY ON", "MGET a")
	require.Equal(t, "+OK\r\n", c.reply())
	require.Equal(t, "$1\r\n1\r\n", c.reply())
	require.Equal(t, "+OK\r\n", c.reply())
	require.Equal(t, "*1\r\n$1\r\n1\r\n", c.reply())
}

// TestProtocolErrors: what came before is answered, then the error, then the
// connection is closed. Other clients notice nothing.
func TestProtocolErrors(t *testing.T) { eachWay(t, testProtocolErrors) }

func testProtocolErrors(t *testing.T, w way) {
	server, addr := w.serve(t, ServerConfig{Limits: resp.Limits{MaxBulk: 1000, MaxArgs: 100}}, newFakeCluster())
	other := dial(t, addr)
	require.Equal(t, "+PONG\r\n", other.do("PING"))
	for packet, want := range map[string]string{
		"*1\r\n$9223372036854775800\r\nPING\r\n": "invalid bulk length",
		"*1\r\n$1001\r\n":                        "invalid bulk length",
		"*3000000000\r\n":                        "invalid multibulk length",
		"*101\r\n":                               "invalid multibulk length",
		"*1\r\nPING\r\n":                         "expected '$', got 'P'",
		"SET \"a b\r\n":                          "unbalanced quotes in request",
	} {
		c := dial(t, addr)
		_, err := c.Write([]byte("PING\r\n" + packet + strings.Repeat("x", 100_000)))
		require.NoError(t, err)
		require.Equal(t, "+PONG\r\n-ERR Protocol error: "+want+"\r\n", c.rest(), packet)
	}
	require.Equal(t, "+PONG\r\n", other.do("PING"))
	require.EqualValues(t, 6, server.Stats().ProtocolErrors.Load())
}

func TestPanicEndsOneConnection(t *testing.T) { eachWay(t, testPanicEndsOneConnection) }

func testPanicEndsOneConnection(t *testing.T, w way) {
	cluster := newFakeCluster()
	cluster.before = func(b *Batch) {
		if string(b.Ops[0].Req.Args[1]) == "bug" {
			panic("a bug")
		}
	}
	server, addr := w.serve(t, ServerConfig{}, cluster)
	other := dial(t, addr)
	c := dial(t, addr)
	c.send("PING", "GET bug", "GET fine")
	require.Equal(t, "+PONG\r\n-UNKNOWN internal error; the connection is closed. The proxy's log has the details\r\n", c.rest())
	require.Equal(t, "$-1\r\n", other.do("GET fine"))
	require.EqualValues(t, 1, server.Stats().Panics.Load())
}

func TestMaxClients(t *testing.T) { eachWay(t, testMaxClients) }

func testMaxClients(t *testing.T, w way) {
	server, addr := w.serve(t, ServerConfig{MaxClients: 2}, newFakeCluster())
	a, b := dial(t, addr), dial(t, addr)
	require.Equal(t, "+PONG\r\n", a.do("PING"))
	require.Equal(t, "+PONG\r\n", b.do("PING"))
	require.Equal(t, "-ERR max number of clients reached\r\n", dial(t, addr).rest())
	a.Close()
	require.Eventually(t, func() bool { return server.Stats().Clients.Load() == 1 }, 5*time.Second, time.Millisecond)
	require.Equal(t, "+PONG\r\n", dial(t, addr).do("PING"))
	require.EqualValues(t, 1, server.Stats().Rejected.Load())
}

// TestSlowReader: a client that asks and never reads is disconnected, and no more
// waits for it than was asked in one batch.
func TestSlowReader(t *testing.T) { eachWay(t, testSlowReader) }

func testSlowReader(t *testing.T, w way) {
	cluster := newFakeCluster()
	cluster.data["big"] = strings.Repeat("v", 4<<20)
	server, addr := w.serve(t, ServerConfig{WriteTimeout: 50 * time.Millisecond}, cluster)
	c := dial(t, addr)
	for server.Stats().SlowReaders.Load() == 0 {
		if _, err := c.Write([]byte("GET big\r\nGET big\r\n")); err != nil {
			break
		}
	}
	require.Eventually(t, func() bool { return server.Stats().SlowReaders.Load() == 1 && server.Stats().Clients.Load() == 0 },
		5*time.Second, time.Millisecond)
}

func TestIdleTimeout(t *testing.T) { eachWay(t, testIdleTimeout) }

func testIdleTimeout(t *testing.T, w way) {
	_, addr := w.serve(t, ServerConfig{IdleTimeout: 20 * time.Millisecond}, newFakeCluster())
	c := dial(t, addr)
	require.Equal(t, "+PONG\r\n", c.do("PING"))
	require.Empty(t, c.rest())
}

// TestSlowloris: many clients that each declare a lot and send little cost little.
func TestSlowloris(t *testing.T) { eachWay(t, testSlowloris) }

func testSlowloris(t *testing.T, w way) {
	server, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	before := heapInUse()
	const clients = 50
	for range clients {
		c := dial(t, addr)
		_, err := c.Write([]byte("*1000000\r\n$3\r\nSET\r\n$60000000\r\nab"))
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return server.Stats().Clients.Load() == clients }, 5*time.Second, time.Millisecond)
	require.Less(t, heapInUse()-before, int64(clients*200<<10))
}

// pipe is a connection that delivers the same bytes again and again.
type pipe struct {
	net.Conn
	request []byte
}

func (p *pipe) Read(b []byte) (int, error)       { return copy(b, p.request), nil }
func (p *pipe) Write(b []byte) (int, error)      { return len(b), nil }
func (p *pipe) SetWriteDeadline(time.Time) error { return nil }
func (p *pipe) Close() error                     { return nil }

// instantCluster answers without allocating.
type instantCluster struct{ Cluster }

var instantReply = []byte("$5\r\nvalue\r\n")

func (instantCluster) Loading() error { return nil }

func (instantCluster) Working() bool { return false }

func (instantCluster) Execute(b *Batch) {
	for i := range b.Ops {
		b.Ops[i].Reply = instantReply
	}
}

func newPipeSession(depth int) *session {
	one := "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n*3\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n"
	server := NewServer(ServerConfig{}, instantCluster{})
	return newSession(server, &pipe{request: []byte(strings.Repeat(one, depth))}, 1)
}

// serveOnce reports whether the session goes on.
func (s *session) serveOnce() bool {
	s.received(s.reader.ReadBatch(&s.input))
	return !s.quit && !s.broken
}

func TestNoAllocations(t *testing.T) {
	s := newPipeSession(16)
	s.serveOnce()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if !s.serveOnce() {
			t.Error("the session ended")
		}
	}))
}

func BenchmarkSession(b *testing.B) {
	for _, depth := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			s := newPipeSession(depth)
			b.ReportAllocs()
			for i := 0; i < b.N; i += 3 * depth {
				s.serveOnce()
			}
		})
	}
}

// TestOpsFitStats holds the size of the tables by Op against the command table.
func TestOpsFitStats(t *testing.T) {
	for _, cmd := range command.All() {
		require.Less(t, int(cmd.Op), maxOps)
		if cmd.Route == command.RouteProxy || cmd.Route == command.RouteCluster || cmd.Route == command.RouteCopy {
			require.NotNil(t, handlers[cmd.Op], cmd.Name)
		}
	}
}
