//go:build unix

package e2e

import (
	"bufio"
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
	"github.com/quolldb/quoll/internal/resp"
)

// scriptsOfRedis are commands of one connection, whose replies must be Redis', byte for byte. <sha S> stands for the name of the script S.
var scriptsOfRedis = [][]string{
	{"EVAL|return {1, 'two', {3}, redis.status_reply('fine'), false}|0", "EVAL|return {KEYS[1], ARGV[1], #KEYS, #ARGV}|1|a|b", "EVAL|return redis.call('SET', 'a', 'undeclared')|0", "GET|a"},
	{"EVAL|redis.call('SET', '{a}1', 1) redis.call('INCR', '{a}2') return redis.call('MGET', '{a}1', '{a}2', '{a}3')|0", "MGET|{a}1|{a}2"},
	{"EVAL|redis.call('SET', '{a}1', 1) return redis.call('GET', KEYS[1])|1|{a}1"},
	{"EVALSHA|0000000000000000000000000000000000000000|0", "EVALSHA|x|0", "EVALSHA_RO|0000000000000000000000000000000000000000|1|a"},
	{"SCRIPT|LOAD|return 1", "EVALSHA|<sha return 1>|0", "SCRIPT|EXISTS|<sha return 1>|x", "SCRIPT|FLUSH|x", "SCRIPT|FLUSH|SYNC", "SCRIPT|EXISTS|<sha return 1>", "EVALSHA|<sha return 1>|0"},
	{"SCRIPT|LOAD|return 2", "FLUSHALL", "EVALSHA|<sha return 2>|0", "SCRIPT|EXISTS|<sha return 2>", "DBSIZE", "KEYS|*", "RANDOMKEY", "SCAN|0|COUNT|1000"},
	{"EVAL|return|0|", "EVAL|return 1|x", "EVAL|return 1|-1", "EVAL|return 1|2|a", "EVAL|return 1", "SCRIPT|KILL", "SCRIPT|NOSUCH", "SCRIPT"},
	{"EVAL|return redis.call('NOSUCH')|0", "EVAL|return redis.call('GET')|0", "EVAL|return redis.call('EVAL', 'return 1', 0)|0", "EVAL|return redis.call('MULTI')|0", "EVAL|return redis.call('AUTH', 'x')|0"},
	{"EVAL|return redis.pcall('NOSUCH').err|0", "EVAL|return redis.pcall('GET')|0", "EVAL|return redis.call()|0", "EVAL|error('own')|0", "EVAL|error({err='MY own'})|0", "EVAL|return redis.error_reply('MY own')|0"},
	{"EVAL_RO|return redis.call('GET', KEYS[1])|1|a", "EVAL_RO|return redis.call('SET', KEYS[1], 1)|1|a", "EVAL|#!lua flags=no-writes\nreturn redis.call('SET', KEYS[1], 1)|1|a",
		"EVAL|#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])|1|a", "EVAL|#!lua flags=nosuch\nreturn 1|0", "EVAL|#!perl\nreturn 1|0"},
	{"RPUSH|a|1", "EVAL|return redis.call('INCR', KEYS[1])|1|a", "EVAL|return redis.pcall('INCR', KEYS[1])|1|a"},
	{"EVAL|redis.call('SET', '{h}1', 'half') redis.call('INCR', '{h}1') redis.call('SET', '{h}1', 'whole')|1|{h}1", "GET|{h}1"},
	{"MULTI", "EVAL|return redis.call('INCR', KEYS[1])|1|m", "GET|m", "EVAL|return redis.call('INCR', KEYS[1])|1|m", "EXEC", "GET|m"},
	{"MULTI", "SET|m|1", "EVALSHA|0000000000000000000000000000000000000001|1|m", "GET|m", "EXEC", "GET|m"},
	{"WATCH|w", "EVAL|return redis.call('SET', KEYS[1], 1)|1|w", "MULTI", "GET|w", "EXEC", "WATCH|w", "EVAL|return redis.call('GET', KEYS[1])|1|w", "MULTI", "GET|w", "EXEC"},
	{"HSET|h|f|v", "EVAL|redis.setresp(3) return redis.call('HGETALL', KEYS[1])|1|h", "EVAL|redis.setresp(3) return {double=3.5}|0", "EVAL|redis.setresp(4)|0"},
	{"HELLO|3", "HSET|h|f|v", "EVAL|redis.setresp(3) return redis.call('HGETALL', KEYS[1])|1|h", "EVAL|return redis.call('HGETALL', KEYS[1])|1|h", "EVAL|redis.setresp(3) return {{double=3.5}, false, true, {map={a=1}}}|0",
		"EVAL|return false|0", "EVAL|return {1, nil, 2}|0", "EVAL|return redis.call('GET', KEYS[1])|1|none"},
	{"EVAL|return redis.sha1hex('x') .. cjson.encode({1, {a='b'}}) .. tostring(#cmsgpack.pack({1}))|0", "EVAL|return redis.call('PING')|0", "EVAL|return redis.call('ECHO', 'x')|0", "EVAL|x = 1|0", "EVAL|return nosuch|0"},
	{"EVAL|return redis.call('SET', KEYS[1], ARGV[1], 'PX', 100000)|1|e|v", "EVAL|return redis.call('TTL', KEYS[1])|1|e", "EVAL|return redis.call('DEL', KEYS[1])|1|e", "EXISTS|e"},
}

// compareScripts executes sequences of commands on a Redis and on Quoll, each on empty servers, one by one and in one write, and wants the same replies. What lists functions does so in no order.
func compareScripts(t *testing.T, sequences [][]string, flush, redisAddr, quollAddr string) {
	t.Helper()
	for _, lines := range sequences {
		for _, pipelined := range []bool{false, true} {
			var replies [2][]string
			for i, address := range []string{redisAddr, quollAddr} {
				l := dialScripts(t, address)
				require.Equal(t, []string{"+OK\r\n", "+OK\r\n"}, l.do([]string{"FLUSHALL", flush}))
				if pipelined {
					replies[i] = l.do(lines)
					continue
				}
				for _, line := range lines {
					replies[i] = append(replies[i], l.do([]string{line})...)
				}
			}
			for i, line := range lines {
				switch {
				case strings.HasPrefix(line, "HELLO"):
				case strings.HasPrefix(line, "FUNCTION|LIST"): // the functions of a library are in no order
					require.Len(t, replies[1][i], len(replies[0][i]), "%q, pipelined: %t: %q", lines[:i+1], pipelined, replies[1][i])
				default:
					require.Equal(t, replies[0][i], replies[1][i], "%q, pipelined: %t", lines[:i+1], pipelined)
				}
			}
		}
	}
}

// TestScripts compares scripts on a cluster, one by one and in one write, with Redis. Scripts of one proxy are those of the other.
func TestScripts(t *testing.T) {
	redisAddr := redistest.Start(t)
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	compareScripts(t, scriptsOfRedis, "SCRIPT|FLUSH", redisAddr, c.Proxies[0].Client)

	one, other := dialScripts(t, c.Proxies[0].Client), dialScripts(t, c.Proxies[1].Client)
	require.Equal(t, []string{"+OK\r\n", "$40\r\n" + scriptName("return ARGV[1]") + "\r\n"}, one.do([]string{"FLUSHALL", "SCRIPT|LOAD|return ARGV[1]"}))
	require.Equal(t, []string{"$1\r\nx\r\n", "*1\r\n:1\r\n", ":0\r\n"}, other.do([]string{"EVALSHA|<sha return ARGV[1]>|0|x", "SCRIPT|EXISTS|<sha return ARGV[1]>", "DBSIZE"}))
}

// TestScriptSlots checks what a Redis that is no cluster allows and Quoll does not: scripts on keys of several slots, which then do nothing.
func TestScriptSlots(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Node: []string{"--lua-time-limit", "500ms"}})
	l := dialScripts(t, c.Proxies[0].Client)
	crossed := func(line string) {
		require.Regexp(t, "^-CROSSSLOT ", l.do([]string{line})[0], line)
	}
	crossed("EVAL|return 1|2|a|b")
	crossed("EVAL|redis.call('SET', 'a', 1) return redis.call('SET', 'b', 1)|0")
	crossed("EVAL|redis.call('SET', KEYS[1], 1) return redis.call('SET', 'b', 1)|1|a")
	require.Equal(t, []string{":0\r\n"}, l.do([]string{"EXISTS|a|b"}))

	for _, line := range []string{"EVAL|x x|0", "SCRIPT|LOAD|x x"} { // the parser finds the same errors, and names them in other words
		require.Regexp(t, `^-ERR Error compiling script \(new function\): user_script:1: .* near 'x'\r\n$`, l.do([]string{line})[0])
	}

	// A script that does not end is ended, and has written nothing; and the next one of the slot runs.
	require.Regexp(t, "^-ERR a script took longer", l.do([]string{"EVAL|redis.call('SET', KEYS[1], 1) while true do end|1|a"})[0])
	require.Regexp(t, "^-ERR a script took longer", l.do([]string{"EVAL|while true do pcall(function() while true do redis.call('INCR', KEYS[1]) end end) end|1|a"})[0])
	require.Equal(t, []string{"$-1\r\n", ":1\r\n"}, l.do([]string{"GET|a", "EVAL|return redis.call('INCR', KEYS[1])|1|a"}))
}

// TestALongScriptHoldsUpItsKeysOnly: while one runs everybody goes on, but for those who want its keys. What runs for too long leaves nothing.
func TestALongScriptHoldsUpItsKeysOnly(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	client, beside := dialScripts(t, c.Proxies[0].Client), dialScripts(t, c.Proxies[0].Client)
	for _, script := range []string{
		"EVAL|redis.call('SET', KEYS[1], 'half') while true do end|1|a",
		"EVAL|for i = 1, 10 do redis.pcall('INCR', KEYS[1]) end local n = 0 while n < 1e9 do n = n + 1 end|1|a",
	} {
		ended, waiting := make(chan string, 1), make(chan string, 1)
		go func() { ended <- client.do([]string{script})[0] }()
		var others []string
		for i := range 500 {
			others = append(others, fmt.Sprintf("SET|other%d|x", i), fmt.Sprintf("EVAL|return redis.call('GET', KEYS[1])|1|other%d", i))
		}
		for range 5 {
			require.NotContains(t, strings.Join(beside.do(others), ""), "-")
		}
		go func() { waiting <- beside.do([]string{"APPEND|a|1"})[0] }()
		select {
		case reply := <-ended:
			t.Fatal("others have waited for the script: ", reply)
		case reply := <-waiting:
			t.Fatal("a command has not waited for the script on its key: ", reply)
		default:
		}
		require.Regexp(t, "^-ERR a script took longer than 5s", <-ended)
		require.Regexp(t, "^:", <-waiting)
	}
	require.Equal(t, "$2\r\n11\r\n", client.do([]string{"GET|a"})[0])
}

// TestScriptPipelines checks that scripts and other commands of a pipeline take effect, and are answered, in order.
func TestScriptPipelines(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	l := dialScripts(t, c.Proxies[0].Client)
	const script = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
	l.do([]string{"SCRIPT|LOAD|" + script})
	for range 5 {
		commands, want := []string{"DEL|{p}1|{p}2"}, []string{""}
		for i := 1; i <= 100; i++ {
			key := fmt.Sprint("{p}", i%2)
			commands = append(commands, "SET|{p}2|"+strconv.Itoa(i), "EVALSHA|<sha "+script+">|1|{p}2|1", "GET|{p}2", "EVAL|return redis.call('GET', '{p}2')|0", "ECHO|"+key)
			value := resp.AppendBulk(nil, strconv.Itoa(i+1))
			want = append(want, "+OK\r\n", fmt.Sprintf(":%d\r\n", i+1), string(value), string(value), string(resp.AppendBulk(nil, key)))
		}
		require.Equal(t, want[1:], l.do(commands)[1:])
	}
}

// TestScriptsWhileANodeIsGone counts with a script while a node is killed and started: no increment that was acknowledged is lost.
func TestScriptsWhileANodeIsGone(t *testing.T) {
	if testing.Short() {
		t.Skip("nodes are killed and started again")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	const keys = 8
	var acknowledged, unknown [keys]atomic.Int64
	var done atomic.Int64
	increment := redis.NewScript("return redis.call('INCR', KEYS[1])")
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for n := range 4 {
		client := connect(t, c.Proxies[n%2].Client)
		clients.Go(func() {
			for i := n; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				err := increment.Run(t.Context(), client, []string{fmt.Sprint("counter:", i%keys)}).Err()
				if err == nil {
					acknowledged[i%keys].Add(1)
				} else {
					unknown[i%keys].Add(1)
				}
				done.Add(1)
			}
		})
	}
	reach := func(what string) {
		goal := done.Load() + 500
		cluster.Await(t, what, func() bool { return done.Load() > goal })
	}
	reach("scripts run with all nodes")
	c.Nodes[1].Kill()
	reach("scripts run without a node")
	c.Nodes[1].Start()
	c.Nodes[1].AwaitReady()
	reach("scripts run with the node again")
	close(stop)
	clients.Wait()
	client := connect(t, c.Proxies[0].Client)
	for i := range keys {
		value, err := client.Get(t.Context(), fmt.Sprint("counter:", i)).Int64()
		require.NoError(t, err)
		require.GreaterOrEqual(t, value, acknowledged[i].Load(), "acknowledged increments are lost")
		require.LessOrEqual(t, value, acknowledged[i].Load()+unknown[i].Load(), "increments took effect twice")
	}
}

// scriptLink is a connection whose replies are compared as bytes.
type scriptLink struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func dialScripts(t *testing.T, address string) *scriptLink {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return &scriptLink{t, conn, bufio.NewReader(conn)}
}

var shaOf = regexp.MustCompile(`^<sha ([^>]*)>$`)

// do sends commands, whose arguments are separated by |, in one write and returns their replies.
func (l *scriptLink) do(commands []string) (replies []string) {
	l.t.Helper()
	var request []byte
	for _, line := range commands {
		args := strings.Split(line, "|")
		request = resp.AppendArray(request, len(args))
		for _, arg := range args {
			if m := shaOf.FindStringSubmatch(arg); m != nil {
				arg = scriptName(m[1])
			}
			request = resp.AppendBulk(request, arg)
		}
	}
	_, err := l.Write(request)
	require.NoError(l.t, err)
	for range commands {
		var reply []byte
		for size := 0; size == 0; size = resp.Size(reply) {
			line, err := l.in.ReadBytes('\n')
			require.NoError(l.t, err)
			if reply = append(reply, line...); line[0] == '$' && line[1] != '-' {
				n, err := strconv.Atoi(strings.TrimSpace(string(line[1:])))
				require.NoError(l.t, err)
				bulk := make([]byte, n+2)
				_, err = io.ReadFull(l.in, bulk)
				require.NoError(l.t, err)
				reply = append(reply, bulk...)
			}
		}
		replies = append(replies, string(reply))
	}
	return replies
}

func scriptName(script string) string {
	sum := sha1.Sum([]byte(script)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// TestScriptsAndFunctionsAreKilled: any proxy ends what runs for long, at whichever node, and nothing of it is done. Replies are those of Redis.
func TestScriptsAndFunctionsAreKilled(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Node: []string{"--lua-time-limit", "2m", "--slow-timeout", "2m"}, Proxy: []string{"--slow-timeout", "2m"}})
	client, other := dialScripts(t, c.Proxies[0].Client), dialScripts(t, c.Proxies[1].Client)
	const (
		notBusy     = "-NOTBUSY No scripts in execution right now.\r\n"
		busy        = "-BUSY Redis is busy running a script. You can only call %s KILL or SHUTDOWN NOSAVE.\r\n"
		killed      = "Script killed by user with SCRIPT KILL... script: "
		noFunction  = "*4\r\n$14\r\nrunning_script\r\n$-1\r\n"
		endless     = "redis.call('SET', KEYS[1], 'half') while true do pcall(function() while true do end end) end"
		endlessCall = "redis.register_function('endless', function(keys) redis.call('SET', keys[1], 1) while true do end end)"
	)
	cluster.Await(t, "all nodes answer the proxies", func() bool {
		return client.do([]string{"SCRIPT|KILL"})[0] == notBusy && other.do([]string{"SCRIPT|KILL"})[0] == notBusy
	})
	require.Equal(t, []string{notBusy}, other.do([]string{"FUNCTION|KILL"}))
	require.NotContains(t, client.do([]string{"FUNCTION|LOAD|" + functionLib("l", endlessCall)})[0], "-")
	for _, test := range []struct {
		name, kind, another string
		commands            []string
		want                string
	}{
		{"a script", "SCRIPT", "FUNCTION", []string{"EVAL|" + endless + "|1|a"}, "-ERR " + killed + scriptName(endless) + ", on @user_script:1.\r\n"},
		{"a function", "FUNCTION", "SCRIPT", []string{"FCALL|endless|1|a|x"}, "-ERR " + killed + "endless, on @user_function:2.\r\n"},
		{"a transaction", "SCRIPT", "FUNCTION", []string{"MULTI", "SET|{a}2|x", "EVAL|" + endless + "|1|a", "EXEC"},
			"-ERR " + killed + scriptName(endless) + ", on @user_script:1. Nothing of the transaction was done.\r\n"},
	} {
		ended := make(chan []string, 1)
		go func() { ended <- client.do(test.commands) }()
		cluster.Await(t, test.name+" runs", func() bool { return other.do([]string{test.another + "|KILL"})[0] == fmt.Sprintf(busy, test.kind) })
		stats := other.do([]string{"FUNCTION|STATS"})[0]
		if test.kind == "FUNCTION" {
			require.Regexp(t, "^\\*4\r\n\\$14\r\nrunning_script\r\n\\*6\r\n\\$4\r\nname\r\n\\$7\r\nendless\r\n\\$7\r\ncommand\r\n\\*5\r\n\\$5\r\nFCALL\r\n\\$7\r\nendless\r\n"+
				"\\$1\r\n1\r\n\\$1\r\na\r\n\\$1\r\nx\r\n\\$11\r\nduration_ms\r\n:[1-9][0-9]+\r\n", stats)
		} else {
			require.Contains(t, stats, noFunction)
		}
		require.Equal(t, "+OK\r\n", other.do([]string{test.kind + "|KILL"})[0])
		replies := <-ended
		require.Equal(t, test.want, replies[len(replies)-1], test.name)
		cluster.Await(t, "nothing runs", func() bool { return other.do([]string{test.kind + "|KILL"})[0] == notBusy })
		require.Equal(t, ":0\r\n", client.do([]string{"EXISTS|a|{a}2"})[0], test.name)
	}
	require.Contains(t, other.do([]string{"FUNCTION|STATS"})[0], noFunction)
}
