package session

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

const (
	crossSlot = "-CROSSSLOT Keys in request don't hash to the same slot\r\n"
	execAbort = "-EXECABORT Transaction discarded because of previous errors.\r\n"
)

// TestTransactionsOfOneSlot: what is not of one slot is refused when it is queued, and nothing of the transaction is done.
func TestTransactionsOfOneSlot(t *testing.T) { proxytest.EachWay(t, testTransactionsOfOneSlot) }

func testTransactionsOfOneSlot(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	const queued, ok = "+QUEUED\r\n", "+OK\r\n"
	everywhere := func(name string) string { return errorReply(errEverywhere(name)) }
	for _, round := range []struct{ commands, replies string }{
		{"MULTI|SET a 1|SET b 1|SET a 2|EXEC|GET a", ok + "|" + queued + "|" + crossSlot + "|" + queued + "|" + execAbort + "|$-1\r\n"},
		{"MULTI|MSET a 1 b 2|EXEC", ok + "|" + crossSlot + "|" + execAbort},
		{"MULTI|COPY a b|EXEC", ok + "|" + crossSlot + "|" + execAbort},
		{"WATCH a|MULTI|SET b 1|EXEC|GET b", ok + "|" + ok + "|" + crossSlot + "|" + execAbort + "|$-1\r\n"},
		{"WATCH a b|MULTI|SET a 1|EXEC|MULTI|SET a 1|DEL a|EXEC", crossSlot + "|" + ok + "|" + queued + "|" + execAbort + "|" + ok + "|" + queued + "|" + queued + "|*2\r\n+OK\r\n:1\r\n"},
		{"WATCH a|WATCH b|UNWATCH|WATCH b|MULTI|GET b|EXEC", ok + "|" + crossSlot + "|" + ok + "|" + ok + "|" + ok + "|" + queued + "|*1\r\n$-1\r\n"},
		{"MULTI|OBJECT ENCODING a|MEMORY USAGE b|EXEC", ok + "|" + queued + "|" + crossSlot + "|" + execAbort},
		{"MULTI|SET a 1|MEMORY USAGE a|OBJECT ENCODING a|DEL a|MEMORY USAGE a|EXEC",
			ok + "|" + queued + "|" + queued + "|" + queued + "|" + queued + "|" + queued + "|*5\r\n+OK\r\n:98\r\n$8\r\nENCODING\r\n:1\r\n$-1\r\n"},
		{"MULTI|GET a|FLUSHALL|EXEC", ok + "|" + queued + "|" + everywhere("flushall") + "|" + execAbort},
		{"MULTI|DBSIZE|GET a|EXEC", ok + "|" + queued + "|" + everywhere("dbsize") + "|" + execAbort},
		{"WATCH a|MULTI|KEYS *|EXEC", ok + "|" + ok + "|" + everywhere("keys") + "|" + execAbort},
		{"MULTI|SCAN 0 COUNT 5|PING|EXEC", ok + "|" + queued + "|" + queued + "|*2\r\n*2\r\n$1\r\n0\r\n*0\r\n+PONG\r\n"},
		{"MULTI|SWAPDB 0 1|EXEC", ok + "|" + errorReply(unsupported("swapdb")) + "|" + execAbort},
		{"MULTI|CLIENT REPLY SKIP|EXEC", ok + "|" + errorReply(errReplyInside) + "|" + execAbort},
		{"MULTI|CLIENT CACHING YES|EXEC|GET a", ok + "|" + errorReply(errCachingInside) + "|" + execAbort + "|$-1\r\n"},
	} {
		commands, replies := strings.Split(round.commands, "|"), strings.Split(round.replies, "|")
		for i := range commands {
			require.Equal(t, replies[i], c.Do(commands[i]), "%s of %s", commands[i], round.commands)
		}
		c.Send(commands...)
		for i := range commands {
			require.Equal(t, replies[i], c.Reply(), "%s of %s, at once", commands[i], round.commands)
		}
	}
}

// TestTransactionsAreOperations: one for each, all of a pipeline in one batch, and none while commands are queued.
func TestTransactionsAreOperations(t *testing.T) { proxytest.EachWay(t, testTransactionsAreOperations) }

func testTransactionsAreOperations(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	batches := make(chan []command.Op, 10)
	cluster.Before = func(b *route.Batch) {
		var ops []command.Op
		for i := range b.Ops {
			ops = append(ops, b.Ops[i].Req.Op)
		}
		batches <- ops
	}
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	c.Send("MULTI", "SET a 1", "INCR a", "EXEC", "GET a", "MULTI", "NOSUCH", "EXEC", "MULTI", "EXEC", "MULTI", "DEL b", "DISCARD", "EXEC", "MULTI", "MSET b 1 {b}2 2", "EXEC")
	require.Equal(t, "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n:2\r\n", c.Reply()+c.Reply()+c.Reply()+c.Reply())
	require.Equal(t, "$1\r\n2\r\n+OK\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n"+execAbort, c.Reply()+c.Reply()+c.Reply()+c.Reply())
	require.Equal(t, "+OK\r\n*0\r\n+OK\r\n+QUEUED\r\n+OK\r\n-ERR EXEC without MULTI\r\n", c.Reply()+c.Reply()+c.Reply()+c.Reply()+c.Reply()+c.Reply())
	require.Equal(t, "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n", c.Reply()+c.Reply()+c.Reply())
	require.Equal(t, []command.Op{command.OpBatch, command.OpGet, command.OpBatch}, <-batches)
	require.Empty(t, batches)
	for _, line := range []string{"MULTI", "SET a 5", "PING", "GET a"} {
		c.Do(line)
	}
	require.Empty(t, batches)
	require.Equal(t, "*3\r\n+OK\r\n+PONG\r\n$1\r\n5\r\n", c.Do("EXEC"))
	require.Equal(t, []command.Op{command.OpBatch}, <-batches)
	require.Equal(t, "+OK\r\n", c.Do("WATCH {a}1 {a}2 {a}1"))
	require.Equal(t, []command.Op{command.OpBatch}, <-batches)
	require.Equal(t, "+OK\r\n", c.Do("WATCH {a}1"))
	require.Empty(t, batches)
}

// TestATransactionThatOnlyReadsIsARead, which is sent again if an answer is lost.
func TestATransactionThatOnlyReadsIsARead(t *testing.T) {
	cluster := proxytest.NewCluster()
	var writes atomic.Value // of the last transaction
	cluster.Intercept = func(op *route.Op) bool {
		if b, err := command.ParseBatch(&op.Req); err == nil && b.Array {
			writes.Store(op.Write)
		}
		return false
	}
	_, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	for lines, write := range map[string]bool{
		"GET a;MGET a {a}2;OBJECT ENCODING a": false,
		"GET a;PING":                          false, // in pieces
		"GET a;SET {a}2 x":                    true,
		"SET a x;GET a":                       true,
		"SET a x;PING":                        true,
	} {
		c.Do("MULTI")
		for line := range strings.SplitSeq(lines, ";") {
			require.NotEmpty(t, c.Do(line))
		}
		require.Equal(t, "*", c.Do("EXEC")[:1], lines)
		require.Equal(t, write, writes.Load(), lines)
	}
}

// TestCommandsOfATransactionAreWhole: nothing is done to them that is done to single ones, which are sent key by key.
func TestCommandsOfATransactionAreWhole(t *testing.T) {
	cluster := proxytest.NewCluster()
	sent := make(chan *command.Batch, 1)
	cluster.Intercept = func(op *route.Op) bool {
		b, err := command.ParseBatch(&op.Req)
		require.NoError(t, err)
		require.True(t, op.Write)
		sent <- b
		op.Outcome, op.Reply = answer.Done, []byte("*-1\r\n")
		return true
	}
	_, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	lines := []string{"LMPOP 2 a a LEFT COUNT 2", "mset a 1 {a}2 2", "DEL a a", "COPY a {a}2", "LCS a {a}2", "SORT a BY nosort", "SORT a STORE {a}2", "PFCOUNT a {a}2", "SINTERCARD 9 a", "SINTER a {a}2",
		"GEORADIUS a 1 2 3 m", "ZMPOP 1 a MIN"}
	c.Do("MULTI")
	for _, line := range lines {
		require.Equal(t, "+QUEUED\r\n", c.Do(line), line)
	}
	require.Equal(t, "*-1\r\n", c.Do("EXEC"))
	b := <-sent
	require.True(t, b.Array)
	require.Len(t, b.Commands, len(lines))
	for i, line := range lines {
		args := asArguments(line)
		require.Equal(t, args, b.Commands[i].Args)
		require.Equal(t, command.Lookup(args[0]).Op, b.Commands[i].Op)
	}
}

// TestOutcomesOfTransactions: what is not known of the operation is not known of any of its commands.
func TestOutcomesOfTransactions(t *testing.T) { proxytest.EachWay(t, testOutcomesOfTransactions) }

func testOutcomesOfTransactions(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	outcome, reply := answer.NotDone, route.AppendReply(nil, route.ErrNoMajority)
	cluster.Intercept = func(op *route.Op) bool {
		op.Outcome, op.Reply = outcome, reply
		return true
	}
	service, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	for _, line := range []string{"GET a", "PING"} { // all the cluster's, and in pieces
		outcome, reply = answer.NotDone, route.AppendReply(nil, route.ErrNoMajority)
		require.Equal(t, string(reply), c.Do("WATCH a"))
		c.Do("UNWATCH")
		c.Do("MULTI")
		c.Do("SET a 1")
		c.Do(line)
		require.Equal(t, string(reply), c.Do("EXEC"))
		c.Send("MULTI", "SET a 1", line, "EXEC")
		c.Reply()
		c.Reply()
		c.Reply()
		require.Equal(t, "-NOTDONE "+string(reply[1:]), c.Reply())
		outcome, reply = answer.Unknown, route.AppendReply(nil, route.ErrUnknownOutcome)
		require.Equal(t, errorReply(route.ErrTimeout), c.Do("WATCH a"), "nothing was to be written")
		c.Do("UNWATCH")
		c.Do("MULTI")
		c.Do("SET a 1")
		c.Do(line)
		require.Equal(t, string(reply), c.Do("EXEC"))
		require.Equal(t, "-ERR EXEC without MULTI\r\n", c.Do("EXEC"))
	}
	require.Zero(t, service.Stats().Op(command.OpSet).Calls())
	outcome, reply = answer.Done, []byte("*2\r\n:1\r\n")
	c.Send("MULTI", "SET a 1", "PING", "SET a 2", "EXEC")
	for range 4 {
		c.Reply()
	}
	require.Equal(t, "*3\r\n:1\r\n+PONG\r\n"+errorReply(errPieces), c.Reply())
	require.Equal(t, errorReply(errWatch), c.Do("WATCH a"))
}

// TestTransactionsAreCounted: EXEC and its commands, each for itself, when they are executed.
func TestTransactionsAreCounted(t *testing.T) { proxytest.EachWay(t, testTransactionsAreCounted) }

func testTransactionsAreCounted(t *testing.T, w proxytest.Way) {
	service, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	c.Send("MULTI", "SET a x", "INCR a", "INCR a", "GET a", "EXEC", "MULTI", "SET a y", "PING", "INCR a", "EXEC", "MULTI", "INCR a", "DISCARD", "WATCH a", "SET a z", "MULTI", "INCR a", "EXEC", "EXEC")
	for range 20 {
		c.Reply()
	}
	require.Equal(t, ":1\r\n", c.Do("EXISTS a"))
	for op, want := range map[command.Op][2]uint64{
		command.OpMulti: {4, 0}, command.OpExec: {4, 1}, command.OpSet: {3, 0}, command.OpIncr: {3, 3}, command.OpGet: {1, 0}, command.OpPing: {1, 0}, command.OpDiscard: {1, 0}, command.OpWatch: {1, 0},
	} {
		stats := service.Stats().Op(op)
		require.Equal(t, want, [2]uint64{stats.Calls(), stats.Failed.Load()}, command.ByOp(op).Name)
	}
	require.EqualValues(t, map[string]uint64{"ERR": 4}, service.Stats().Errors())
}

// TestTransactionsAreShown in CLIENT LIST, to others and to themselves.
func TestTransactionsAreShown(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	shown := func(want string) {
		t.Helper()
		require.Regexp(t, want, other.Do("CLIENT LIST ID 1"))
	}
	c.Do("CLIENT NO-EVICT on")
	c.Do("WATCH a {a}2")
	shown(` flags=e .* multi=-1 .* watch=2\n`)
	c.Do("MULTI")
	shown(` flags=xe .* multi=0 .* watch=2\n`)
	c.Do("GET a")
	shown(` flags=xe .* multi=1 .* cmd=get .* watch=2\n`)
	c.Do("CLIENT INFO")
	require.Regexp(t, ` flags=xe .* multi=2 .* cmd=exec .* watch=0\n`, c.Do("EXEC"))
	shown(` flags=e .* multi=-1 .* watch=0\n`)
	c.Do("MULTI")
	c.Do("RESET")
	shown(` flags=N .* multi=-1 .* watch=0\n`)
}

// TestTransactionsAreBounded: what a client queues counts as what it makes the proxy hold, and is not more than a client may have.
func TestTransactionsAreBounded(t *testing.T) {
	cluster := proxytest.NewCluster()
	server := newServer(Config{}, cluster)
	addr := proxytest.ByFront.Serve(t, server, front.ErrServerClosed)
	c := proxytest.Dial(t, addr)
	value := strings.Repeat("v", 8<<20)
	require.Equal(t, "+OK\r\n", c.Do("MULTI"))
	for range 7 {
		require.Equal(t, "+QUEUED\r\n", c.Do("SET k "+value))
	}
	require.GreaterOrEqual(t, server.last.kept(), 56<<20)
	require.Equal(t, "+QUEUED\r\n", c.Do("SET k x"))
	require.Equal(t, errorReply(errTooMuchKept), c.Do("SET k "+value))
	require.Zero(t, server.last.kept())
	require.Equal(t, "+QUEUED\r\n", c.Do("SET k "+value))
	require.Zero(t, server.last.kept())
	require.Equal(t, execAbort, c.Do("EXEC"))
	require.Equal(t, "$-1\r\n", c.Do("GET k"))

	many := resp.AppendArray(nil, 1)
	many = resp.AppendBulk(many, "WATCH")
	require.Equal(t, "-ERR wrong number of arguments for 'watch' command\r\n", func() string { _, _ = c.Write(many); return c.Reply() }())
	const keys = 400_000
	many = resp.AppendBulk(resp.AppendArray(nil, keys+1), "WATCH")
	for i := range keys {
		many = resp.AppendBulk(many, fmt.Sprint("{k}", i))
	}
	_, err := c.Write(many)
	require.NoError(t, err)
	require.Equal(t, errorReply(errTooMuchKept), c.Reply())
	require.Zero(t, server.last.kept())
}

// TestQueuedCommandsAreHeld: they count as what all clients make the proxy hold, and the client that has queued the most is disconnected.
func TestQueuedCommandsAreHeld(t *testing.T) {
	service := NewService(Config{}, proxytest.NewCluster())
	server := front.New(front.Config{ClientMemory: 8 << 20}, service.cluster, func(c *front.Conn) front.Session { return service.Open(c) })
	addr := proxytest.ByFront.Serve(t, server, front.ErrServerClosed)
	c, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	value := strings.Repeat("v", 1<<20)
	for _, end := range []string{"EXEC", "DISCARD", "RESET"} {
		for range 3 { // what is over is not held any more
			require.Equal(t, "+OK\r\n", c.Do("MULTI"))
			require.Equal(t, "+QUEUED\r\n", c.Do("SET k "+value))
			require.Equal(t, "+QUEUED\r\n", c.Do("SET k "+value))
			c.Do(end)
		}
	}
	require.Zero(t, server.Stats().Evicted.Load())
	c.Do("MULTI")
	set := resp.AppendBulk(resp.AppendBulk(resp.AppendBulk(resp.AppendArray(nil, 3), "SET"), "k"), value)
	queued := 0
	for ; queued < 8; queued++ {
		if _, err := c.Write(set); err != nil {
			break
		}
		if _, err := proxytest.ReadReply(c.In); err != nil {
			break
		}
	}
	require.Less(t, queued, 8)
	require.EqualValues(t, 1, server.Stats().Evicted.Load())
	require.Equal(t, "+PONG\r\n", other.Do("PING"))
}

// TestCommandsAreNotQueuedWithoutMemory: once somebody was refused for want of memory the first command of a transaction that may use some asks for it, and is refused as in Redis. Before that
// nothing is asked, and what uses none is queued.
func TestCommandsAreNotQueuedWithoutMemory(t *testing.T) {
	proxytest.EachWay(t, testNotQueuedWithoutMemory)
}

func testNotQueuedWithoutMemory(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster().KeepInMemory()
	full, asked := new(atomic.Bool), new(atomic.Int64)
	cluster.Intercept = func(op *route.Op) bool {
		if op.Req.Op == command.OpSetRange {
			asked.Add(1)
		}
		if !full.Load() || !op.Write {
			return false
		}
		op.Outcome, op.Reply = answer.NotDone, route.AppendReply(nil, route.ErrOutOfMemory)
		return true
	}
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	transaction := func(lines ...string) (replies string) {
		c.Send(append(append([]string{"MULTI"}, lines...), "EXEC")...)
		for range len(lines) + 2 {
			replies += c.Reply()
		}
		return replies
	}
	const oom, queued = "-OOM command not allowed when used memory > 'maxmemory'.\r\n", "+QUEUED\r\n"
	require.Equal(t, "+OK\r\n"+queued+queued+"*2\r\n+OK\r\n+OK\r\n", transaction("SET a 1", "SET a 2"))
	full.Store(true)
	require.Equal(t, "+OK\r\n"+queued+"-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.\r\n", transaction("SET a 1"))
	require.Zero(t, asked.Load(), "nobody knew")
	require.Equal(t, "+OK\r\n"+queued+oom+queued+execAbort, transaction("GET a", "SET a 1", "SET a 2"))
	require.EqualValues(t, 1, asked.Load())
	full.Store(false)
	require.Equal(t, "+OK\r\n"+queued+queued+queued+"*3\r\n+OK\r\n+OK\r\n$1\r\n4\r\n", transaction("SET a 3", "SET a 4", "GET a"))
	require.EqualValues(t, 2, asked.Load(), "once for each transaction")
	require.Equal(t, "+OK\r\n"+queued+"*1\r\n$1\r\n4\r\n", transaction("GET a"))
	require.EqualValues(t, 2, asked.Load())

	// CONFIG SET of how much there may be, while a transaction is open.
	cluster = proxytest.NewCluster().KeepInMemory()
	cluster.Intercept = func(op *route.Op) bool {
		op.Outcome, op.Reply = answer.NotDone, route.AppendReply(nil, route.ErrOutOfMemory)
		return op.Write
	}
	_, addr = serve(t, w, Config{}, cluster)
	c = proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", c.Do("MULTI"))
	require.Equal(t, queued, c.Do("SET a 1"), "nobody knew")
	require.Equal(t, "+OK\r\n", proxytest.Dial(t, addr).Do("CONFIG SET maxmemory 1"))
	require.Equal(t, oom, c.Do("SET a 2"))
	require.Equal(t, execAbort, c.Do("EXEC"))
	require.Equal(t, oom, c.Do("FUNCTION LOAD x"))
	require.Equal(t, oom, c.Do("FUNCTION RESTORE x"))
}
