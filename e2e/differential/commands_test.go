//go:build unix

package differential

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
)

// generators draw the arguments of each command.
var generators = map[string]func(*generator) []string{
	"append":      oneKey((*generator).value),
	"bitcount":    (*generator).bitCount,
	"bitfield":    func(g *generator) []string { return append([]string{g.key()}, g.fieldOps(false)...) },
	"bitfield_ro": func(g *generator) []string { return append([]string{g.key()}, g.fieldOps(true)...) },
	"bitpos":      (*generator).bitPos,
	"copy":        (*generator).copyKey,
	"decr":        oneKey(),
	"decrby":      oneKey((*generator).integer),
	"del":         (*generator).manyKeys,
	"dump":        oneKey(),
	"exists":      (*generator).manyKeys,
	"expire":      func(g *generator) []string { return append([]string{g.key(), g.relative(1)}, g.conditions()...) },
	"expireat":    func(g *generator) []string { return append([]string{g.key(), g.absolute(1)}, g.conditions()...) },
	"expiretime":  oneKey(),
	"get":         oneKey(),
	"getbit":      oneKey(func(g *generator) string { return g.offset(8) }),
	"getdel":      oneKey(),
	"getex":       func(g *generator) []string { return append([]string{g.key()}, g.getExOptions()...) },
	"getrange":    oneKey((*generator).index, (*generator).index),
	"getset":      oneKey((*generator).value),
	"incr":        oneKey(),
	"incrby":      oneKey((*generator).integer),
	"incrbyfloat": oneKey((*generator).float),
	"lcs":         (*generator).lcs,
	"wait":        (*generator).wait,
	"waitaof":     (*generator).waitAOF,
	"mget":        (*generator).manyKeys,
	"mset":        (*generator).mset,
	"persist":     oneKey(),
	"pexpire":     func(g *generator) []string { return append([]string{g.key(), g.relative(1000)}, g.conditions()...) },
	"pexpireat":   func(g *generator) []string { return append([]string{g.key(), g.absolute(1000)}, g.conditions()...) },
	"pexpiretime": oneKey(),
	"psetex":      oneKey(func(g *generator) string { return g.relative(1000) }, (*generator).value),
	"pttl":        oneKey(),
	"restore":     (*generator).restore,
	"set":         func(g *generator) []string { return append([]string{g.key(), g.value()}, g.setOptions()...) },
	"setbit":      oneKey(func(g *generator) string { return g.offset(8) }, func(g *generator) string { return pick(g, "0", "0", "1", "1", "1", "1", "2", "-1", "", "01") }),
	"setex":       oneKey(func(g *generator) string { return g.relative(1) }, (*generator).value),
	"setnx":       oneKey((*generator).value),
	"setrange":    oneKey(func(g *generator) string { return g.offset(1) }, (*generator).value),
	"sort":        (*generator).sort,
	"sort_ro":     (*generator).sort,
	"strlen":      oneKey(),
	"substr":      oneKey((*generator).index, (*generator).index),
	"touch":       (*generator).manyKeys,
	"ttl":         oneKey(),
	"type":        oneKey(),
	"unlink":      (*generator).manyKeys,

	"hset":         (*generator).hset,
	"hmset":        (*generator).hset,
	"hsetnx":       oneKey((*generator).field, (*generator).value),
	"hget":         oneKey((*generator).field),
	"hmget":        (*generator).manyFields,
	"hgetall":      oneKey(),
	"hkeys":        oneKey(),
	"hvals":        oneKey(),
	"hdel":         (*generator).manyFields,
	"hexists":      oneKey((*generator).field),
	"hlen":         oneKey(),
	"hstrlen":      oneKey((*generator).field),
	"hincrby":      oneKey((*generator).field, (*generator).integer),
	"hincrbyfloat": oneKey((*generator).field, (*generator).float),
	"hrandfield":   (*generator).randomFields,
	"hscan":        func(g *generator) []string { return append([]string{g.key(), g.cursor()}, g.badScanOptions()...) },

	"sadd":        (*generator).manyMembers,
	"srem":        (*generator).manyMembers,
	"sismember":   oneKey((*generator).member),
	"smismember":  (*generator).manyMembers,
	"smembers":    oneKey(),
	"scard":       oneKey(),
	"spop":        (*generator).spop,
	"srandmember": (*generator).randomMembers,
	"smove":       func(g *generator) []string { return append(g.turned(), g.member()) },
	"sscan":       func(g *generator) []string { return append([]string{g.key(), g.cursor()}, g.badScanOptions()...) },
	"lpush":       (*generator).push,
	"rpush":       (*generator).push,
	"lpushx":      (*generator).push,
	"rpushx":      (*generator).push,
	"lpop":        (*generator).pop,
	"rpop":        (*generator).pop,
	"llen":        oneKey(),
	"lrange":      oneKey((*generator).index, (*generator).index),
	"lindex":      oneKey((*generator).index),
	"lset":        oneKey((*generator).index, (*generator).element),
	"linsert":     oneKey(func(g *generator) string { return g.word(pick(g, "BEFORE", "AFTER", "AFTER", "BESIDE")) }, (*generator).element, (*generator).element),
	"lrem":        oneKey(func(g *generator) string { return pick(g, strconv.Itoa(g.intn(9)-4), "0", g.integer()) }, (*generator).element),
	"ltrim":       (*generator).trim,
	"lpos":        (*generator).positions,
	"lmpop":       func(g *generator) []string { return g.popFirst(g.side()) },
	"lmove":       func(g *generator) []string { return append(g.turned(), g.side(), g.side()) },
	"rpoplpush":   (*generator).turned,
	"pfadd":       (*generator).pfAdd,
	"pfcount":     (*generator).sketches,
	"pfmerge":     (*generator).sketches,

	"sinter":     (*generator).manySets,
	"sunion":     (*generator).manySets,
	"sdiff":      (*generator).manySets,
	"sintercard": (*generator).sintercard,

	"dbsize":    none,
	"flushall":  (*generator).flush,
	"flushdb":   (*generator).flush,
	"keys":      func(g *generator) []string { return []string{g.pattern()} },
	"randomkey": none,
	"scan":      func(g *generator) []string { return append([]string{g.cursor()}, g.badScanOptions()...) },

	"auth":    (*generator).auth,
	"client":  (*generator).client,
	"cluster": (*generator).cluster,
	"command": (*generator).commands,
	"config":  (*generator).config,
	"echo":    func(g *generator) []string { return []string{g.value()} },
	"hello":   (*generator).hello,
	"info": func(g *generator) []string {
		return g.some(func() string { return pick(g, "server", "KEYSPACE", "nosuch", "") }, 2)
	},
	"acl":     (*generator).acl,
	"debug":   func(g *generator) []string { return []string{pick(g, "foo", "")} }, // a Redis does none of it by itself, and SLEEP would last for as long as is drawn
	"latency": (*generator).latency,
	"lolwut": func(g *generator) []string {
		return pick(g, nil, []string{"VERSION", "9"}, []string{"VERSION", "x"}, []string{"x"})
	},
	"monitor":   func(*generator) []string { return []string{"x"} }, // what others do at that moment is not the same on both
	"role":      none,
	"memory":    (*generator).memory,
	"object":    (*generator).object,
	"ping":      func(g *generator) []string { return g.some(g.value, 1) },
	"quit":      none,
	"readonly":  none,
	"asking":    none,
	"readwrite": none,
	"reset":     none,
	"select":    func(g *generator) []string { return []string{g.database()} },
	"move":      func(g *generator) []string { return []string{g.key(), g.database()} },
	"slowlog":   (*generator).slowlog,
	"time":      none,

	"eval":       (*generator).eval,
	"eval_ro":    (*generator).eval,
	"evalsha":    (*generator).evalsha,
	"evalsha_ro": (*generator).evalsha,
	"script":     (*generator).scriptCommand,
	"fcall":      (*generator).fcall,
	"fcall_ro":   (*generator).fcall,
	"function":   (*generator).functionCommand,

	"publish":      oneKey((*generator).value),
	"pubsub":       (*generator).pubSub,
	"spublish":     oneKey((*generator).value),
	"psubscribe":   oneKey(),
	"punsubscribe": oneKey(),
	"ssubscribe":   oneKey(),
	"subscribe":    oneKey(),
	"sunsubscribe": oneKey(),
	"unsubscribe":  oneKey(),

	"discard": none,
	"exec":    none,
	"multi":   none,
	"unwatch": none,
	"watch":   (*generator).manyKeys,
}

// TestEveryCommandHasAGenerator fails for a command that was added to the table alone.
func TestEveryCommandHasAGenerator(t *testing.T) {
	for _, c := range command.Supported() {
		require.Contains(t, generators, c.Name, "give the new command a generator")
	}
	require.Len(t, generators, len(command.Supported()), "there is a generator for a command that is not supported")
}

func none(*generator) []string { return nil }

// oneKey draws a key and then the other arguments.
func oneKey(others ...func(*generator) string) func(*generator) []string {
	return func(g *generator) []string {
		args := []string{g.key()}
		for _, other := range others {
			args = append(args, other(g))
		}
		return args
	}
}

func (g *generator) manyKeys() []string { return append([]string{g.key()}, g.some(g.key, 4)...) }

func (g *generator) mset() []string {
	var args []string
	for range 1 + g.intn(4) {
		args = append(args, g.key(), g.value())
	}
	return args
}

// copyKey keeps to the keys of one slot mostly: others are a difference that is allowed.
func (g *generator) copyKey() []string {
	key := func() string { return pick(g, "a", "{a}1", "{a}2", "x{a}y") }
	args := []string{key(), key()}
	for range g.intn(3) {
		args = append(args, pick(g, []string{g.word("REPLACE")}, []string{g.word("REPLACE")}, []string{g.word("DB"), pick(g, g.database(), g.integer())},
			[]string{pick(g, "DB", "", "foo")})...)
	}
	return args
}

// database draws the number of a database, mostly of one that there is.
func (g *generator) database() string {
	return pick(g, "0", "0", "0", "0", "1", "1", "3", "15", "16", "-1", "", "abc", "4294967296", "99999999999999999999")
}

func (g *generator) bitCount() []string {
	return append(append([]string{g.key()}, g.some(g.index, 3)...), g.unit()...)
}

func (g *generator) bitPos() []string {
	args := []string{g.key(), pick(g, "0", "0", "1", "1", "2", "-1", "x", "01")}
	return append(append(args, g.some(g.index, 3)...), g.unit()...)
}

func (g *generator) unit() []string {
	return pick(g, nil, nil, []string{g.word("BIT")}, []string{g.word("BYTE")}, []string{"bits"})
}

func (g *generator) fieldOps(readOnly bool) []string {
	var out []string
	for range g.intn(5) {
		switch kind := g.intn(10); {
		case kind < 2:
			out = append(out, g.word("OVERFLOW"), g.word(pick(g, "WRAP", "SAT", "FAIL", "FAIL", "FOO")))
		case kind < 5 || readOnly && kind < 9:
			out = append(out, g.word("GET"), g.fieldType(), g.fieldOffset())
		default:
			out = append(out, g.word(pick(g, "SET", "INCRBY", "INCRBY")), g.fieldType(), g.fieldOffset(), g.integer())
		}
	}
	if len(out) > 0 && g.chance(5) {
		out = out[:len(out)-1]
	}
	return out
}

func (g *generator) fieldType() string {
	if g.chance(4) {
		return pick(g, "u64", "i65", "u0", "i0", "i-1", "x8", "", "u", "i08", "I8", "u8 ")
	}
	return pick(g, "i", "u") + strconv.Itoa(pick(g, 1, 2, 8, 63, 1+g.intn(63)))
}

func (g *generator) fieldOffset() string {
	switch { // a multiple that overflows is a difference that is allowed
	case g.chance(4):
		return g.offset(8)
	case g.chance(4):
		return pick(g, "#", "#-1", "#-0", "#x", "##1", "#01", "# 1", "#100000", "#4294967296", "#9223372036854775808")
	}
	return pick(g, "", "", "#") + strconv.Itoa(g.intn(70))
}

// wait draws arguments that are wrong: with others the replies differ, as they are to.
func (g *generator) wait() []string {
	return pick(g, []string{"x", "0"}, []string{"9223372036854775808", "0"}, []string{"1", "x"}, []string{"-1", "1.5"}, []string{"0", "-1"}, []string{"0", "9223372036854775808"})
}

// waitAOF is refused by both: this Redis does not know it, and what is queued by one only would change what a transaction does.
func (g *generator) waitAOF() []string { return g.wait() }

func (g *generator) lcs() []string {
	draw := pick(g, g.key, g.near)
	args := []string{draw(), draw()}
	for range g.intn(4) {
		args = append(args, pick(g, []string{g.word("LEN")}, []string{g.word("IDX")}, []string{g.word("IDX")}, []string{g.word("WITHMATCHLEN")},
			[]string{g.word("MINMATCHLEN"), g.integer()}, []string{pick(g, "MINMATCHLEN", "foo", "")})...)
	}
	return args
}
