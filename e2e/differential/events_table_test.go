//go:build unix

package differential

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// eventScripts are commands whose events are compared, a script a line: commands separated by semicolons. Scripts begin with empty servers.
var eventScripts = []string{
	// Strings.
	"SET a 1; SET a 2; SET a 3 EX 100; SET a 4 KEEPTTL; SET a 5 NX; SET a 6 XX GET; SET b 1 NX GET; SETNX c 1; SETNX c 2; SETEX d 100 x; PSETEX d 100000 y; GETSET a z; GETSET n z; GETDEL a; GETDEL a",
	"SET a 1; GETEX a; GETEX a EX 100; GETEX a PERSIST; GETEX a PERSIST; GETEX a EXAT 1; GETEX a",
	"MSET {a}1 x {a}2 y {a}1 z; MSETNX {a}1 x {a}3 y; MSETNX {a}4 x {a}3 y; MGET {a}1 {a}9; APPEND a ''; APPEND a x; SETRANGE a 1 ''; SETRANGE a 0 x; SETRANGE z 0 ''; STRLEN nope; GETRANGE nope 0 1",
	"INCR i; DECR i; INCRBY i 3; DECRBY i 3; INCRBYFLOAT i 0.5; INCR i; SETBIT b 3 1; SETBIT b 3 1; SETBIT b 3 0; SETBIT c 0 0; GETBIT nope 1; BITCOUNT nope; BITPOS nope 1",
	"BITFIELD b SET u8 0 1; BITFIELD b SET u8 0 1; BITFIELD b GET u8 0; BITFIELD n GET u8 0; BITFIELD m OVERFLOW FAIL INCRBY u2 0 9; BITFIELD m SET u1 0 1 SET u1 0 0; BITFIELD m SET u8 0 0 INCRBY u8 0 0; BITFIELD_RO n GET u8 0; BITOP AND {a}d {a}1 {a}2; SET {a}1 x; BITOP NOT {a}d {a}1; BITOP AND {a}d {a}7; BITOP AND {a}d {a}7",
	"PFADD h; PFADD h a; PFADD h a; PFCOUNT h; PFCOUNT nope; PFMERGE {h}1 {h}2; PFADD {h}2 x; PFMERGE {h}1 {h}2 {h}3; PFCOUNT {h}1 {h}9",
	// Keys.
	"SET a 1; EXPIRE a 100; EXPIRE a 100 NX; EXPIRE a 50 GT; PEXPIRE a 100000; EXPIREAT a 99999999999; PEXPIREAT a 99999999999999; PERSIST a; PERSIST a; EXPIRE a -1; EXPIRE a 10; PERSIST nope; TTL nope; EXPIRETIME nope; TYPE nope; EXISTS nope; TOUCH nope; OBJECT ENCODING nope",
	"SET {a}1 x EX 100; RENAME {a}1 {a}2; SET {a}1 y; RENAME {a}1 {a}2; RENAME {a}2 {a}2; RENAMENX {a}2 {a}3; RENAMENX {a}3 {a}3; COPY {a}3 {a}4; COPY {a}3 {a}4; COPY {a}3 {a}4 REPLACE; COPY {a}9 {a}8; DEL {a}3 {a}4 {a}9; UNLINK {a}3",
	"SET a x; MOVE a 3; MOVE a 3; SET a y; MOVE a 3; COPY a {a}b DB 3; SELECT 3; GET a; GET {a}b; DEL a; SELECT 0",
	"DUMP nope; SET a x; FLUSHALL; SET a x; FLUSHDB; RANDOMKEY; DBSIZE",
	// Hashes.
	"HSET h f v; HSET h f v; HSET h f w g x; HMSET h f 1; HSETNX h f 2; HSETNX h i 2; HINCRBY h f 2; HINCRBYFLOAT h f 0.5; HINCRBY h i x; HDEL h nope; HDEL h f g; HDEL h i; HDEL h i; HGET h f; HGETALL h; HLEN h; HSCAN h 0; HRANDFIELD h; HSETNX n f 1",
	// Lists.
	"LPUSH l a b; RPUSH l c; LPUSHX l z; RPUSHX l z; LPUSHX nope z; LINSERT l BEFORE a x; LINSERT l BEFORE nope x; LSET l 0 q; LSET l 0 q; LSET l 99 q; LREM l 0 nope; LREM l 0 z; LTRIM l 0 -1; LTRIM l 0 2; LPOP l 0; LPOP l; RPOP l 1; LTRIM l 5 6; LPOP l; LRANGE l 0 -1; LPOS l a; LINDEX l 0; LLEN l",
	"RPUSH {l}1 a b c; LMOVE {l}1 {l}2 LEFT RIGHT; RPOPLPUSH {l}1 {l}2; LMOVE {l}1 {l}1 LEFT RIGHT; RPOPLPUSH {l}1 {l}1; LMOVE {l}1 {l}2 RIGHT LEFT; RPOPLPUSH {l}1 {l}2; LMPOP 2 {l}1 {l}2 LEFT COUNT 2; LMPOP 2 {l}1 {l}2 RIGHT COUNT 2; LMPOP 1 {l}1 LEFT; RPUSH {l}1 x; LREM {l}1 0 x",
	"RPUSH {l}1 a b c d; BLPOP {l}9 {l}1 1; BRPOP {l}1 1; BLMOVE {l}1 {l}2 LEFT LEFT 1; BRPOPLPUSH {l}1 {l}2 1; BLMPOP 1 2 {l}1 {l}2 LEFT; BLMPOP 1 2 {l}1 {l}2 LEFT",
	// Sets.
	"SADD s a b; SADD s a; SREM s x; SREM s a; SREM s b x; SADD s a b c; SPOP s 0; SPOP s; SPOP s 10; SPOP s; SPOP s 3; SMEMBERS s; SISMEMBER s a; SCARD s; SRANDMEMBER s; SSCAN s 0; SADD o a; SPOP o",
	"SADD {s}1 a b; SADD {s}2 a; SMOVE {s}1 {s}3 a; SMOVE {s}1 {s}3 a; SMOVE {s}1 {s}3 b; SMOVE {s}3 {s}3 b; SADD {s}1 a; SMOVE {s}1 {s}3 a; SINTERSTORE {s}d {s}2 {s}3; SINTERSTORE {s}d {s}2 {s}3; SINTERSTORE {s}d {s}2 {s}9; SINTERSTORE {s}d {s}2 {s}9; SUNIONSTORE {s}d {s}2 {s}9; SDIFFSTORE {s}d {s}3 {s}2; SDIFFSTORE {s}d {s}2 {s}2; SINTER {s}2 {s}9; SINTERCARD 1 {s}9",
	// Sorted sets.
	"ZADD z 1 a 2 b; ZADD z 1 a; ZADD z CH 3 a; ZADD z XX 5 nope; ZADD n XX 5 nope; ZADD z INCR 1 a; ZADD z NX INCR 1 a; ZINCRBY z 0 a; ZINCRBY z 1 a; ZINCRBY y 1 a; ZREM z nope; ZREM z a; ZREM z b; ZADD z 1 a 2 b 3 c 4 d 5 e 6 f; ZREMRANGEBYRANK z 0 0; ZREMRANGEBYSCORE z 2 2; ZREMRANGEBYLEX z [c [c; ZREMRANGEBYSCORE z 99 99; ZPOPMIN z; ZPOPMAX z; ZPOPMIN z 0; ZMPOP 1 z MIN; ZMPOP 1 z MIN; ZPOPMIN z; ZRANGE z 0 -1; ZSCORE z a; ZRANK z a",
	"ZADD {z}1 1 a 2 b 3 c; BZPOPMIN {z}1 1; BZPOPMAX {z}1 1; BZMPOP 1 1 {z}1 MAX; ZADD {z}1 1 a 2 b; ZADD {z}2 1 a; ZUNIONSTORE {z}d 2 {z}1 {z}9; ZINTERSTORE {z}d 2 {z}1 {z}2; ZDIFFSTORE {z}d 2 {z}1 {z}2; ZDIFFSTORE {z}d 2 {z}2 {z}2; ZRANGESTORE {z}d {z}1 0 -1; ZRANGESTORE {z}d {z}1 5 9; ZRANGESTORE {z}d {z}9 0 1",
	"GEOADD {g}1 1 1 a 2 2 b; GEOADD {g}1 1 1 a; GEOADD {g}1 XX CH 3 3 a; GEOSEARCHSTORE {g}d {g}1 FROMLONLAT 2 2 BYRADIUS 500 km; GEOSEARCHSTORE {g}d {g}1 FROMLONLAT 90 2 BYRADIUS 1 km; GEOSEARCHSTORE {g}d {g}9 FROMLONLAT 90 2 BYRADIUS 1 km; GEORADIUS {g}1 2 2 500 km STORE {g}d; GEORADIUS {g}1 2 2 500 km; GEOPOS nope a; GEODIST nope a b; GEORADIUS {g}9 1 1 1 km",
	"RPUSH {q}1 3 1 2; SORT {q}1; SORT {q}1 STORE {q}d; SORT {q}9 STORE {q}d; SORT {q}9 STORE {q}d; SORT {q}9; SORT {q}1 BY {q}w_* GET {q}v_* STORE {q}d",
	// Streams.
	"XADD x 1-1 f v; XADD x NOMKSTREAM 1-2 f v; XADD n NOMKSTREAM 1-1 f v; XADD x MAXLEN 1 1-3 f v; XADD x MAXLEN 9 1-4 f v; XADD x MAXLEN 0 1-5 f v; XADD y MAXLEN 0 1-1 f v; XADD x 1-1 f v; XADD x 2-1 f v; XADD x 2-2 f v; XDEL x 9-9; XDEL x 2-1; XTRIM x MAXLEN 5; XTRIM x MAXLEN 0; XTRIM nope MAXLEN 0; XSETID x 9-9; XLEN nope; XRANGE nope - +; XINFO STREAM nope",
	"XGROUP CREATE x g 0; XGROUP CREATE x g 0 MKSTREAM; XGROUP CREATE x g 0; XGROUP SETID x g 5; XGROUP SETID x g 0; XGROUP CREATECONSUMER x g c; XGROUP CREATECONSUMER x g c; XADD x 1-1 f v; XREADGROUP GROUP g c COUNT 1 STREAMS x >; XREADGROUP GROUP g d STREAMS x >; XADD x 1-2 f v; XREADGROUP GROUP g e STREAMS x >; XREADGROUP GROUP g f STREAMS x 0; XCLAIM x g h 0 1-1; XCLAIM x g i 0 9-9; XAUTOCLAIM x g j 0 0; XACK x g 1-1; XGROUP DELCONSUMER x g c; XGROUP DELCONSUMER x g c; XGROUP DESTROY x g; XGROUP DESTROY x g; XREAD STREAMS nope 0; XREADGROUP GROUP g c STREAMS nope >; XPENDING nope g; XCLAIM nope g c 0 1-1; XACK nope g 1-1",
	// Transactions and scripts, whose commands are told in their order when all of it is done.
	"MULTI; SET {a}1 x; LPUSH {a}2 y; GET {a}9; INCR {a}2; RPOP {a}2; DEL {a}1; EXEC; GET {a}1; MULTI; SET a 1; DISCARD",
	"WATCH a; MULTI; SET a x; EXEC; SELECT 2; MULTI; SET a x; RENAME a a; EXEC; SELECT 0",
	`EVAL "redis.call('SET',KEYS[1],'x') redis.call('EXPIRE',KEYS[1],100) redis.pcall('LPUSH',KEYS[1],'x') redis.call('RENAME',KEYS[1],KEYS[2]) return redis.call('GET',KEYS[1])" 2 {a}1 {a}2; EVAL "redis.call('SET',KEYS[1],'x') return redis.error_reply('no')" 1 a; EVAL "redis.call('SELECT',2) redis.call('SET',KEYS[1],'x')" 1 a`,
	`EVAL_RO "return redis.call('GET',KEYS[1])" 1 nope; MULTI; EVAL "return redis.call('INCR',KEYS[1])" 1 {a}1; INCR {a}1; EXEC`,
	// What is refused tells nothing.
	"SET a x; LPUSH a y; INCR a; HSET a f v; SADD a x; ZADD a 1 x; XADD a * f v; SETRANGE a -1 x; EXPIRE a x; ZADD z x a; LMOVE a a LEFT LEFT; SET a 1 EX 0; HINCRBY h f x",
}

// words takes a command apart: words may be quoted.
func words(t *testing.T, text string) []string {
	all, err := parseScript("1> " + strings.ReplaceAll(strings.TrimSpace(text), "''", `""`))
	require.NoError(t, err)
	return all[0].args
}

// TestEventsOfCommands compares what is heard of each command with what is heard of it at a redis-server: which messages, in which order.
func TestEventsOfCommands(t *testing.T) {
	b := startHearing(t, "KEAnm")
	for _, text := range eventScripts {
		for _, address := range []string{b.servers.redis, b.servers.quoll} {
			require.NoError(t, flush(address))
		}
		for _, one := range strings.Split(text, "; ") {
			x, redis, quoll, err := b.run(words(t, one))
			require.NoError(t, err)
			if slices.Contains(scattered, x.name()) {
				redis, quoll = byKey(redis), byKey(quoll)
			}
			require.Equal(t, redis, quoll, "%v\nRedis: %.200q\nQuoll: %.200q", x.step, x.redis, x.quoll)
		}
	}
}

// TestEventsOfRestore: what was there counts as deleted.
func TestEventsOfRestore(t *testing.T) {
	b := startHearing(t, "KEAnm")
	_, _, _, err := b.run([]string{"SET", "a", "x"})
	require.NoError(t, err)
	p, err := b.pair(1)
	require.NoError(t, err)
	reply, err := p.redis.do("DUMP", "a")
	require.NoError(t, err)
	dump := parseReply(reply).text
	for _, args := range [][]string{{"RESTORE", "b", "0", dump}, {"RESTORE", "b", "0", dump}, {"RESTORE", "b", "100000", dump, "REPLACE"}, {"RESTORE", "c", "1", dump, "ABSTTL"}, {"RESTORE", "b", "1", dump, "REPLACE", "ABSTTL"}} {
		x, redis, quoll, err := b.run(args)
		require.NoError(t, err)
		require.Equal(t, redis, quoll, "%v\nRedis: %.200q\nQuoll: %.200q", x.step, x.redis, x.quoll)
	}
}

// TestEventsOfWhatExpires: that a key has expired is told once, by whoever notices it, and what is done on it then as if it were absent.
func TestEventsOfWhatExpires(t *testing.T) {
	b := startHearing(t, "KExg$n")
	await := func(h hearer) (all []string) {
		for !slices.ContainsFunc(all, func(m string) bool { return strings.Contains(m, `__:expired"`) }) {
			_ = h.SetReadDeadline(time.Now().Add(patience))
			message, err := h.next()
			require.NoError(t, err)
			all = append(all, message)
		}
		return all
	}
	for _, text := range []string{"PSETEX a 30 x", "SET a x PX 1", "SET a x EXAT 1"} {
		for _, l := range []*link{b.redis.link, b.quoll.link} {
			require.NoError(t, l.send(nil))
		}
		p, err := b.pair(1)
		require.NoError(t, err)
		for _, l := range []*link{p.redis, p.quoll} {
			_, err := l.do(words(t, text)...)
			require.NoError(t, err)
		}
		require.Equal(t, await(b.redis), await(b.quoll), text)
		_, redis, quoll, err := b.run([]string{"GET", "a"})
		require.NoError(t, err)
		require.Empty(t, redis, text)
		require.Empty(t, quoll, text)
	}
}

// TestEventClassesSameAsRedis: the setting is read, refused and shown as by Redis.
func TestEventClassesSameAsRedis(t *testing.T) {
	b := startHearing(t, "KEA")
	for _, classes := range []string{"", "KEA", "AKEn", "g$lshzxetdmnKE", "Exe", "KxE$m", "A", "KEy", "ke", "K E", "g$lshzxetdn", "mnK"} {
		for _, args := range [][]string{{"CONFIG", "SET", "notify-keyspace-events", classes}, {"CONFIG", "GET", "notify-keyspace-events"}, {"CONFIG", "GET", "notify-*"}, {"SET", "a", "x"}, {"LPUSH", "l", "x"}, {"GET", "nope"}} {
			x, redis, quoll, err := b.run(args)
			require.NoError(t, err)
			require.Equal(t, x.redis, x.quoll, "%q %q", classes, args)
			require.Equal(t, redis, quoll, "%q %q", classes, args)
		}
	}
}
