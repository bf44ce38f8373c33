//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// functionLib is the code of a library.
func functionLib(name, code string) string { return "#!lua name=" + name + "\n" + code }

// counting is a library whose functions write, read, and use a key that they were not given.
var counting = functionLib("counting", "redis.register_function('count', function(keys, args) return redis.call('INCRBY', keys[1], args[1]) end)\n"+
	"redis.register_function{function_name='look', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}\n"+
	"redis.register_function('undeclared', function(keys, args) redis.call('INCR', '{u}1') return redis.call('GET', '{u}1') end)\n"+
	"redis.register_function{function_name='lies', callback=function(keys) return redis.call('SET', keys[1], 1) end, flags={'no-writes'}, description='it writes'}")

// functionsOfRedis are commands of one connection, whose replies must be Redis', byte for byte.
var functionsOfRedis = [][]string{
	{"FUNCTION|LOAD|" + counting, "FCALL|count|1|a|5", "FCALL|COUNT|1|a|5", "FCALL_RO|look|1|a", "FCALL|look|1|a", "FCALL_RO|count|1|a|1", "FCALL|lies|1|a", "FCALL_RO|lies|1|a", "GET|a", "FUNCTION|STATS"},
	{"FUNCTION|LOAD|" + counting, "FCALL|undeclared|0", "FCALL|undeclared|0", "FCALL|undeclared|1|{u}2|x", "GET|{u}1"},
	{"FUNCTION|LOAD|" + counting, "FUNCTION|LOAD|" + counting, "FUNCTION|LOAD|REPLACE|" + functionLib("counting", "redis.register_function('look', function() return 'new' end)"), "FCALL|look|0", "FCALL|count|1|a|1", "FUNCTION|LIST|WITHCODE",
		"FUNCTION|LOAD|" + functionLib("other", "redis.register_function('LOOK', function() end)"), "FUNCTION|LIST|LIBRARYNAME|COUNT*", "FUNCTION|LIST|LIBRARYNAME|o*", "FUNCTION|DELETE|counting", "FUNCTION|DELETE|counting", "FCALL|look|0", "FUNCTION|LIST"},
	{"FUNCTION|LOAD|REPLACE|" + functionLib("a", "redis.register_function('f', function() return 1 end)"), "FUNCTION|LOAD|REPLACE|" + functionLib("a", "x = 1"), "FUNCTION|LOAD|REPLACE|" + functionLib("a", "return"), "FCALL|f|0", "FUNCTION|FLUSH|x", "FUNCTION|FLUSH|SYNC",
		"FCALL|f|0", "FUNCTION|STATS"},
	{"FUNCTION|LOAD|" + functionLib("a", "redis.register_function('f', function() return 1 end)"), "FLUSHALL", "DBSIZE", "KEYS|*", "RANDOMKEY", "SCAN|0|COUNT|1000", "FCALL|f|0", "FLUSHDB", "FCALL|f|0"},
	{"FCALL|f|x", "FCALL|f|1", "FCALL|f", "FUNCTION", "FUNCTION|NOSUCH", "FUNCTION|LOAD", "FUNCTION|LOAD|x|y", "FUNCTION|LOAD|REPLACE", "FUNCTION|LIST|x", "FUNCTION|LIST|LIBRARYNAME", "FUNCTION|LIST|WITHCODE|WITHCODE", "FUNCTION|DELETE", "FUNCTION|KILL", "FUNCTION|STATS|x",
		"FUNCTION|FLUSH|SYNC|x", "FUNCTION|RESTORE", "FUNCTION|RESTORE|x", "FUNCTION|RESTORE|x|y", "FUNCTION|RESTORE|x|FLUSH|y", "FUNCTION|DUMP|x", "FUNCTION|HELP|x"},
	{"FUNCTION|LOAD|" + counting, "FCALL|count|x|a", "FCALL|count|-1|a", "FCALL|count|2|a", "FCALL|nosuch|x|a", "FCALL_RO|nosuch|0", "FCALL|count|1|a", "FCALL|count|0|a", "SET|s|x", "FCALL|count|1|s|1"},
	{"FUNCTION|LOAD|" + counting, "MULTI", "FCALL|count|1|{u}m|2", "GET|{u}m", "FCALL|nosuch|1|{u}m", "FCALL|count|x", "FCALL_RO|count|1|{u}m", "FCALL|lies|1|{u}m", "EXEC", "GET|{u}m"},
	{"FUNCTION|LOAD|" + counting, "MULTI", "FCALL|undeclared|1|{u}m", "SET|{u}m|1", "EXEC"},
	{"FUNCTION|LOAD|" + counting, "WATCH|w", "FCALL|count|1|w|1", "MULTI", "GET|w", "EXEC", "WATCH|w", "FCALL|look|1|w", "MULTI", "FCALL|look|1|w", "EXEC"},
	{"MULTI", "FUNCTION|LOAD|" + counting, "FUNCTION|LIST", "FUNCTION|NOSUCH", "EXEC", "MULTI", "FUNCTION|LOAD|" + counting, "FUNCTION|STATS", "EXEC", "FCALL|count|1|a|1"},
	{"EVAL|return redis.call('FCALL', 'f', 0)|0", "EVAL|return redis.call('FUNCTION', 'FLUSH')|0", "EVAL|return redis.call('SCRIPT', 'FLUSH')|0"},
	{"HELLO|3", "FUNCTION|LOAD|" + counting, "FUNCTION|LIST|LIBRARYNAME|x", "FUNCTION|STATS", "FCALL|look|1|none", "FUNCTION|LOAD|REPLACE|" + functionLib("counting", "redis.register_function{function_name='f', callback=function() return {double=3.5} end, flags={'allow-oom'}}"),
		"FUNCTION|LIST|WITHCODE", "FCALL|f|0"},
	{"COMMAND|GETKEYS|FCALL|f|2|a|b|c", "COMMAND|GETKEYS|FCALL_RO|f|1|a|b", "EVAL_RO|#!lua\nreturn 1|0"},
}

// TestFunctions compares functions on a cluster, one by one and in one write, with Redis. Those of one proxy are those of the other.
func TestFunctions(t *testing.T) {
	redisAddr := redistest.Start(t)
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	compareScripts(t, functionsOfRedis, "FUNCTION|FLUSH", redisAddr, c.Proxies[0].Client)

	one, other := dialScripts(t, c.Proxies[0].Client), dialScripts(t, c.Proxies[1].Client)
	one.do([]string{"FUNCTION|FLUSH"})
	require.Equal(t, "-ERR Function not found\r\n", other.do([]string{"FCALL|count|1|o|1"})[0])
	require.Equal(t, "$8\r\ncounting\r\n", one.do([]string{"FUNCTION|LOAD|" + counting})[0])
	require.Equal(t, ":1\r\n", other.do([]string{"FCALL|count|1|o|1"})[0], "it is there at once")
	require.Equal(t, "-ERR Library 'counting' already exists\r\n", other.do([]string{"FUNCTION|LOAD|" + counting})[0])
	require.Equal(t, "+OK\r\n", other.do([]string{"FUNCTION|DELETE|counting"})[0])
	require.Equal(t, "-ERR Function not found\r\n", other.do([]string{"FCALL|count|1|o|1"})[0])
	cluster.Await(t, "the other proxy notices", func() bool { return one.do([]string{"FCALL|count|1|o|1"})[0] == "-ERR Function not found\r\n" })
}

// TestFunctionLimits checks what is not as in Redis: functions on keys of several slots, and those that do not end.
func TestFunctionLimits(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Node: []string{"--lua-time-limit", "500ms"}})
	l := dialScripts(t, c.Proxies[0].Client)
	l.do([]string{"FUNCTION|LOAD|" + functionLib("a", "redis.register_function('two', function(keys) redis.call('SET', 'a', 1) return redis.call('SET', 'b', 1) end)\n"+
		"redis.register_function('endless', function(keys) redis.call('SET', keys[1], 1) while true do end end)\nlocal n = 0\nredis.register_function('state', function() n = n + 1 return n end)")})
	require.Regexp(t, "^-CROSSSLOT ", l.do([]string{"FCALL|two|2|a|b"})[0])
	require.Regexp(t, "^-CROSSSLOT ", l.do([]string{"FCALL|two|0"})[0])
	require.Equal(t, ":0\r\n", l.do([]string{"EXISTS|a|b"})[0])
	require.Regexp(t, "^-ERR a script took longer", l.do([]string{"FCALL|endless|1|a"})[0])
	require.Equal(t, []string{"$-1\r\n", ":1\r\n", ":1\r\n"}, l.do([]string{"GET|a", "FCALL|state|0", "FCALL|state|0"}), "nothing of a call is there in the next one")
	require.Equal(t, "-ERR Error registering functions: ERR FUNCTION LOAD timeout\r\n", l.do([]string{"FUNCTION|LOAD|" + functionLib("b", "while true do end")})[0])
}

// TestFunctionsMoveToAndFromRedis: what one dumps the other restores, whatever its policy.
func TestFunctionsMoveToAndFromRedis(t *testing.T) {
	ctx := t.Context()
	there := redis.NewClient(&redis.Options{Addr: redistest.Start(t)})
	defer there.Close()
	here := connect(t, cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1}).Proxies[0].Client)
	names := func(client redis.UniversalClient) (names []string) {
		all, err := client.FunctionList(ctx, redis.FunctionListQuery{WithCode: true}).Result()
		require.NoError(t, err)
		for _, l := range all {
			names = append(names, l.Name+": "+l.Code)
		}
		return names
	}
	other := functionLib("other", "redis.register_function('other', function() return '"+strings.Repeat("x", 1000)+"' end)")
	for _, direction := range [][2]redis.UniversalClient{{there, here}, {here, there}} {
		from, to := direction[0], direction[1]
		for _, client := range direction {
			require.NoError(t, client.FunctionFlush(ctx).Err())
		}
		require.NoError(t, from.FunctionLoad(ctx, counting).Err())
		require.NoError(t, from.FunctionLoad(ctx, other).Err())
		payload := from.FunctionDump(ctx).Val()
		require.NoError(t, to.FunctionRestore(ctx, payload).Err())
		require.ElementsMatch(t, names(from), names(to))
		require.EqualValues(t, 3, to.FCall(ctx, "count", []string{"moved"}, 3).Val())
		require.NoError(t, to.Del(ctx, "moved").Err())

		for _, policy := range []string{"", "APPEND", "REPLACE", "FLUSH"} { // of functions that are there, and of others
			for _, before := range []string{counting, functionLib("third", "redis.register_function('count', function() end)"), functionLib("fourth", "redis.register_function('fourth', function() end)")} {
				var said, left [2]string
				for i, client := range direction {
					require.NoError(t, client.FunctionFlush(ctx).Err())
					require.NoError(t, client.FunctionLoad(ctx, before).Err())
					args := []any{"FUNCTION", "RESTORE", payload}
					if policy != "" {
						args = append(args, policy)
					}
					said[i] = fmt.Sprint(client.Do(ctx, args...).Result())
					left[i] = fmt.Sprint(len(names(client)))
				}
				require.Equal(t, said[0], said[1], policy+before)
				require.Equal(t, left[0], left[1], policy+before)
			}
		}
	}
}

// TestLibrariesThatAreLoadedAtOnce: of libraries with a function of the same name, which many load through all proxies, one is there, and of others all are, whatever FLUSHALL does meanwhile.
func TestLibrariesThatAreLoadedAtOnce(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	ctx := t.Context()
	const clients = 8
	for round := range 5 {
		var loaded, own atomic.Int64
		var all sync.WaitGroup
		for n := range clients {
			client := connect(t, c.Proxies[n%2].Client)
			all.Go(func() {
				code := functionLib(fmt.Sprintf("same_%d_%d", round, n), fmt.Sprintf("redis.register_function('same_%d', function() return %d end)", round, n))
				if client.FunctionLoad(ctx, code).Err() == nil {
					loaded.Add(1)
				}
				code = functionLib(fmt.Sprintf("own_%d_%d", round, n), fmt.Sprintf("redis.register_function('own_%d_%d', function() return %d end)", round, n, n))
				if client.FunctionLoad(ctx, code).Err() == nil {
					own.Add(1)
				}
			})
		}
		all.Go(func() { _ = connect(t, c.Proxies[0].Client).FlushAll(ctx).Err() })
		all.Wait()
		require.EqualValues(t, 1, loaded.Load())
		require.EqualValues(t, clients, own.Load())
	}
	list, err := connect(t, c.Proxies[1].Client).FunctionList(ctx, redis.FunctionListQuery{}).Result()
	require.NoError(t, err)
	require.Len(t, list, 5*(1+clients))
	for n := range clients {
		require.EqualValues(t, n, connect(t, c.Proxies[n%2].Client).FCall(ctx, fmt.Sprintf("own_3_%d", n), nil).Val())
	}
}
