//go:build unix

package differential

import "strconv"

// member is one of a set of integers, or of others.
func (g *generator) member() string {
	if g.chance(50) {
		return g.field()
	}
	return pick(g, strconv.Itoa(g.intn(pick(g, 5, 50, 70_000))-g.intn(50)), g.integer())
}

func (g *generator) manyMembers() []string {
	args := []string{pick(g, g.key(), g.key(), g.key(), sortKey)}
	member := pick(g, g.member, g.member, func() string { return strconv.Itoa(g.intn(100)) })
	for range 1 + g.intn(pick(g, 1, 5, 40)) {
		args = append(args, member())
	}
	return args
}

// spop takes everything, or nothing: after any other both servers have other members. (What it takes of several is compared in node/datatype.)
func (g *generator) spop() []string {
	return append([]string{g.key(), pick(g, "1000", "1000", "0", "-1", "x", "9223372036854775807", "9223372036854775808")}, pick(g, nil, nil, nil, []string{"x"})...)
}

func (g *generator) randomMembers() []string {
	return append([]string{g.key()}, g.some(func() string {
		return pick(g, strconv.Itoa(g.intn(8)), strconv.Itoa(-g.intn(20)), "100", "x", "-9223372036854775808", "9223372036854775807")
	}, pick(g, 1, 1, 2))...)
}

// manySets are keys, of which one may be there several times. Those of one slot are read at one moment.
func (g *generator) manySets() []string {
	draw := pick(g, g.key, g.near)
	return append([]string{draw()}, g.some(draw, 4)...)
}

func (g *generator) sintercard() []string {
	keys := g.manySets()
	args := append([]string{strconv.Itoa(len(keys))}, keys...)
	if g.chance(10) {
		args[0] = pick(g, "0", "-1", "x", "9", "9223372036854775808")
	}
	for range g.intn(3) {
		args = append(args, pick(g, []string{g.word("LIMIT"), strconv.Itoa(g.intn(5))}, []string{g.word("LIMIT"), pick(g, "-1", "x", "99999999999999999999")}, []string{pick(g, "FOO", "LIMIT")})...)
	}
	return args
}

// severalScored are the keys and options of ZUNION, ZINTER and ZDIFF.
func (g *generator) severalScored() []string {
	keys := g.manySets()
	args := append([]string{strconv.Itoa(len(keys))}, keys...)
	if g.chance(10) {
		args[0] = pick(g, "0", "-1", "x", "9")
	}
	for range g.intn(3) {
		switch g.intn(4) {
		case 0:
			args = append(args, g.word("WEIGHTS"))
			for range keys {
				args = append(args, g.score())
			}
		case 1:
			args = append(args, g.word("AGGREGATE"), g.word(pick(g, "SUM", "MIN", "MAX", "FOO")))
		case 2:
			args = append(args, g.word("WITHSCORES"))
		default:
			args = append(args, pick(g, "WEIGHTS", "LIMIT", "WITHSCORES"))
		}
	}
	return args
}
