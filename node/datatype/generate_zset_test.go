package datatype

import (
	"math"
	"strconv"
	"strings"
)

var zsetNames = []string{
	"ZADD", "ZADD", "ZADD", "ZADD", "ZADD", "ZADD", "ZADD", "ZADD", "ZINCRBY", "ZINCRBY", "ZREM", "ZREM", "ZSCORE", "ZMSCORE", "ZCARD",
	"ZCOUNT", "ZCOUNT", "ZLEXCOUNT", "ZLEXCOUNT", "ZRANGE", "ZRANGE", "ZRANGE", "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZRANGEBYSCORE",
	"ZREVRANGEBYSCORE", "ZRANGEBYLEX", "ZREVRANGEBYLEX", "ZRANK", "ZREVRANK", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZREMRANGEBYLEX", "ZPOPMIN", "ZPOPMAX", "ZMPOP",
	"ZRANDMEMBER", "ZSCAN", "ZSCAN",
}

func (g *generator) zsetArguments(name string) []string {
	switch name {
	case "ZADD":
		return g.zadd()
	case "ZINCRBY":
		return []string{g.score(), g.member()}
	case "ZREM", "ZMSCORE":
		return append([]string{g.member()}, g.some(g.member, pick(g, 3, 3, 20))...)
	case "ZSCORE", "ZRANK", "ZREVRANK":
		return []string{g.member()}
	case "ZCOUNT", "ZREMRANGEBYSCORE":
		return []string{g.scoreBound(), g.scoreBound()}
	case "ZLEXCOUNT", "ZREMRANGEBYLEX":
		return []string{g.lexBound(), g.lexBound()}
	case "ZREMRANGEBYRANK":
		return []string{g.rank(), g.rank()}
	case "ZMPOP":
		return append([]string{g.word(pick(g, "MIN", "MAX"))}, g.some(func() string { return strconv.Itoa(1 + g.intn(10)) }, 1)...)
	case "ZPOPMIN", "ZPOPMAX":
		return pick(g, nil, nil, []string{pick(g, "0", "1", "2", "5", "-1", "x", "9223372036854775807", "9223372036854775808")}, []string{"1", "x"})
	case "ZRANDMEMBER":
		out := g.randomOptions()
		if len(out) > 1 && g.chance(60) {
			out[1] = g.word("WITHSCORES")
		}
		return out
	case "ZSCAN":
		return append([]string{g.cursor()}, g.scanOptions()...)
	case "ZRANGE":
		return g.zrange()
	case "ZREVRANGE":
		return append([]string{g.rank(), g.rank()}, g.rangeOptions()...)
	case "ZRANGEBYSCORE", "ZREVRANGEBYSCORE":
		return append([]string{g.scoreBound(), g.scoreBound()}, g.rangeOptions()...)
	case "ZRANGEBYLEX", "ZREVRANGEBYLEX":
		return append([]string{g.lexBound(), g.lexBound()}, g.rangeOptions()...)
	}
	return nil
}

func (g *generator) zadd() []string {
	out := g.some(func() string { return g.word(pick(g, "NX", "XX", "GT", "LT", "CH", "CH", "INCR")) }, pick(g, 0, 0, 1, 3))
	n, score := 1+g.intn(pick(g, 1, 1, 3, 30, 30, 1000)), g.score
	if n > 30 { // one that is no number among so many would leave nothing to compare
		score = func() string { return strconv.Itoa(g.intn(50)) }
	}
	for range n {
		out = append(out, score(), g.member())
	}
	if g.chance(3) {
		out = out[:len(out)-1]
	}
	if g.chance(5) { // members of one score, whose order is that of their bytes
		for i := len(out) - 2; i >= 0; i -= 2 {
			out[i] = "0"
		}
	}
	return out
}

func (g *generator) zrange() []string {
	kind := pick(g, "", "BYSCORE", "BYLEX")
	out := []string{g.rank(), g.rank()}
	switch kind {
	case "BYSCORE":
		out = []string{g.scoreBound(), g.scoreBound()}
	case "BYLEX":
		out = []string{g.lexBound(), g.lexBound()}
	}
	if g.chance(3) {
		kind = pick(g, "BYSCORE", "BYLEX")
	}
	options := g.rangeOptions()
	if kind != "" {
		options = append(options, g.word(kind))
	}
	if g.chance(40) {
		options = append([]string{g.word("REV")}, options...)
	}
	return append(out, options...)
}

// rangeOptions are those that all commands of ranges know, or do not.
func (g *generator) rangeOptions() []string {
	var out []string
	if g.chance(50) {
		out = append(out, g.word("WITHSCORES"))
	}
	if g.chance(35) {
		out = append(out, g.word("LIMIT"), pick(g, "0", "1", "2", "-1", g.rank()), pick(g, "0", "1", "3", "-1", "-2", g.rank()))
	}
	if g.chance(4) {
		out = append(out, pick(g, "LIMIT", "REV", "BYSCORE", "BYLEX", "x", "", "WITHSCORE"))
	}
	return out
}

func (g *generator) member() string {
	if g.chance(10) {
		return pick(g, "", "\x00", "\r\n", "\xff\xfe", strings.Repeat("m", 200), "007", "-5", "m1\x00", "m")
	}
	return "m" + strconv.Itoa(g.intn(pick(g, 3, 10, 60, 300)))
}

// score is a score: often one that others have, too.
func (g *generator) score() string {
	switch g.intn(8) {
	case 0:
		return g.float()
	case 1:
		return strconv.FormatFloat(math.Float64frombits(uint64(g.intn(1<<62))<<2|uint64(g.intn(4))), 'g', -1, 64)
	case 2:
		return pick(g, "inf", "-inf", "+inf", "0", "-0", "0.0", "1e300", "-1e300", "1e-320", "4611686018427387904", "9007199254740993", "140737488355327", "140737488355328",
			"-140737488355328", "-140737488355329", "1e17", "123456789012345678", "1e400", "1e-400", "0x10", "0x1p3", "1_0")
	case 3:
		return strconv.Itoa(g.intn(1<<pick(g, 8, 16, 40, 55)) - 1<<7)
	}
	return strconv.Itoa(g.intn(7) - 2)
}

func (g *generator) scoreBound() string {
	if g.chance(10) {
		return pick(g, "", "(", " 1", "( 1", "\t-1", "1 ", "nan", "((1", "x", "(x", "+inf", "-inf", "(inf", "(-inf", "1e400", "-1e400", "1e-400", "(1e-400", "[1")
	}
	return pick(g, "", "", "(") + g.score()
}

func (g *generator) lexBound() string {
	if g.chance(30) {
		return pick(g, "-", "+", "-", "+", "-x", "+x", "", "x", "[", "(", "[\xff", "(\x00")
	}
	return pick(g, "[", "(") + g.member()
}

// rank is the end of a range of ranks.
func (g *generator) rank() string {
	if g.chance(90) {
		return strconv.Itoa(g.intn(pick(g, 3, 12, 60)) - g.intn(pick(g, 3, 12, 60)))
	}
	return g.index()
}
