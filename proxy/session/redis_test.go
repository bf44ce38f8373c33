package session

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// sameAsRedis are commands whose replies must be Redis', byte for byte.
const sameAsRedis = `
HELLO 4|HELLO abc|HELLO 3 FOO|HELLO 3 AUTH a|HELLO 3 AUTH bob x|HELLO 2 SETNAME|HELLO 3 SETNAME é
HELLO 3|PING|CLIENT GETNAME|GET none|MGET none|CONFIG GET maxclients|COPY {x} {x}2|CLIENT SETNAME a|CLIENT GETNAME|RANDOMKEY|CONFIG GET save|RESET|CLIENT GETNAME
HELLO 3 AUTH default x SETNAME me|CLIENT GETNAME|HELLO
AUTH x|AUTH default x|AUTH bob x|AUTH a b c|AUTH
PING a b|PING a|PING|ECHO|ECHO a|TIME x
SELECT 0|SELECT 17|SELECT abc|SELECT 99999999999999999999|SELECT -1
CLIENT|CLIENT FOO|CLIENT FOO BAR|CLIENT ID x|CLIENT SETNAME ""|CLIENT SETNAME a|CLIENT GETNAME|CLIENT SETNAME é
CLIENT LIST TYPE foo|CLIENT LIST TYPE pubsub|CLIENT LIST ID a|CLIENT LIST ID 99999|CLIENT LIST FOO|CLIENT LIST ID|CLIENT LIST TYPE
CLIENT KILL|CLIENT KILL 1.2.3.4:5|CLIENT KILL ID abc|CLIENT KILL ID 99999|CLIENT KILL FOO bar|CLIENT KILL TYPE foo
CLIENT KILL TYPE pubsub SKIPME yes|CLIENT KILL USER bob|CLIENT KILL SKIPME foo|CLIENT KILL ID 1 SKIPME|CLIENT KILL USER default ID 99999
CLIENT NO-EVICT|CLIENT NO-EVICT on|CLIENT NO-EVICT foo|CLIENT UNPAUSE|CLIENT PAUSE|CLIENT UNBLOCK 7|CLIENT UNBLOCK x
CLIENT REPLY|CLIENT REPLY foo|CLIENT REPLY on|CLIENT REPLY skip|PING|PING x|CLIENT REPLY OFF|PING|CLIENT REPLY SKIP|CLIENT REPLY ON|PING|CLIENT REPLY OFF|QUIT
CLIENT GETREDIR|CLIENT TRACKINGINFO|CLIENT CACHING YES|CLIENT TRACKING|CLIENT TRACKING ON OPTIN|CLIENT GETREDIR|CLIENT TRACKINGINFO|CLIENT CACHING NO|CLIENT CACHING foo|CLIENT CACHING
CLIENT TRACKING on noloop optin|CLIENT TRACKINGINFO|CLIENT TRACKING ON OPTIN|CLIENT TRACKINGINFO|CLIENT TRACKING off|CLIENT TRACKINGINFO|CLIENT GETREDIR|CLIENT CACHING NO|CLIENT TRACKINGINFO x
HELLO 3|CLIENT TRACKINGINFO|CLIENT TRACKING ON NOLOOP OPTIN|CLIENT TRACKINGINFO|RESET|CLIENT TRACKINGINFO
COMMAND FOO|COMMAND COUNT x|COMMAND INFO get foo|COMMAND GETKEYS|COMMAND GETKEYS get|COMMAND GETKEYS get a|COMMAND GETKEYS mset a b c d
COMMAND GETKEYS mget a b|COMMAND GETKEYS ping x|COMMAND GETKEYS foo x|COMMAND LIST FOO|COMMAND LIST FILTERBY FOO x
COMMAND LIST FILTERBY MODULE x|COMMAND DOCS foo|COMMAND LIST FILTERBY PATTERN append
CONFIG|CONFIG GET|CONFIG GET maxclients|CONFIG GET maxmemory|CONFIG SET foo|CONFIG RESETSTAT|CONFIG RESETSTAT x|CONFIG FOO|CONFIG REWRITE|CONFIG GET nosuch
CONFIG SET slowlog-log-slower-than -1|SLOWLOG RESET|SLOWLOG GET -1|SLOWLOG GET -2|SLOWLOG GET x|SLOWLOG GET 1 2|SLOWLOG LEN x|SLOWLOG HELP|SLOWLOG HELP x
LATENCY HELP|LATENCY HISTORY|LATENCY HISTORY a b|LATENCY GRAPH|LATENCY RESET|LATENCY HISTOGRAM nosuch|LATENCY LATEST x
ACL|ACL WHOAMI|ACL WHOAMI x|ACL USERS|ACL LIST|ACL GETUSER default|ACL GETUSER x|ACL CAT foo|ACL CAT a b|ACL CAT|ACL GENPASS 0|ACL GENPASS 4097|ACL GENPASS x|ACL GENPASS 1 2|ACL FOO|ACL SETUSER|ACL DELUSER
ACL DRYRUN default get|ACL DRYRUN x get a|ACL DRYRUN default foo|ACL DRYRUN default get a|ACL DRYRUN default|ACL DRYRUN default client|ACL DRYRUN default client foo|ACL DRYRUN default client id
HELLO 3|ACL GETUSER default|ACL LIST|ACL CAT|ROLE|LOLWUT|COMMAND GETKEYSANDFLAGS get a|SLOWLOG GET|LATENCY LATEST|LATENCY HISTOGRAM nosuch|MONITOR x
ROLE|ROLE x|LOLWUT|LOLWUT VERSION 9|LOLWUT VERSION x|LOLWUT x y|DEBUG|DEBUG SLEEP|DEBUG foo|DEBUG JMAP|MONITOR x
COMMAND GETKEYSANDFLAGS|COMMAND GETKEYSANDFLAGS get|COMMAND GETKEYSANDFLAGS ping x|COMMAND GETKEYSANDFLAGS foo x|COMMAND GETKEYSANDFLAGS eval x 0|COMMAND GETKEYS eval x 0|COMMAND GETKEYS eval x 1 a b|COMMAND GETKEYS ping
CLIENT PAUSE|CLIENT PAUSE x|CLIENT PAUSE -1|CLIENT PAUSE 1 foo|CLIENT PAUSE 1 WRITE x|CLIENT PAUSE 0|CLIENT PAUSE 10 write|SET a x|CLIENT UNPAUSE x|CLIENT UNPAUSE|CLIENT PAUSE 1.5
CLIENT KILL ID 0|CLIENT KILL ID -1|CLIENT KILL LADDR 1.2.3.4:5|CLIENT KILL SKIPME yes USER default ID 99999|CLIENT KILL TYPE master|CLIENT KILL TYPE replica|CLIENT KILL ADDR 1.2.3.4:5 foo
MULTI|MONITOR|EXEC|MULTI|CONFIG SET timeout 0|ROLE|ACL WHOAMI|SLOWLOG LEN|DEBUG|EXEC|MULTI|ACL FOO|EXEC|MULTI|CLIENT PAUSE 1|EXEC
MEMORY HELP x|MEMORY STATS x|MEMORY USAGE nokey SAMPLES 0|CONFIG HELP x|CONFIG SET a|CONFIG SET a b c|ACL HELP x|CLIENT HELP x|COMMAND HELP x
LATENCY|LATENCY LATEST|LATENCY RESET|LATENCY RESET a b|LATENCY HISTORY foo|LATENCY GRAPH foo|LATENCY HISTOGRAM foo|LATENCY FOO
MEMORY|MEMORY USAGE nokey|MEMORY PURGE|MEMORY MALLOC-STATS x|MEMORY FOO|MEMORY USAGE|MEMORY USAGE a b|MEMORY USAGE a SAMPLES x
OBJECT|OBJECT ENCODING|OBJECT encoding a b|OBJECT FOO|OBJECT FREQ|OBJECT HELP x|COMMAND GETKEYS object encoding a|COMMAND GETKEYS memory usage a samples 5|COMMAND GETKEYS object help|COMMAND GETKEYS sort a|COMMAND GETKEYS sort a by x* limit 0 store get store store b STORE c|COMMAND GETKEYS sort a store|COMMAND GETKEYS sort_ro a store b|COMMAND GETKEYS sort a store get store d
COMMAND GETKEYS georadius a 1 2 3 m|COMMAND GETKEYS georadius a 1 2 3 m store b storedist c|COMMAND GETKEYS georadius a 1 2 3 store store b|COMMAND GETKEYS georadiusbymember a m 3 m store|COMMAND GETKEYS georadiusbymember a m 3 m STORE store x STOREDIST y|COMMAND GETKEYS georadius_ro a 1 2 3 m store b
SLOWLOG|SLOWLOG GET|SLOWLOG GET -2|SLOWLOG GET a|SLOWLOG LEN|SLOWLOG RESET|SLOWLOG FOO
CLUSTER|CLUSTER INFO|CLUSTER FOO|READONLY|READWRITE
FOO a b|FOO|LPUSHX|GET|GET a b|"" a|NOSUCH 12345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890 b c
SCAN|SCAN a|SCAN 0 FOO|SCAN 0 COUNT|SCAN 0 COUNT 0|SCAN 0 COUNT a|SCAN 0 MATCH|SCAN 0 TYPE foo|SCAN 0 TYPE string|SCAN 99999999999999999999|SCAN 0 COUNT -1|SCAN 0x
KEYS|KEYS *|DBSIZE|DBSIZE x|RANDOMKEY|FLUSHALL foo|FLUSHALL ASYNC|FLUSHALL SYNC|FLUSHDB a b|FLUSHDB async
SET {k}a 1|COPY {k}a {k}b|COPY {k}a {k}b|COPY {k}a {k}b REPLACE|COPY a
MSET|MSET a|MSET a 1|MSET a 1 b|MGET|MGET a a none|DEL|DEL a a|EXISTS {k}a {k}a none|TOUCH {k}a|UNLINK {k}a {k}b|DBSIZE
SINTERCARD 0 a|SINTERCARD x a|SINTERCARD 2 a|SINTERCARD 1 s LIMIT -1|SINTERCARD 1 s FOO|SINTER|COMMAND GETKEYS SINTERCARD 2 a b|COMMAND GETKEYS SINTERCARD 3 a b|COMMAND GETKEYS SUNION a b c
COMMAND GETKEYS rename a b|COMMAND GETKEYS msetnx a 1 b 2|COMMAND GETKEYS bitop and d a b|COMMAND GETKEYS bitop not d a|COMMAND GETKEYS sinterstore d a b|COMMAND GETKEYS pfmerge d a b|COMMAND GETKEYS copy a b db 3|COMMAND GETKEYS smove a b c|COMMAND GETKEYS lmove a b left right
COMMAND GETKEYS zunionstore d 2 a b weights 1 2|COMMAND GETKEYS zinterstore d 1 a|COMMAND GETKEYS zdiffstore d 3 a b|COMMAND GETKEYS zunionstore d 0 a|COMMAND GETKEYS zunionstore d x a|COMMAND GETKEYS zrangestore d s 0 1|COMMAND GETKEYS geosearchstore d s frommember a byradius 1 m|COMMAND GETKEYS lmpop 2 a b left|COMMAND GETKEYS zmpop 3 a b min|COMMAND GETKEYS lmpop 9 a b left|COMMAND GETKEYS bitop and d
LMPOP|LMPOP 1 a
COMMAND GETKEYS ZMPOP 2 a b MIN|COMMAND GETKEYS LMPOP 3 a LEFT
SET x ohmytext|SET y mynewtext|LCS x y|LCS x y LEN|LCS x y IDX|LCS x y FOO|LCS x y IDX LEN|LCS x none|LCS none none|HELLO 3|LCS x y IDX WITHMATCHLEN
QUIT
`

// identity is what differs between two servers and does not matter.
var identity = regexp.MustCompile(`\$2\r\nid\r\n:\d+\r\n`)

func TestSameAsRedis(t *testing.T) {
	redisAddr := redistest.Start(t)
	_, quollAddr := startServer(t, Config{}, proxytest.NewCluster())
	for _, line := range strings.Split(strings.TrimSpace(sameAsRedis), "\n") {
		commands := strings.Split(line, "|")
		require.Equal(t, pipeline(t, redisAddr, commands), pipeline(t, quollAddr, commands), line)
	}
}

// pipeline sends commands at once and returns the replies up to the end of the
// connection.
func pipeline(t *testing.T, addr string, commands []string) []string {
	c := proxytest.Dial(t, addr)
	c.Send(append(commands, "QUIT")...)
	var replies []string
	for {
		reply, err := proxytest.ReadReply(c.In)
		if err != nil {
			return replies
		}
		replies = append(replies, identity.ReplaceAllString(reply, ""))
	}
}

// TestGlobSameAsRedis matches odd patterns with odd keys in both.
func TestGlobSameAsRedis(t *testing.T) {
	redisAddr := redistest.Start(t)
	cluster := proxytest.NewCluster()
	_, quollAddr := startServer(t, Config{}, cluster)
	r, q := proxytest.Dial(t, redisAddr), proxytest.Dial(t, quollAddr)
	keys := []string{"a", "b", "ab", "abc", "]", "[", "-", "^", `\`, `a\`, "a-b", "a]b", "*", "?", "aaab", "z", "a^"}
	for _, key := range keys {
		require.Equal(t, r.Do("SET "+key+" 1"), q.Do("SET "+key+" 1"))
	}
	alphabet := `ab[]-^\*?z`
	next := uint32(1)
	for range 3000 {
		var pattern strings.Builder
		for range 1 + next>>16%6 {
			next = next*1664525 + 1013904223
			pattern.WriteByte(alphabet[next>>16%uint32(len(alphabet))])
		}
		want, got := strings.Fields(r.Do("KEYS "+pattern.String())), strings.Fields(q.Do("KEYS "+pattern.String()))
		require.ElementsMatch(t, want, got, pattern.String())
	}
}

// TestGoRedis uses the client library that most Go programs use, in both protocols.
func TestGoRedis(t *testing.T) {
	_, addr := startServer(t, Config{Password: "secret"}, proxytest.NewCluster())
	ctx := context.Background()
	for protocol := 2; protocol <= 3; protocol++ {
		client := redis.NewClient(&redis.Options{Addr: addr, Password: "secret", Protocol: protocol, ClientName: "test"})
		require.NoError(t, client.Set(ctx, "k", "v", 0).Err())
		require.Equal(t, "v", client.Get(ctx, "k").Val())
		require.ErrorIs(t, client.Get(ctx, "none").Err(), redis.Nil)
		require.Equal(t, []any{"v", nil}, client.MGet(ctx, "k", "none").Val())

		var incrs []*redis.IntCmd
		_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for range 3000 {
				incrs = append(incrs, pipe.Incr(ctx, "n"))
			}
			return nil
		})
		require.NoError(t, err)
		for i, incr := range incrs {
			require.EqualValues(t, i+1, incr.Val())
		}
		require.Contains(t, client.Info(ctx).Val(), "redis_version:7.0.15")
		require.Contains(t, client.Info(ctx, "keyspace").Val(), "db0:keys=2,expires=0,avg_ttl=0")
		require.Equal(t, map[string]string{"maxclients": "10000"}, client.ConfigGet(ctx, "maxclients").Val())
		require.Equal(t, "test", client.ClientGetName(ctx).Val())
		require.Equal(t, []string{"get", "set"}, []string{client.Command(ctx).Val()["get"].Name, client.Command(ctx).Val()["set"].Name})
		iter := client.Scan(ctx, 0, "*", 1).Iterator()
		seen := 0
		for iter.Next(ctx) {
			seen++
		}
		require.NoError(t, iter.Err())
		require.Equal(t, 2, seen)
		require.ErrorContains(t, client.Do(ctx, "SWAPDB", 0, 1).Err(), "not supported yet")
		require.NoError(t, client.FlushAll(ctx).Err())
		require.NoError(t, client.Close())
	}
}
