//go:build unix

package differential

import (
	"strconv"
	"strings"
)

// zsetGenerators draw the arguments of the commands of sorted sets.
var zsetGenerators = map[string]func(*generator) []string{
	"zadd":             (*generator).zadd,
	"zcard":            oneKey(),
	"zcount":           oneKey((*generator).scoreBound, (*generator).scoreBound),
	"zdiff":            (*generator).severalScored,
	"zinter":           (*generator).severalScored,
	"zintercard":       (*generator).sintercard,
	"zunion":           (*generator).severalScored,
	"zincrby":          oneKey((*generator).score, (*generator).scoredMember),
	"zlexcount":        oneKey((*generator).lexBound, (*generator).lexBound),
	"zmpop":            func(g *generator) []string { return g.popFirst(g.word(pick(g, "MIN", "MIN", "MAX", "MAX", "LEFT"))) },
	"zmscore":          (*generator).manyScored,
	"zpopmax":          (*generator).zpop,
	"zpopmin":          (*generator).zpop,
	"zrandmember":      (*generator).randomScored,
	"zrange":           (*generator).zrange,
	"zrangebylex":      func(g *generator) []string { return g.zrangeBy((*generator).lexBound) },
	"zrangebyscore":    func(g *generator) []string { return g.zrangeBy((*generator).scoreBound) },
	"zrank":            (*generator).zrank,
	"zrem":             (*generator).manyScored,
	"zremrangebylex":   oneKey((*generator).lexBound, (*generator).lexBound),
	"zremrangebyrank":  oneKey((*generator).index, (*generator).index),
	"zremrangebyscore": oneKey((*generator).scoreBound, (*generator).scoreBound),
	"zrevrange":        func(g *generator) []string { return g.zrangeBy((*generator).index) },
	"zrevrangebylex":   func(g *generator) []string { return g.zrangeBy((*generator).lexBound) },
	"zrevrangebyscore": func(g *generator) []string { return g.zrangeBy((*generator).scoreBound) },
	"zrevrank":         (*generator).zrank,
	"zscan":            func(g *generator) []string { return append([]string{g.key(), g.cursor()}, g.badScanOptions()...) },
	"zscore":           oneKey((*generator).scoredMember),
}

func init() {
	for name, draw := range zsetGenerators {
		generators[name] = draw
	}
}

// scoredMember draws a member that Redis keeps in a small sorted set.
func (g *generator) scoredMember() string {
	if g.chance(10) {
		return pick(g, "", "\x00", "\r\n", "\xff\xfe", strings.Repeat("m", 60), "-5", "m")
	}
	return "m" + strconv.Itoa(g.intn(pick(g, 3, 10, 60)))
}

func (g *generator) manyScored() []string {
	return append([]string{g.key(), g.scoredMember()}, g.some(g.scoredMember, pick(g, 3, 20))...)
}

func (g *generator) zadd() []string {
	args := append([]string{g.key()}, g.some(func() string { return g.word(pick(g, "NX", "XX", "GT", "LT", "CH", "CH", "INCR")) }, pick(g, 0, 0, 1, 3))...)
	equal := g.chance(30)
	for range 1 + g.intn(pick(g, 1, 3, 20)) {
		score := "0"
		if !equal {
			score = g.score()
		}
		args = append(args, score, g.scoredMember())
	}
	return args
}

func (g *generator) score() string {
	if g.chance(70) {
		return strconv.Itoa(g.intn(9) - 2)
	}
	return pick(g, "inf", "-inf", "0.1", "-2.5", "1e300", "1e17", "4611686018427387904", "140737488355328", "-140737488355329", "5e-324", g.float(), g.integer())
}

func (g *generator) scoreBound() string {
	if g.chance(10) {
		return pick(g, "", "(", " 1", "nan", "x", "(x", "+inf", "-inf", "(inf", "1e400", "1e-400")
	}
	return pick(g, "", "(") + g.score()
}

func (g *generator) lexBound() string {
	if g.chance(40) {
		return pick(g, "-", "+", "-x", "", "x", "[", "(")
	}
	return pick(g, "[", "(") + g.scoredMember()
}

func (g *generator) zpop() []string {
	return append([]string{g.key()}, g.some(func() string { return pick(g, "0", "1", "2", "5", g.integer()) }, 1)...)
}

// zrank draws no option of later versions.
func (g *generator) zrank() []string { return []string{g.key(), g.scoredMember()} }

func (g *generator) randomScored() []string {
	args := g.randomFields()
	if len(args) > 2 && g.chance(60) {
		args[2] = g.word("WITHSCORES")
	}
	return args
}

func (g *generator) zrange() []string {
	end := pick(g, (*generator).index, (*generator).scoreBound, (*generator).lexBound)
	args := g.zrangeBy(end)
	return append(args, g.some(func() string { return g.word(pick(g, "REV", "BYSCORE", "BYLEX")) }, 2)...)
}

func (g *generator) zrangeBy(end func(*generator) string) []string {
	args := []string{g.key(), end(g), end(g)}
	if g.chance(40) {
		args = append(args, g.word("WITHSCORES"))
	}
	if g.chance(30) {
		args = append(args, g.word("LIMIT"), pick(g, "0", "1", "2", g.index()), pick(g, "0", "1", "3", "-1", g.index()))
	}
	return args
}
