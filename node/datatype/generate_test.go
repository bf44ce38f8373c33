package datatype

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// generator makes random commands that are likely to meet edges. It never asks for a
// value of more than a megabyte. Where it needs time it stays years away from now, so
// that two executions a moment apart agree.
type generator struct {
	intn func(n int) int
	// unique makes every relative expiry different by more than the time a test takes,
	// so that comparing two of them (GT, LT) does not depend on milliseconds.
	unique int
	// focus says which type's commands are made most of the time: else hardly any key would be of the type that a command is for.
	focus []string
}

func randomGenerator(seed uint64) *generator {
	return newGenerator(rand.New(rand.NewPCG(seed, 1)).IntN)
}

func newGenerator(intn func(n int) int) *generator {
	g := &generator{intn: intn}
	g.focus = pick(g, stringNames, hashNames, listNames, setNames, zsetNames, geoNames)
	return g
}

func pick[T any](g *generator, from ...T) T { return from[g.intn(len(from))] }

func (g *generator) chance(percent int) bool { return g.intn(100) < percent }

// word writes a word in random case.
func (g *generator) word(w string) string {
	switch g.intn(4) {
	case 0:
		return strings.ToLower(w)
	case 1:
		return strings.ToUpper(w[:1]) + strings.ToLower(w[1:])
	}
	return w
}

// command makes a command on the given key.
func (g *generator) command(key string) []string {
	name := pick(g, g.focus...)
	if g.chance(20) {
		name = pick(g, commandNames...)
	}
	switch name {
	case "SMOVE": // to itself
		return []string{g.word(name), key, key, pick(g, g.field, g.number)()}
	case "LMOVE", "RPOPLPUSH":
		return append([]string{g.word(name), key, key}, g.arguments(name)...)
	}
	return append([]string{g.word(name), key}, g.arguments(name)...)
}

// setNames are those of sets.
var setNames = []string{
	"SADD", "SADD", "SADD", "SADD", "SADD", "SADD", "SREM", "SREM", "SISMEMBER", "SISMEMBER", "SMISMEMBER", "SMEMBERS", "SMEMBERS", "SCARD",
	"SPOP", "SPOP", "SRANDMEMBER", "SRANDMEMBER", "SSCAN", "SSCAN", "SMOVE", "SORT", "SORT_RO",
}

// commandNames are all commands that are made: those that are there several times are made more often.
var commandNames = slices.Concat(stringNames, keyNames, hashNames, listNames, setNames, zsetNames, geoNames)

var stringNames = []string{
	"GET", "SET", "SET", "SET", "SETNX", "SETEX", "PSETEX", "GETSET", "GETDEL", "GETEX", "GETEX", "APPEND", "APPEND",
	"STRLEN", "GETRANGE", "SUBSTR", "SETRANGE", "SETRANGE", "INCR", "DECR", "INCRBY", "DECRBY", "INCRBYFLOAT",
	"INCRBYFLOAT", "INCRBYFLOAT", "SETBIT", "SETBIT", "GETBIT", "BITCOUNT", "BITCOUNT", "BITPOS", "BITPOS", "BITFIELD",
	"BITFIELD", "BITFIELD", "BITFIELD_RO",
}

var keyNames = []string{
	"DEL", "UNLINK", "EXISTS", "TOUCH", "TYPE", "EXPIRE", "PEXPIRE", "EXPIREAT",
	"PEXPIREAT", "TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "PERSIST", "SORT", "SORT_RO",
}

var hashNames = []string{
	"HSET", "HSET", "HSET", "HSET", "HSET", "HMSET", "HSETNX", "HSETNX", "HGET", "HGET", "HMGET", "HMGET", "HGETALL", "HGETALL", "HKEYS",
	"HVALS", "HDEL", "HDEL", "HEXISTS", "HLEN", "HSTRLEN", "HINCRBY", "HINCRBY", "HINCRBY", "HINCRBYFLOAT", "HINCRBYFLOAT",
	"HRANDFIELD", "HRANDFIELD", "HSCAN", "HSCAN",
}

// listNames are those of lists.
var listNames = []string{
	"LPUSH", "LPUSH", "LPUSH", "LPUSH", "RPUSH", "RPUSH", "RPUSH", "RPUSH", "LPUSHX", "RPUSHX", "LPOP", "LPOP", "RPOP", "RPOP", "LLEN", "LRANGE", "LRANGE",
	"LRANGE", "LINDEX", "LINDEX", "LSET", "LSET", "LSET", "LINSERT", "LINSERT", "LINSERT", "LREM", "LREM", "LREM", "LTRIM", "LPOS", "LPOS", "LPOS",
	"LMOVE", "LMOVE", "RPOPLPUSH", "LMPOP", "SORT", "SORT_RO",
	"PFADD", "PFADD", "PFCOUNT", "PFCOUNT", "PFMERGE",
}

func (g *generator) arguments(name string) []string {
	switch name {
	case "SET":
		return append([]string{g.value()}, g.setOptions()...)
	case "SETNX", "GETSET", "APPEND":
		return []string{g.value()}
	case "SETEX":
		return []string{g.relative(1), g.value()}
	case "PSETEX":
		return []string{g.relative(1000), g.value()}
	case "GETEX":
		return g.getExOptions()
	case "GETRANGE", "SUBSTR":
		return []string{g.index(), g.index()}
	case "SETRANGE":
		return []string{g.offset(), g.value()}
	case "INCRBY", "DECRBY":
		return []string{g.integer()}
	case "INCRBYFLOAT":
		return []string{g.float()}
	case "SETBIT":
		return []string{g.bitOffset(), pick(g, "0", "1", "1", "2", "-1", "x")}
	case "GETBIT":
		return []string{pick(g, g.bitOffset(), "4294967295", "1000000000")}
	case "BITCOUNT":
		return append(g.some(g.index, 3), g.unit()...)
	case "BITPOS":
		return append(append([]string{pick(g, "0", "0", "1", "1", "2", "x")}, g.some(g.index, 3)...), g.unit()...)
	case "BITFIELD", "BITFIELD_RO":
		return g.fieldOps(name == "BITFIELD_RO")
	case "EXPIRE":
		return append([]string{g.relative(1)}, g.conditions()...)
	case "PEXPIRE":
		return append([]string{g.relative(1000)}, g.conditions()...)
	case "EXPIREAT":
		return append([]string{g.absolute(1)}, g.conditions()...)
	case "PEXPIREAT":
		return append([]string{g.absolute(1000)}, g.conditions()...)
	case "SORT", "SORT_RO":
		return append(g.sortArguments(), pick(g, nil, nil, nil, nil, nil, nil, nil, nil, nil, []string{"BY", "w_*"}, []string{"GET", "w_*->f"})...)
	}
	if strings.HasPrefix(name, "GEO") {
		return g.geoArguments(name)
	}
	if name[0] == 'Z' {
		return g.zsetArguments(name)
	}
	if name == "PFADD" { // at most one: Redis adds those before it notices that the rest of a value is corrupt
		return g.some(g.value, 1)
	}
	return g.hashArguments(name)
}

// sketchKey is the key of which nothing but a HyperLogLog is made.
const sketchKey = "sketch"

// sketchCommand makes a command on it.
func (g *generator) sketchCommand() []string {
	switch g.intn(20) {
	case 0:
		return []string{"DEL", sketchKey}
	case 1, 2, 3:
		return []string{"GET", sketchKey}
	case 4, 5, 6:
		return []string{"PFCOUNT", sketchKey}
	case 7:
		return []string{"PFMERGE", sketchKey, sketchKey}
	}
	args := []string{"PFADD", sketchKey}
	for range g.intn(pick(g, 3, 3, 100, 1500)) {
		args = append(args, strconv.Itoa(g.intn(pick(g, 100, 1_000_000, 1<<40))))
	}
	return args
}

func (g *generator) hashArguments(name string) []string {
	switch name {
	case "HSET", "HMSET":
		out := []string{g.field(), g.value()}
		for range g.intn(pick(g, 1, 5, 30)) {
			out = append(out, g.field(), g.value())
		}
		if g.chance(3) {
			out = out[1:]
		}
		return out
	case "HSETNX":
		return []string{g.field(), g.value()}
	case "HGET", "HEXISTS", "HSTRLEN":
		return []string{g.field()}
	case "HMGET", "HDEL":
		return append([]string{g.field()}, g.some(g.field, pick(g, 3, 3, 20))...)
	case "HINCRBY":
		return []string{g.field(), g.integer()}
	case "HINCRBYFLOAT":
		return []string{g.field(), g.float()}
	case "HRANDFIELD":
		return g.randomOptions()
	case "HSCAN":
		return append([]string{g.cursor()}, g.scanOptions()...)
	}
	return g.setArguments(name)
}

func (g *generator) cursor() string {
	return pick(g, "0", "0", "0", "", "-1", "+0", "00", "x", "18446744073709551616", " 1", "0x1", "1.5")
}

func (g *generator) setArguments(name string) []string {
	member := pick(g, g.field, g.number) // a set is of integers, or not
	switch name {
	case "SADD", "SREM":
		return append([]string{member()}, g.some(member, pick(g, 1, 5, 30, 200))...)
	case "SISMEMBER":
		return []string{member()}
	case "SMISMEMBER":
		return append([]string{member()}, g.some(member, pick(g, 3, 3, 20))...)
	case "SPOP", "SRANDMEMBER":
		out := g.some(func() string {
			return pick(g, strconv.Itoa(g.intn(8)), strconv.Itoa(-g.intn(20)), "1", "1000", "x", "", "-9223372036854775808", "9223372036854775807")
		}, 1)
		if len(out) > 0 && g.chance(3) {
			out = append(out, "x")
		}
		return out
	case "SSCAN":
		return append([]string{g.cursor()}, g.scanOptions()...)
	}
	return g.listArguments(name)
}

// number is a member that is an integer, as Redis writes it, or almost.
func (g *generator) number() string {
	if g.chance(2) {
		return g.integer()
	}
	return strconv.Itoa(g.intn(pick(g, 10, 200, 70000, 1<<40)) - g.intn(100))
}

func (g *generator) field() string {
	if g.chance(10) {
		return pick(g, "", "\x00", "\r\n", "\xff\xfe", strings.Repeat("f", 200), "007", "-5")
	}
	return "f" + strconv.Itoa(g.intn(pick(g, 3, 10, 60)))
}

func (g *generator) randomOptions() []string {
	out := g.some(func() string {
		return pick(g, strconv.Itoa(g.intn(8)), strconv.Itoa(-g.intn(20)), strconv.Itoa(100), "x", "", "-9223372036854775808", "9223372036854775807")
	}, 1)
	if len(out) > 0 && g.chance(50) {
		out = append(out, pick(g, g.word("WITHVALUES"), g.word("WITHVALUES"), g.word("WITHVALUES"), "WITHSCORES", ""))
	}
	if g.chance(3) {
		out = append(out, "x")
	}
	return out
}

func (g *generator) scanOptions() []string {
	var out []string
	for range g.intn(3) {
		out = append(out, pick(g, []string{g.word("MATCH"), pick(g, "*", "f1*", "f?", "", "[f]*", "\x00")},
			[]string{g.word("COUNT"), pick(g, "1", "3", "1000", "0", "-1", "x", "")}, []string{pick(g, "TYPE", "", "NOVALUES"), "hash"})...)
	}
	if g.chance(5) && len(out) > 0 {
		out = out[:len(out)-1]
	}
	return out
}

// some repeats one up to n times, n included.
func (g *generator) some(one func() string, n int) []string {
	var out []string
	for range g.intn(n + 1) {
		out = append(out, one())
	}
	return out
}

func (g *generator) unit() []string {
	return pick(g, nil, nil, []string{g.word("BIT")}, []string{g.word("BYTE")}, []string{"bits"})
}

func (g *generator) value() string {
	switch g.intn(6) {
	case 0:
		return g.integer()
	case 1:
		return g.float()
	case 2:
		return strings.Repeat(pick(g, "\x00", "\xff", "ab", "\xff\xff\x00"), g.intn(600))
	case 3:
		return pick(g, "", "hello world", "\x00", "\x80", "with\r\nlines", strings.Repeat("q", 70))
	}
	random := make([]byte, g.intn(pick(g, 4, 20, 80, 700)))
	for i := range random {
		random[i] = byte(g.intn(256))
	}
	return string(random)
}

func (g *generator) integer() string {
	if g.chance(50) {
		return strconv.Itoa(g.intn(200) - 100)
	}
	return pick(g, "9223372036854775807", "-9223372036854775808", "9223372036854775806", "-9223372036854775807",
		"9223372036854775808", "-9223372036854775809", "18446744073709551616", "4611686018427387904", "-4611686018427387905",
		"00", "01", "-0", "+1", " 1", "1 ", "1\n", "", "-", "x", "1e3", "1.0", "99999999999999999999999", "2147483648")
}

func (g *generator) float() string {
	switch g.intn(5) {
	case 0:
		return pick(g, "inf", "-inf", "+Infinity", "nan", "-NaN", "nan(1)", "infinit", "", ".", "-", "+", "e5", "1e", "1e+",
			"1e-", "0x", "0x.", "0xp1", "0x1p", "0x1.8p1", "0X.8P-3", "0x1.fffffffffffffffp16383", "0x1p16383", "0x1p16384",
			"0x1p-16445", "0x1p-16446", "0x1p-16447", "1.18973149535723176502e+4932", "1.18973149535723176508e4932", "1e4933",
			"3.6e-4951", "1e-4952", "1e99999999999999999999", "0e999999999999", "1e-99999999999999999999", " 1", "1 ", "\t1",
			"1\x00", "\x001", "--1", "+-1", "1.2.3", "1e5.", "1_000", "0b1", "0o7", "1d", "1f", "-0", "-0.0", "-1e-20",
			"0.000000000000000005", "0.000000000000000015", "-0.000000000000000025", strings.Repeat("9", 254),
			strings.Repeat("9", 256), "0."+strings.Repeat("0", 200)+"1",
			strings.Repeat("7", 4933), strings.Repeat("0", 5118)+"1", strings.Repeat("0", 5119)+"1",
			"0."+strings.Repeat("0", 4900)+"1e4900", "5.", ".5", "1E2", "1e0000001")
	case 1:
		return strconv.Itoa(g.intn(2000)-1000) + "." + strconv.Itoa(g.intn(1000000))
	case 2: // many digits
		var b strings.Builder
		for range 1 + g.intn(40) {
			b.WriteByte(byte('0' + g.intn(10)))
		}
		b.WriteByte('.')
		for range 1 + g.intn(40) {
			b.WriteByte(byte('0' + g.intn(10)))
		}
		return pick(g, "", "-", "+") + b.String() + pick(g, "", "", "e-10", "E+12", "e-25", "e300", "e-4960", "e4900")
	case 3: // close to the middle between two neighbours
		odd := strconv.FormatUint(1<<63|uint64(g.intn(1<<30)), 10)
		return odd + pick(g, ".5", ".5", ".50000000000000000000000000001", ".49999999999999999999999999999", "5", "0")
	}
	return strconv.FormatFloat(float64(g.intn(1<<30)-1<<29)*pick(g, 1e-25, 1e-9, 0.001, 0.1, 1, 1e12, 1e80), 'g', -1, 64)
}

// index is the end of a range.
func (g *generator) index() string {
	if g.chance(85) {
		return strconv.Itoa(g.intn(pick(g, 5, 30, 700)) - g.intn(pick(g, 5, 30, 700)))
	}
	return pick(g, "9223372036854775807", "-9223372036854775808", "x", "", "1.0", "4294967296", "-4294967297")
}

// offset is the position of SETRANGE, in bytes.
func (g *generator) offset() string {
	if g.chance(85) {
		return strconv.Itoa(g.intn(pick(g, 5, 30, 700)))
	}
	return pick(g, "-1", "536870912", "9223372036854775807", "9223372036854775808", "x", "", "100000", "-9223372036854775808")
}

// bitOffset is the position of SETBIT.
func (g *generator) bitOffset() string {
	if g.chance(85) {
		return strconv.Itoa(g.intn(pick(g, 8, 100, 6000)))
	}
	return pick(g, "-1", "4294967296", "9223372036854775807", "x", "", "100000", "#1")
}

func (g *generator) fieldOps(readOnly bool) []string {
	var out []string
	for range g.intn(5) {
		switch kind := g.intn(10); {
		case kind < 2:
			out = append(out, g.word("OVERFLOW"), g.word(pick(g, "WRAP", "SAT", "FAIL", "FAIL", "SAT")))
		case kind < 5 || readOnly && kind < 9:
			out = append(out, g.word("GET"), g.fieldType(), g.fieldOffset())
		default:
			out = append(out, g.word(pick(g, "SET", "INCRBY", "INCRBY")), g.fieldType(), g.fieldOffset(), g.operand())
		}
	}
	if len(out) > 0 && g.chance(5) {
		out = out[:len(out)-1]
	}
	return out
}

func (g *generator) fieldType() string {
	if g.chance(3) {
		return pick(g, "u64", "i65", "u0", "i0", "i-1", "x8", "", "u", "i08", "I8", "u8 ")
	}
	return pick(g, "i", "u") + strconv.Itoa(pick(g, 1, 2, 8, 63, 1+g.intn(63)))
}

func (g *generator) fieldOffset() string {
	if g.chance(3) {
		return pick(g, "-1", "#-1", "#", "", "x", "#x", "4294967296", "#4294967296", "9223372036854775807")
	}
	return pick(g, "", "", "#") + strconv.Itoa(g.intn(pick(g, 3, 70, 300)))
}

func (g *generator) operand() string {
	if g.chance(40) {
		return g.integer()
	}
	return strconv.Itoa(g.intn(1<<pick(g, 1, 4, 8, 16, 40)) - g.intn(1<<pick(g, 1, 4, 8, 16, 40)))
}

func (g *generator) setOptions() []string {
	var out []string
	for range g.intn(4) {
		switch g.intn(9) {
		case 0, 1:
			out = append(out, g.word("NX"))
		case 2, 3:
			out = append(out, g.word("XX"))
		case 4:
			out = append(out, g.word("GET"))
		case 5:
			out = append(out, g.word("KEEPTTL"))
		case 6:
			out = append(out, pick(g, "PERSIST", "", "foo", "EX", "PXAT"))
		default:
			out = append(out, g.expiry()...)
		}
	}
	return out
}

func (g *generator) getExOptions() []string {
	switch g.intn(8) {
	case 0:
		return nil
	case 1, 2:
		return []string{g.word("PERSIST")}
	case 3:
		return []string{pick(g, "KEEPTTL", "NX", "", "EX")}
	case 4:
		return append(g.expiry(), pick(g, "PERSIST", "KEEPTTL", "foo"))
	}
	return g.expiry()
}

func (g *generator) expiry() []string {
	return pick(g, []string{g.word("EX"), g.relative(1)}, []string{g.word("PX"), g.relative(1000)},
		[]string{g.word("EXAT"), g.absolute(1)}, []string{g.word("PXAT"), g.absolute(1000)})
}

// relative is a time to live in units of which there are perSecond in a second.
func (g *generator) relative(perSecond int) string {
	if g.chance(80) {
		g.unique++
		return strconv.Itoa((1_000_000 + 1000*g.unique) * perSecond)
	}
	if perSecond == 1 && g.chance(30) { // the limits of seconds
		return pick(g, "-9223372036854775", "9223372036854775", "9223372036854776", "-9223372036854776")
	}
	return pick(g, "0", "-1", "x", "", "1.5", "-9223372036854775808", "9223372036854775807")
}

// absolute is a Unix time, in the past or after 2100.
func (g *generator) absolute(perSecond int) string {
	if g.chance(80) {
		return strconv.Itoa((4_102_444_800 + g.intn(5)) * perSecond)
	}
	return pick(g, "1", "1000000000", "0", "-1", "x", "", "-9223372036854775808", "-9223372036854776", "9223372036854776")
}

func (g *generator) conditions() []string {
	var out []string
	for range g.intn(3) {
		out = append(out, g.word(pick(g, "NX", "XX", "GT", "LT", "GT", "LT")))
	}
	if g.chance(3) {
		out = append(out, pick(g, "foo", "", "two\r\nlines"))
	}
	return out
}
