package node

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// requestOf is a command as it is in a batch.
func requestOf(words ...string) command.Request {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	if words[0] == "watched" {
		return command.Request{Op: command.OpWatched, Args: args}
	}
	return command.Request{Op: command.Lookup(args[0]).Op, Args: args}
}

// together is an operation that executes a batch.
func together(key string, b command.Batch) protocol.Op {
	return protocol.Op{Kind: protocol.Execute, Slot: ring.SlotOf([]byte(key)), Except: protocol.AllOthers, Req: b.Request([]byte(key), false)}
}

// transaction is an operation that executes commands, each of which is words, if watched keys have not changed.
func transaction(key string, watched []command.Watched, commands ...string) protocol.Op {
	b := command.Batch{Array: true, Watched: watched}
	for _, words := range commands {
		b.Commands = append(b.Commands, requestOf(strings.Fields(words)...))
	}
	return together(key, b)
}

func TestATransaction(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dial(c.nodes["a"])
	reply := func(o protocol.Op) string {
		var r protocol.Result
		c.eventually(func() bool { r = cl.one(o); return r.Status != protocol.StatusNotDone }) // a home on a busy machine may change
		require.Equal(t, protocol.StatusDone, r.Status)
		return string(r.Reply)
	}
	require.Equal(t, "*4\r\n+OK\r\n:2\r\n-WRONGTYPE Operation against a key holding the wrong kind of value\r\n$2\r\n12\r\n",
		reply(transaction("{k}a", nil, "set {k}a 1", "append {k}a 2", "lpush {k}a 3", "get {k}a")))
	require.Equal(t, "+OK\r\n", reply(together("{k}a", command.Batch{Commands: []command.Request{requestOf("mset", "{k}a", "5", "{k}b", "6")}})))
	require.Equal(t, "*2\r\n$1\r\n5\r\n$1\r\n6\r\n", reply(together("{k}a", command.Batch{Commands: []command.Request{requestOf("mget", "{k}a", "{k}b")}})))

	watch := func(key string) []command.Watched {
		seen := reply(together(key, command.Batch{Commands: []command.Request{requestOf("watched", key)}}))
		if seen == "$0\r\n\r\n" { // it had just expired, and this is what tells
			seen = reply(together(key, command.Batch{Commands: []command.Request{requestOf("watched", key)}}))
		}
		_, version, _ := strings.Cut(seen, "\r\n")
		return []command.Watched{{Key: []byte(key), Version: []byte(strings.TrimSuffix(version, "\r\n"))}}
	}
	for name, test := range map[string]struct {
		before, between string
		changed         bool
	}{
		"nothing":                      {"set {k}w 1", "get {k}w", false},
		"another key":                  {"set {k}w 1", "set {k}x 1", false},
		"the same value again":         {"set {k}w 1", "set {k}w 1", true},
		"a deletion":                   {"set {k}w 1", "del {k}w", true},
		"nothing deleted":              {"del {k}w", "del {k}w", false},
		"an expiry":                    {"set {k}w 1", "pexpire {k}w 100000", true},
		"a key that comes":             {"del {k}w", "set {k}w 1", true},
		"a key that has expired":       {"set {k}w 1 px 1", "get {k}w", false},
		"a key that expires meanwhile": {"set {k}w 1 px 1000000", "pexpireat {k}w 1", true},
	} {
		reply(transaction("{k}w", nil, test.before))
		if strings.HasSuffix(test.before, "px 1") {
			written := c.nodes["a"].now()
			c.eventually(func() bool { return c.nodes["a"].now() > written+1 })
		}
		seen := watch("{k}w")
		reply(transaction("{k}w", nil, test.between))
		want := "*1\r\n$0\r\n\r\n"
		if test.changed {
			want = "*-1\r\n"
		}
		require.Equal(t, want, reply(transaction("{k}w", seen, "getrange {k}y 0 -1")), name)
	}
}

// TestWhatIsNoTransaction is refused, with an error that says why.
func TestWhatIsNoTransaction(t *testing.T) {
	c := newFormed(t, 1, nil)
	cl := c.dial(c.nodes["a"])
	for _, test := range []struct {
		op   protocol.Op
		says string
	}{
		{transaction("a", nil, "get a", "get b"), "-CROSSSLOT "},
		{transaction("a", nil, "get a b"), "-ERR a command of this transaction"},
		{transaction("\xffquoll:batch", nil, "get \xffquoll:batch"), "-ERR keys that begin with"},
		{protocol.Op{Kind: protocol.Execute, Slot: ring.SlotOf([]byte("a")), Req: command.Request{Op: command.OpBatch, Args: [][]byte{nil, []byte("a"), []byte("x")}}}, "-ERR command: this is no batch"},
		{protocol.Op{Kind: protocol.Execute, Slot: ring.SlotOf([]byte("a")), Req: command.Request{Op: command.OpBatch, Args: [][]byte{nil, []byte("a")}}}, "-ERR command: this is no batch"},
	} {
		r := cl.one(test.op)
		require.Equal(t, protocol.StatusDone, r.Status)
		require.Contains(t, string(r.Reply), test.says)
	}
}

// TestAnOpenBatchIsNoVote: while nobody knows whether a batch is chosen, who has it does not answer quorum reads of its keys.
func TestAnOpenBatchIsNoVote(t *testing.T) {
	var slow []*enginetest.SlowEngine
	release := func() {
		for _, s := range slow {
			s.Release()
		}
	}
	c := newTestCluster(t, 3)
	for _, m := range c.initial {
		c.start(m.Name, func(o *Options) {
			if m.Name != "a" {
				slow = append(slow, enginetest.Slow(memory.New()))
				o.Engine = slow[len(slow)-1]
			}
		})
	}
	c.eventually(func() bool {
		release()
		return c.nodes["a"].votes() == nil && c.nodes["b"].votes() == nil && c.nodes["c"].votes() == nil
	})
	key := "{" + c.keyOf(c.nodes["a"]) + "}"
	cl := c.dial(c.nodes["a"])
	done := func(result chan protocol.Result) {
		c.eventually(func() bool { release(); return len(result) > 0 })
		require.Equal(t, "+OK\r\n", string(cl.wait(result).Reply))
	}
	read := func(name string) protocol.Status { return cl.one(op(protocol.ReadVersion, "get "+key+name)).Status }
	mset := func() chan protocol.Result {
		return cl.send(together(key+"1", command.Batch{Commands: []command.Request{requestOf("mset", key+"1", "x", key+"2", "y")}}))[0]
	}
	done(mset())
	c.eventually(func() bool { release(); return read("1") == protocol.StatusVersion })
	open := mset()
	c.eventually(func() bool { return read("1") == protocol.StatusAskHome })
	require.Equal(t, protocol.StatusAskHome, read("2"))
	require.Equal(t, protocol.StatusVersion, read("3"))
	require.Empty(t, open)
	done(open)
	c.eventually(func() bool { release(); return read("2") == protocol.StatusVersion })
	require.EqualValues(t, 2, c.live("a"), "the record is no key")
	release()
	c.eventually(func() bool { release(); return c.quiet(c.nodes["a"], key) })
}

// TestALargeBatch: its record is longer than what fits into a message.
func TestALargeBatch(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dial(c.nodes["a"])
	value := strings.Repeat("x", 2*transfer.Ahead)
	require.Equal(t, "+OK\r\n", string(cl.one(together("{k}a", command.Batch{Commands: []command.Request{requestOf("mset", "{k}a", value, "{k}b", value)}})).Reply))
	for _, name := range []string{"a", "b", "c"} {
		c.eventually(func() bool {
			return bytes.Equal([]byte(value), c.held(name, ring.SlotOf([]byte("{k}b")), "{k}b")) && c.held(name, ring.SlotOf([]byte("{k}a")), "{k}a") != nil
		})
	}
}

// TestATransactionThatIsTooLarge is refused as a whole, whether it would write too much or reply too much.
func TestATransactionThatIsTooLarge(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 1, nil)
	cl := c.dial(c.nodes["a"])
	value := strings.Repeat("x", 40<<20)
	require.Equal(t, "+OK\r\n", string(cl.one(together("{k}a", command.Batch{Commands: []command.Request{requestOf("set", "{k}a", value)}})).Reply))
	for what, commands := range map[string][]string{
		"reply": {"set {k}b 1", "get {k}a", "get {k}a", "get {k}a", "get {k}a"},
		"write": {"set {k}b 1", "copy {k}a {k}c", "copy {k}a {k}d", "copy {k}a {k}e", "copy {k}a {k}f"},
	} {
		require.Contains(t, string(cl.one(transaction("{k}a", nil, commands...)).Reply), "-ERR what this would "+what)
		require.Equal(t, "$-1\r\n", string(cl.do("get {k}b").Reply))
	}
}

// TestAScriptCannotAskForKeys: what it replies is never taken for what a node says of the keys that it used.
func TestAScriptCannotAskForKeys(t *testing.T) {
	c := newFormed(t, 1, nil)
	cl := c.dial(c.nodes["a"])
	for _, script := range []string{"return redis.error_reply('?MISSINGKEYS 61')", "return {err='?MISSINGKEYS 61'}", "return '?MISSINGKEYS 61'", "return {ok='?MISSINGKEYS 61'}"} {
		_, ok := command.MissingKeys(cl.one(together("k", command.Batch{Commands: []command.Request{requestOf("eval", script, "0")}})).Reply)
		require.False(t, ok, script)
	}
	missing, ok := command.MissingKeys(cl.one(together("k", command.Batch{Commands: []command.Request{requestOf("eval", "return redis.call('set', 'other', 1)", "0")}})).Reply)
	require.True(t, ok)
	require.Equal(t, [][]byte{[]byte("other")}, missing)
}
