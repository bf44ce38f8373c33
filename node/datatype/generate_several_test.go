package datatype

import (
	"slices"
	"strconv"
)

// severalGenerator makes commands on a few keys of one slot, of which most hold what the commands are for.
type severalGenerator struct {
	*generator
	kind string
}

// severalKeys are the keys; the last one is only stored into by what Redis computes with another library.
var severalKeys = []string{"{t}a", "{t}b", "{t}c", "{t}d", "{t}far"}

func (g *severalGenerator) key() string { return severalKeys[g.intn(4)] }

func (g *severalGenerator) keys() []string { return append([]string{g.key()}, g.some(g.key, 3)...) }

// counted are keys behind their number, which is seldom another one.
func (g *severalGenerator) counted() []string {
	keys := g.keys()
	n := strconv.Itoa(len(keys))
	if g.chance(3) {
		n = pick(g.generator, "0", "-1", "x", "1", "2", "100")
	}
	return append([]string{n}, keys...)
}

// small is an element of which there are few.
func (g *severalGenerator) small() string {
	if g.kind == "integers" || g.chance(10) {
		return strconv.Itoa(g.intn(12))
	}
	return pick(g.generator, "a", "b", "c", "d", "e", "f", "", "\x00")
}

func (g *severalGenerator) end() string {
	return g.word(pick(g.generator, "LEFT", "LEFT", "RIGHT", "RIGHT", "LEFT", "RIGHT", "RIGHT", "UP"))
}

// command makes a command: one that fills a key, one of several keys, or of one.
func (g *severalGenerator) command() []string {
	var args []string
	switch kind := g.intn(100); {
	case kind < 25:
		args = g.fill(g.kind)
	case kind < 30:
		args = g.fill(pick(g.generator, "string", "list", "set", "integers", "zset", "hash", "sketch", "geo"))
	case kind < 85:
		args = g.several(g.kind)
	case kind < 95:
		args = g.several(pick(g.generator, "string", "list", "set", "integers", "zset", "hash", "sketch", "geo"))
	default:
		args = pick(g.generator, []string{"EXPIRE", g.key(), pick(g.generator, "1000", "50000", "-1")}, []string{"TYPE", g.key()}, []string{"DEL", g.key()},
			[]string{"PERSIST", g.key()})
	}
	if g.chance(4) { // but no key
		at := 1 + g.intn(len(args)-1)
		if word := args[at]; !slices.Contains(severalKeys, word) {
			args[at] = pick(g.generator, "x", "", "-1", "0", "20", "LIMIT", "WITHSCORES", "nan", "inf", "REPLACE", "COUNT", "9223372036854775808")
		}
	}
	if g.chance(2) {
		args = append(args, pick(g.generator, "x", "1", "REPLACE", "WITHSCORES", "LIMIT", g.key()))
	}
	args[0] = g.word(args[0])
	return args
}

// fill makes a command that puts something into a key.
func (g *severalGenerator) fill(kind string) []string {
	n := 1 + g.intn(pick(g.generator, 3, 8, 8))
	var args []string
	switch kind {
	case "string":
		return pick(g.generator, []string{"SET", g.key(), g.value()}, []string{"SET", g.key(), g.small()}, []string{"APPEND", g.key(), g.value()},
			[]string{"SETRANGE", g.key(), "20000", "x"})
	case "list":
		args = []string{pick(g.generator, "RPUSH", "LPUSH"), g.key()}
	case "set", "integers":
		args = []string{"SADD", g.key()}
	case "hash":
		return []string{"HSET", g.key(), g.small(), g.small()}
	case "sketch":
		n = 1 + g.intn(pick(g.generator, 3, 30, 1000))
		args = []string{"PFADD", g.key()}
		for range n {
			args = append(args, strconv.Itoa(g.intn(100000)))
		}
		return args
	case "zset":
		args = []string{"ZADD", g.key()}
		same := g.chance(30)
		for range n {
			if same {
				args = append(args, "1", g.small())
				continue
			}
			args = append(args, pick(g.generator, "0", "1", "2", "1.5", "-3", "inf", "-inf", "1e100", "0.1"), g.small())
		}
		return args
	case "geo":
		args = []string{"GEOADD", g.key()}
		for range n {
			args = append(append(args, g.point()...), g.member())
		}
		return args
	}
	if g.chance(4) { // what is large has another form
		for i := range 200 {
			args = append(args, strconv.Itoa(i))
		}
	}
	for range n {
		args = append(args, g.small())
	}
	return args
}

// several makes a command of several keys.
func (g *severalGenerator) several(kind string) []string {
	if g.chance(20) {
		kind = "hash" // which there are no such commands for
	}
	switch kind {
	case "string":
		return g.severalStrings()
	case "list":
		return pick(g.generator, []string{"RPOPLPUSH", g.key(), g.key()}, []string{"LMOVE", g.key(), g.key(), g.end(), g.end()}, g.popped("LMPOP", g.end()), g.sorted())
	case "set", "integers":
		name := pick(g.generator, "SINTER", "SUNION", "SDIFF", "SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE", "SINTERCARD", "SMOVE", "SORT")
		switch name {
		case "SMOVE":
			return []string{name, g.key(), g.key(), g.small()}
		case "SORT":
			return g.sorted()
		case "SINTERCARD":
			return slices.Concat([]string{name}, g.counted(), pick(g.generator, nil, nil, []string{g.word("LIMIT"), pick(g.generator, "0", "1", "2", "-1", "x")}))
		}
		return append([]string{name, g.key()}, g.keys()...)
	case "zset":
		return g.severalZsets()
	case "sketch":
		return append([]string{pick(g.generator, "PFMERGE", "PFMERGE", "PFCOUNT"), g.key()}, g.some(g.key, 3)...)
	case "geo":
		return g.severalPositions()
	}
	switch name := pick(g.generator, "MGET", "DEL", "UNLINK", "EXISTS", "TOUCH", "RENAME", "RENAMENX", "COPY", "COPY", "RENAME"); name {
	case "RENAME", "RENAMENX":
		return []string{name, g.key(), g.key()}
	case "COPY":
		return slices.Concat([]string{name, g.key(), g.key()}, pick(g.generator, nil, nil, []string{g.word("REPLACE")}, []string{g.word("DB"), pick(g.generator, "0", "0", "x", "1234", "99999999999"), "REPLACE"}))
	case "DEL", "UNLINK":
		return []string{name, g.key(), g.key()}
	default:
		return append([]string{name}, g.keys()...)
	}
}

func (g *severalGenerator) severalStrings() []string {
	switch name := pick(g.generator, "MSET", "MSETNX", "MSETNX", "BITOP", "BITOP", "LCS", "MGET"); name {
	case "BITOP":
		return append([]string{name, g.word(pick(g.generator, "AND", "OR", "XOR", "NOT", "x")), g.key()}, g.keys()...)
	case "LCS":
		return append([]string{name, g.key(), g.key()}, g.some(func() string { return g.word(pick(g.generator, "LEN", "IDX", "WITHMATCHLEN")) }, 2)...)
	case "MGET":
		return append([]string{name}, g.keys()...)
	default:
		args := []string{name}
		for range 1 + g.intn(3) {
			args = append(args, g.key(), g.small())
		}
		return args
	}
}

// popped makes LMPOP or ZMPOP.
func (g *severalGenerator) popped(name, end string) []string {
	return slices.Concat([]string{name}, g.counted(), []string{end}, pick(g.generator, nil, nil, []string{g.word("COUNT"), pick(g.generator, "1", "2", "100", "0", "x")}))
}

func (g *severalGenerator) sorted() []string {
	args := append([]string{"SORT", g.key()}, g.some(func() string { return g.word(pick(g.generator, "ALPHA", "DESC", "ASC")) }, 2)...)
	args = append(args, pick(g.generator, nil, nil, []string{"LIMIT", "1", "3"}, []string{"GET", "#", "GET", "x"}, []string{"BY", "nosort"})...)
	return append(args, g.word("STORE"), g.key())
}

func (g *severalGenerator) severalZsets() []string {
	name := pick(g.generator, "ZINTER", "ZUNION", "ZDIFF", "ZINTERSTORE", "ZUNIONSTORE", "ZDIFFSTORE", "ZINTERCARD", "ZRANGESTORE", "ZRANGESTORE", "ZMPOP", "SORT")
	args := []string{name}
	switch name {
	case "SORT":
		return g.sorted()
	case "ZMPOP":
		return g.popped(name, g.word(pick(g.generator, "MIN", "MAX")))
	case "ZRANGESTORE":
		args = append(args, g.key(), g.key())
		switch g.intn(3) {
		case 0:
			args = append(args, g.rank(), g.rank())
		case 1:
			args = append(args, g.scoreBound(), g.scoreBound(), g.word("BYSCORE"))
		default:
			args = append(args, pick(g.generator, "-", "[b", "(c"), pick(g.generator, "+", "[d", "(e"), g.word("BYLEX"))
		}
		return append(args, pick(g.generator, nil, nil, []string{g.word("REV")}, []string{"LIMIT", "1", "2"}, []string{"REV", "LIMIT", "1", "-1"}, []string{"WITHSCORES"})...)
	}
	if name[len(name)-1] == 'E' {
		args = append(args, g.key())
	}
	counted := g.counted()
	args = append(args, counted...)
	if g.chance(30) {
		args = append(args, g.word("WEIGHTS"))
		for range len(counted) - 1 {
			args = append(args, pick(g.generator, "1", "2", "0", "-1", "1.5", "inf"))
		}
	}
	return append(args, pick(g.generator, nil, nil, []string{g.word("AGGREGATE"), g.word(pick(g.generator, "SUM", "MIN", "MAX", "AVG"))}, []string{"WITHSCORES"})...)
}

func (g *severalGenerator) severalPositions() []string {
	to := g.key()
	switch pick(g.generator, 0, 1, 2) {
	case 0:
		var options []string
		if g.chance(30) {
			to, options = severalKeys[4], []string{g.word("STOREDIST")}
		}
		return slices.Concat([]string{"geosearchstore", to, g.key()}, g.geoSearch(), options)
	case 1:
		return slices.Concat([]string{"GEORADIUS", g.key()}, g.point(), []string{g.radius(), g.unitOfLength()}, g.stored())
	}
	return slices.Concat([]string{"GEORADIUSBYMEMBER", g.key(), g.member(), g.radius(), g.unitOfLength()}, g.stored())
}

// stored are options of GEORADIUS that store.
func (g *severalGenerator) stored() []string {
	if g.chance(30) {
		return append(g.geoOptions(), g.word("STOREDIST"), severalKeys[4])
	}
	return append(g.geoOptions(), g.word("STORE"), g.key())
}
