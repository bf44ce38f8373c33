package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestPipelineKeepsOrder mixes operations, errors and commands of the proxy in one
// write.
func TestPipelineKeepsOrder(t *testing.T) { proxytest.EachWay(t, testPipelineKeepsOrder) }

func testPipelineKeepsOrder(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	c.Send("SET a 1", "GET a", "PING", "NOSUCH x", "GET", "SWAPDB 0 1", "MSET b 2 c 3", "MGET a b none c",
		"INCR a", "DBSIZE", "DEL a b none", "EXISTS c c", "ECHO hi", "GET a", "QUIT", "SET late 1")
	require.Equal(t, "+OK\r\n$1\r\n1\r\n+PONG\r\n-ERR unknown command 'NOSUCH', with args beginning with: 'x' \r\n"+
		"-ERR wrong number of arguments for 'get' command\r\n"+
		"-ERR 'SWAPDB' is not supported yet by Quoll; nothing was done. The connection can be used on\r\n+OK\r\n"+
		"*4\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n$1\r\n3\r\n:2\r\n:3\r\n:2\r\n:2\r\n$2\r\nhi\r\n$-1\r\n+OK\r\n", c.Rest())
}

func TestPipelineIsOneBatch(t *testing.T) { proxytest.EachWay(t, testPipelineIsOneBatch) }

func testPipelineIsOneBatch(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	sizes := make(chan int, 10)
	cluster.Before = func(b *route.Batch) { sizes <- len(b.Ops) }
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	c.Send("SET a 1", "MGET a b c", "DEL a b", "GET a")
	for range 4 {
		c.Reply()
	}
	require.Equal(t, 7, <-sizes)
	require.Empty(t, sizes)
}

func TestLargePipelineIsSeveralBatches(t *testing.T) {
	proxytest.EachWay(t, testLargePipelineIsSeveralBatches)
}

func testLargePipelineIsSeveralBatches(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	cluster.Data["k"] = strings.Repeat("v", 1000)
	largest := 0
	cluster.Before = func(b *route.Batch) { largest = max(largest, len(b.Ops)) }
	_, addr := serve(t, w, Config{OutputLimit: 16 << 10}, cluster)
	c := proxytest.Dial(t, addr)
	for round := range 3 {
		if round == 1 {
			largest = 0 // the first batch told how large the replies are
		}
		c.Send(strings.Split(strings.TrimSuffix(strings.Repeat("GET k\n", 500), "\n"), "\n")...)
		for range 500 {
			require.Len(t, c.Reply(), 1000+len("$1000\r\n\r\n"))
		}
	}
	require.LessOrEqual(t, largest, 17)
}

// TestPartlyDone says what a client reads when some keys of a command could not be
// served.
func TestPartlyDone(t *testing.T) { proxytest.EachWay(t, testPartlyDone) }

func testPartlyDone(t *testing.T, w proxytest.Way) {
	noMajority := route.AppendReply(nil, route.ErrNoMajority)
	unknown := route.AppendReply(nil, route.ErrUnknownOutcome)
	cluster := proxytest.NewCluster()
	cluster.Intercept = func(op *route.Op) bool {
		switch key := string(op.Req.Args[1]); {
		case strings.HasPrefix(key, "gone"):
			op.Outcome, op.Reply = answer.NotDone, noMajority
		case strings.HasPrefix(key, "maybe"):
			op.Outcome, op.Reply = answer.Unknown, unknown
		default:
			return false
		}
		return true
	}
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	require.Equal(t, string(noMajority), c.Do("MSET gone1 a gone2 b"))
	require.Equal(t, string(unknown), c.Do("DEL maybe1"))
	require.Equal(t, "-UNKNOWN the command was executed on a part of its keys only: 1 of 2 keys were written; "+
		"nothing was done to the other 1. The first of them answered: "+string(noMajority[1:]), c.Do("MSET k a gone2 b"))
	require.Equal(t, "-UNKNOWN the command was executed on a part of its keys only: 1 of 3 keys were certainly written "+
		"and 1 certainly not; the outcome for the other 1 is not known. Read them before repeating it\r\n", c.Do("DEL k gone1 maybe1"))
	require.Equal(t, string(noMajority), c.Do("MGET k gone1 gone2"))
	require.Equal(t, string(noMajority), c.Do("EXISTS k gone1"))
	require.Equal(t, string(noMajority), c.Do("LCS k gone1"))
	require.Equal(t, string(noMajority), c.Do("COPY gone1 gone1{gone1}"))
	require.Equal(t, string(unknown), c.Do("GET maybe1"))
}

func TestCopyAndLCS(t *testing.T) { proxytest.EachWay(t, testCopyAndLCS) }

func testCopyAndLCS(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	for _, step := range [][2]string{
		{"SET {k}a ohmytext", "+OK\r\n"},
		{"COPY {k}a {k}b", ":1\r\n"},
		{"COPY {k}a {k}b", ":0\r\n"},
		{"COPY {k}a {k}b REPLACE DB 0", ":1\r\n"},
		{"COPY {k}none {k}b", ":0\r\n"},
		{"COPY a b", "-CROSSSLOT Keys in request don't hash to the same slot\r\n"},
		{"GET {k}b", "$8\r\nohmytext\r\n"},
		{"SET other mynewtext", "+OK\r\n"},
		{"LCS {k}a other", "$6\r\nmytext\r\n"},
		{"LCS {k}a other LEN", ":6\r\n"},
		{"LCS {k}a none", "$0\r\n\r\n"},
		{"LCS {k}a other FOO", "-ERR syntax error\r\n"},
		{"MEMORY USAGE {k}a", ":108\r\n"},
		{"OBJECT Encoding {k}a", "$8\r\nEncoding\r\n"}, // the nodes' matter
		{"OBJECT REFCOUNT none", "$-1\r\n"},
		{"MEMORY USAGE none", "$-1\r\n"},
	} {
		require.Equal(t, step[1], c.Do(step[0]), step[0])
	}
}

func TestClientReply(t *testing.T) { proxytest.EachWay(t, testClientReply) }

func testClientReply(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	c.Send("SET a 1", "CLIENT REPLY SKIP", "GET a", "GET a", "CLIENT REPLY OFF", "GET a", "MGET a a", "PING",
		"NOSUCH", "CLIENT REPLY SKIP", "CLIENT REPLY ON", "MGET a")
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, "$1\r\n1\r\n", c.Reply())
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, "*1\r\n$1\r\n1\r\n", c.Reply())
}

// TestProtocolErrors: what came before is answered, then the error, then the
// connection is closed. Other clients notice nothing.
func TestProtocolErrors(t *testing.T) { proxytest.EachWay(t, testProtocolErrors) }

func testProtocolErrors(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, Config{Limits: resp.Limits{MaxBulk: 1000, MaxArgs: 100}}, proxytest.NewCluster())
	other := proxytest.Dial(t, addr)
	require.Equal(t, "+PONG\r\n", other.Do("PING"))
	for packet, want := range map[string]string{
		"*1\r\n$9223372036854775800\r\nPING\r\n": "invalid bulk length",
		"*1\r\n$1001\r\n":                        "invalid bulk length",
		"*3000000000\r\n":                        "invalid multibulk length",
		"*101\r\n":                               "invalid multibulk length",
		"*1\r\nPING\r\n":                         "expected '$', got 'P'",
		"SET \"a b\r\n":                          "unbalanced quotes in request",
	} {
		c := proxytest.Dial(t, addr)
		_, err := c.Write([]byte("PING\r\n" + packet + strings.Repeat("x", 100_000)))
		require.NoError(t, err)
		require.Equal(t, "+PONG\r\n-ERR Protocol error: "+want+"\r\n", c.Rest(), packet)
	}
	require.Equal(t, "+PONG\r\n", other.Do("PING"))
	require.EqualValues(t, 6, server.Stats().ProtocolErrors.Load())
}

// TestOpsFitStats holds the size of the tables by Op against the command table.
func TestOpsFitStats(t *testing.T) {
	for _, cmd := range command.All() {
		require.Less(t, int(cmd.Op), maxOps)
		switch cmd.Op {
		case command.OpMulti, command.OpExec, command.OpDiscard:
			continue // see Session.transactional
		}
		if cmd.Route == command.RouteProxy || cmd.Route == command.RouteCluster {
			require.NotNil(t, handlers[cmd.Op], cmd.Name)
		}
	}
}

// TestSortIsARead unless it stores: as such it does not go through the home of its slot. It is counted as what it is called.
func TestSortIsARead(t *testing.T) {
	for text, want := range map[string]route.Op{
		"SORT k DESC":    {Req: command.Request{Op: command.OpSortRO}},
		"SORT k STORE k": {Req: command.Request{Op: command.OpBatch}, Write: true},
	} {
		args := asArguments(text)
		s := planner()
		s.route(command.Lookup(args[0]), args)
		require.Len(t, s.plan.batch.Ops, 1)
		op := s.plan.batch.Ops[0]
		require.Equal(t, want.Req.Op, op.Req.Op, text)
		require.Equal(t, want.Write, op.Write, text)
		require.Subset(t, op.Req.Args, args, text)
		require.Equal(t, command.OpSort, s.plan.commands[0].cmd.Op, text)
	}
}
