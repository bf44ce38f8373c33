package datatype

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/redistest"
)

// severalOfRedis are commands of several keys, whose replies must be Redis', byte for byte, in both protocols. Each line begins with no keys.
const severalOfRedis = `
RENAME a b|SET a 1|RENAME a a|RENAME a b|GET b|EXISTS a|EXPIRE b 100|SET a 2|RENAME b a|TTL a|RENAMENX a a|RENAMENX x a|SET b 1|RENAMENX a b|RENAMENX a c|TTL c|GET c|RPUSH l x|RENAME l c|LRANGE c 0 -1|TTL c
SET a 1 EX 100|COPY a b|TTL b|COPY a b|COPY a b FOO|COPY a b REPLACE|COPY a b REPLACE replace DB 0|COPY a b DB x|COPY a b DB 99|COPY a b DB 99999999999|COPY a b DB|COPY a a|COPY a a FOO|COPY x b|COPY x b REPLACE|GET b|COPY a|RPUSH l 1|COPY l b REPLACE|LRANGE b 0 -1|TTL b|RPUSH b 2|LRANGE l 0 -1
MSETNX a 1 b 2|MSETNX b 3 c 4|MGET a b c|MSETNX c|MSETNX c 1 d|MSETNX c 1 c 2|GET c|MSET a 1 a 2|MGET a|MSET a|SADD s x|MSET s 1|GET s|MSETNX s 1
SADD a 1 2 3|SMOVE a b 1|SMOVE a b 1|SMEMBERS b|SMOVE a a 2|SMOVE a a 9|SMOVE x b 1|SET s 1|SMOVE a s 2|SMOVE s a 2|SMOVE x s 2|SMOVE s s 2|SMOVE a b 2|SMOVE a b 3|EXISTS a|SCARD b|SMOVE a b
RPUSH a 1 2 3|LMOVE a b LEFT RIGHT|LMOVE a b RIGHT LEFT|LRANGE b 0 -1|RPOPLPUSH a b|EXISTS a|LMOVE a b LEFT LEFT|RPOPLPUSH b b|LMOVE b b LEFT RIGHT|LMOVE b b UP LEFT|LMOVE b b LEFT UP|LMOVE x y UP LEFT|SET s 1|LMOVE s b LEFT LEFT|LMOVE b s LEFT LEFT|LMOVE x s LEFT LEFT|RPOPLPUSH s b|RPOPLPUSH b s|RPOPLPUSH x s|LRANGE b 0 -1
LMPOP 0 a LEFT|LMPOP x a LEFT|LMPOP -1 a LEFT|LMPOP 99999999999999999999 a LEFT|LMPOP 2 a LEFT|LMPOP 1 a UP|LMPOP 1 a MIN|LMPOP 1 a LEFT COUNT|LMPOP 1 a LEFT COUNT 0|LMPOP 1 a LEFT COUNT x|LMPOP 1 a LEFT COUNT 0 x|LMPOP 1 a LEFT COUNT 1 COUNT 2|LMPOP 1 a LEFT FOO 1
RPUSH b 1 2 3|LMPOP 2 a b LEFT|LMPOP 3 a b c RIGHT COUNT 5|LMPOP 2 a b LEFT|SET s 1|RPUSH b 1|LMPOP 2 s b LEFT|LMPOP 2 b s LEFT|LMPOP 2 a s LEFT
ZMPOP 0 a MIN|ZMPOP 2 a b|ZMPOP 2 a b FOO|ZMPOP 1 a LEFT|ZMPOP 1 a MIN COUNT -1|ZMPOP 2 a a MIN COUNT 2 x|ZADD b 1 x 2 y 3 z|ZMPOP 2 a b MIN|ZMPOP 2 a b MAX COUNT 9|ZMPOP 2 a b MIN|SET s 1|ZMPOP 2 a s MIN|ZMPOP 1 s MIN
SADD a 1 2 3|SADD b 2 3 4|SINTERSTORE d a b|SMEMBERS d|SUNIONSTORE d a b|SMEMBERS d|SDIFFSTORE d a b|SMEMBERS d|SINTERSTORE a a b|SMEMBERS a|SET d 1 EX 100|SINTERSTORE d a|TTL d|SINTERSTORE d a x|EXISTS d|SDIFFSTORE d x|SUNIONSTORE d x y|SET s 1|SINTERSTORE d a s|SINTERSTORE d x s|SUNIONSTORE s a|SMEMBERS s|SINTERSTORE d|SDIFFSTORE d b b|SUNIONSTORE d a x|OBJECT ENCODING d
SADD a 1 2|SADD b 2|SINTER a b|SINTER a x|SDIFF a b|SUNION x y|SINTERCARD 2 a b|SINTERCARD 2 a b LIMIT 1|SINTERCARD 0 a|SINTERCARD 3 a b|SINTERCARD 1 a FOO|SINTERCARD 1 a LIMIT -1|SET s 1|SINTER a s|SUNION x s|SINTERCARD 1 s
ZADD a 1 x 2 y|ZADD b 3 y 4 z|SADD c x z|ZUNIONSTORE d 2 a b|ZRANGE d 0 -1 WITHSCORES|ZINTERSTORE d 2 a b WEIGHTS 2 3|ZRANGE d 0 -1 WITHSCORES|ZUNIONSTORE d 3 a b c WEIGHTS 1 1 inf AGGREGATE MIN|ZRANGE d 0 -1 WITHSCORES|ZDIFFSTORE d 2 a b|ZRANGE d 0 -1 WITHSCORES|ZUNIONSTORE a 2 a a AGGREGATE SUM|ZRANGE a 0 -1 WITHSCORES
ZADD a 1 x|SET d 1 EX 100|ZUNIONSTORE d 1 a|TTL d|TYPE d|ZINTERSTORE d 2 a x|EXISTS d|ZDIFFSTORE d 1 x|SET s 1|ZUNIONSTORE d 1 s|ZUNIONSTORE d 2 x s FOO|ZUNIONSTORE s 1 a|TYPE s|ZUNIONSTORE d 0 a|ZINTERSTORE d x a|ZDIFFSTORE d 2 a|ZUNIONSTORE d 1 a WITHSCORES|ZDIFFSTORE d 1 a WEIGHTS 1|ZUNIONSTORE d 1 a WEIGHTS|ZUNIONSTORE d 1 a WEIGHTS x|ZUNIONSTORE d 1 a WEIGHTS 1 2|ZUNIONSTORE d 1 a AGGREGATE FOO|ZUNIONSTORE d 1 a AGGREGATE|ZUNION 1 a WITHSCORES|ZINTER 2 a s|ZDIFF 1 a FOO|ZINTERCARD 2 a a LIMIT 1|ZINTERCARD 1 a LIMIT -1
ZADD a 1 x 2 y 3 z|ZRANGESTORE d a 0 1|ZRANGE d 0 -1 WITHSCORES|ZRANGESTORE d a 0 0 REV|ZRANGE d 0 -1|ZRANGESTORE d a (1 +inf BYSCORE LIMIT 1 5|ZRANGE d 0 -1|ZRANGESTORE d a +inf 2 BYSCORE REV|ZRANGE d 0 -1|ZRANGESTORE d a 5 9|EXISTS d|ZRANGESTORE d x 0 -1|ZRANGESTORE a a 1 1|ZRANGE a 0 -1|SET s 1|ZRANGESTORE d s 0 -1|ZRANGESTORE s a 0 -1|TYPE s|ZRANGESTORE d a 0 -1 WITHSCORES|ZRANGESTORE d a x 1|ZRANGESTORE d a x 1 BYSCORE|ZRANGESTORE d a x 1 BYLEX|ZRANGESTORE d a 0 1 LIMIT 0 1|ZRANGESTORE d a 0 1 FOO|ZRANGESTORE d a 0
ZADD a 0 a 0 b 0 c|ZRANGESTORE d a [b + BYLEX|ZRANGE d 0 -1|ZRANGESTORE d a + - BYLEX REV LIMIT 0 1|ZRANGE d 0 -1
GEOADD a 1 1 x 1.001 1 y 50 50 z|geosearchstore d a FROMLONLAT 1 1 BYRADIUS 1000 M|ZRANGE d 0 -1 WITHSCORES|geosearchstore d a FROMMEMBER z BYBOX 1 1 KM ASC COUNT 1|ZRANGE d 0 -1|geosearchstore d a FROMLONLAT 9 9 BYRADIUS 1 M|EXISTS d|geosearchstore d x FROMMEMBER z BYRADIUS 1 M|geosearchstore d a FROMMEMBER none BYRADIUS 1 M|geosearchstore d a FROMMEMBER z BYRADIUS 1 M WITHDIST|geosearchstore d a FROMMEMBER z BYRADIUS 1 M STORE x|geosearchstore d a FROMMEMBER z ASC ASC ASC|geosearchstore d a BYRADIUS 1 M ASC ASC|geosearchstore d a FROMMEMBER z BYRADIUS 1 M ANY|geosearchstore d a FROMMEMBER z BYRADIUS 0 M STOREDIST|ZRANGE d 0 -1 WITHSCORES|SET s 1|geosearchstore d s FROMMEMBER z BYRADIUS 1 M|geosearchstore s a FROMMEMBER z BYRADIUS 1 M|TYPE s
GEOADD a 1 1 x 1.001 1 y 50 50 z|GEORADIUS a 1 1 1000 M STORE d|ZRANGE d 0 -1 WITHSCORES|GEORADIUSBYMEMBER a z 1 M STOREDIST d|ZRANGE d 0 -1 WITHSCORES|GEORADIUS a 1 1 1000 M STORE d STOREDIST e|EXISTS d e|GEORADIUS a 1 1 1000 M STORE d WITHDIST|GEORADIUS x 1 1 1000 M STORE d|EXISTS d|GEORADIUS a 9 9 1 M STORE e|EXISTS e|GEORADIUS a 1 1 1000 M STORE|GEORADIUSBYMEMBER a z 1 M|GEORADIUS a 1 1 1000 M ASC|GEORADIUSBYMEMBER x z 1 M STORE a|EXISTS a
RPUSH a 3 1 2|SORT a STORE d|LRANGE d 0 -1|SORT a DESC LIMIT 0 2 STORE a|LRANGE a 0 -1|SORT x STORE a|EXISTS a|SADD s b a|SORT s STORE d|SORT s ALPHA STORE d|LRANGE d 0 -1|SORT s BY nosort STORE d|LRANGE d 0 -1|SORT d ALPHA GET # GET x STORE e|LRANGE e 0 -1|SORT d STORE|SORT d ALPHA STORE e FOO|SET k 1|SORT k STORE d|SORT s ALPHA STORE k|TYPE k|SORT s ALPHA LIMIT 5 1 STORE k|EXISTS k
SET a abc|SET b ab|BITOP AND d a b|GET d|BITOP or d a b x|GET d|BITOP XOR d a b|GET d|BITOP NOT d a|GET d|BITOP NOT d a b|BITOP FOO d a|BITOP NOT d x|EXISTS d|BITOP AND d x y|BITOP AND a a a|GET a|SET d 1 EX 100|BITOP OR d a|TTL d|RPUSH l 1|BITOP AND d a l|BITOP OR l a|GET l|SET a abcdefghijklmnop|SET b 0123456789|BITOP XOR d a b|GET d|BITOP AND d b a|GET d
PFADD a 1 2 3|PFADD b 3 4|PFCOUNT a b x|PFMERGE d a b|PFCOUNT d|GET d|PFMERGE d|PFMERGE e|GET e|PFMERGE e x y|SET s 1|PFMERGE d s|PFMERGE s a|PFCOUNT a s|RPUSH l 1|PFMERGE d a l|PFMERGE l a|PFCOUNT l a|EXPIRE a 100|PFMERGE a b|TTL a|PFCOUNT a
SET a ohmytext|SET b mynewtext|LCS a b|LCS a b LEN|LCS a x|LCS a b IDX WITHMATCHLEN|LCS a b FOO|LCS a b LEN IDX|RPUSH l 1|LCS a l|LCS l x FOO
SET a 1|DEL a a x|SET a 1|EXISTS a a x|TOUCH a a x|UNLINK a x a|DEL
`

// TestSeveralAsRedis executes severalOfRedis here and on a real redis-server.
func TestSeveralAsRedis(t *testing.T) {
	addr := redistest.Start(t, "--proto-max-bulk-len", "512mb")
	conns := []*redisConn{dialRedis(t, addr, "2"), dialRedis(t, addr, "3")}
	var names [][]byte
	for _, name := range strings.Fields("a b c d e k l s x y none") {
		names = append(names, []byte(name))
	}
	for line := range strings.SplitSeq(strings.TrimSpace(severalOfRedis), "\n") {
		for i, conn := range conns {
			conn.ask(t, "FLUSHALL")
			k := NewKeyspace(names, make([]record.State, len(names)), time.Now().UnixMilli(), nil)
			for text := range strings.SplitSeq(line, "|") {
				args := strings.Fields(text)
				require.Equal(t, conn.ask(t, args...), executeHere(k, args, i == 1), "%q of %q", text, line)
			}
		}
	}
}

// TestSeveralMakeObjects: what is made of large collections, or is large, is the object that it is in memory, and no other key's.
func TestSeveralMakeObjects(t *testing.T) {
	names := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d")}
	fill := map[string][]string{"SADD": nil, "ZADD": nil, "RPUSH": nil, "HSET": nil, "APPEND": {strings.Repeat("x", 2*longText)}}
	for i := range 1000 {
		n := strconv.Itoa(i)
		fill["SADD"] = append(fill["SADD"], "m"+n)
		fill["ZADD"] = append(fill["ZADD"], n, "m"+n)
		fill["RPUSH"] = append(fill["RPUSH"], n)
		fill["HSET"] = append(fill["HSET"], "f"+n, n)
	}
	for name, commands := range map[string][]string{
		"SADD": {"SUNIONSTORE b a", "RENAME b c", "COPY c d", "SINTERSTORE b a c d"}, "ZADD": {"ZUNIONSTORE b 1 a", "ZRANGESTORE c b 0 -1", "COPY a d"},
		"RPUSH": {"SORT a STORE b", "COPY b c", "COPY a d"}, "HSET": {"COPY a b", "COPY a d", "COPY a c"}, "APPEND": {"COPY a b", "COPY a c", "COPY b d"},
	} {
		k := NewKeyspace(names, make([]record.State, 4), testNow, nil)
		require.NotEqual(t, "-", on(t, k, strings.Join(append([]string{name, "a"}, fill[name]...), " "))[:1], name)
		for _, command := range commands {
			require.NotEqual(t, "-", on(t, k, command)[:1], command)
		}
		var objects []record.Object
		for i, effect := range k.Effects() {
			require.Equal(t, record.Replaced, effect.Kind)
			require.NotNil(t, effect.State.Object, "%s, key %s", name, names[i])
			require.False(t, slices.Contains(objects, effect.State.Object), "%s: the object is another key's, too", name)
			objects = append(objects, effect.State.Object)
			require.Equal(t, k.Effects()[0].State.Size(), effect.State.Size(), name)
		}
	}
}

// TestSeveralAreBounded: what would become too long is refused, and nothing is done to any key.
func TestSeveralAreBounded(t *testing.T) {
	k := keyspaceOf()
	on(t, k, "RPUSH a 1 2 3 4 5 6 7 8", "SADD b 100000000000 b c d e f g h", "SADD c k l m n")
	before := k.Effects()
	k.lend = func(req *command.Request) { req.MaxValue, req.MaxCollection = 20, 20 }
	require.Equal(t, "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n", on(t, k, "SUNIONSTORE d b c"))
	require.Equal(t, "-"+errTooLong(record.List)+"\r\n", on(t, k, "SORT a GET # GET # GET # STORE d"))
	require.Equal(t, before, k.Effects())
	require.Equal(t, ":4\r\n", on(t, k, "SUNIONSTORE d c c"))
}

// BenchmarkSInterStore is what it costs to put two sets of 100000 members together.
func BenchmarkSInterStore(b *testing.B) {
	args := []string{"SADD", "a"}
	for i := range 100_000 {
		args = append(args, "member:"+strconv.Itoa(i))
	}
	names := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	k := NewKeyspace(names, make([]record.State, 3), testNow, nil)
	k.Execute(nil, clientRequest(args...))
	k.Execute(nil, clientRequest("COPY", "a", "b"))
	b.ReportAllocs()
	for b.Loop() {
		k.Execute(nil, clientRequest("SINTERSTORE", "c", "a", "b"))
	}
}
