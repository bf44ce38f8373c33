//go:build unix

package differential

import (
	"strconv"
	"strings"
)

// element draws one of few, mostly, so that a list has it several times.
func (g *generator) element() string {
	if g.chance(15) {
		return g.value()
	}
	return pick(g, "", "a", "b", "c", "12", "-7", "\x00", "\r\n", strings.Repeat("x", 300))
}

func (g *generator) push() []string {
	if g.chance(15) {
		number := func() string { return strconv.Itoa(g.intn(40) - 20) }
		return append([]string{sortKey, number()}, g.some(pick(g, number, number, g.element), pick(g, 2, 5, 40))...)
	}
	return append([]string{g.key(), g.element()}, g.some(g.element, pick(g, 2, 5, 40))...)
}

func (g *generator) pop() []string {
	return append([]string{g.key()}, g.some(func() string { return pick(g, strconv.Itoa(g.intn(4)), g.integer()) }, 1)...)
}

// trim leaves something, mostly.
func (g *generator) trim() []string {
	if g.chance(30) {
		return []string{g.key(), g.index(), g.index()}
	}
	return []string{g.key(), strconv.Itoa(g.intn(3)), strconv.Itoa(-1 - g.intn(3))}
}

// positions draws LPOS. The lowest RANK overflows in Redis.
func (g *generator) positions() []string {
	args := []string{g.key(), g.element()}
	for range g.intn(4) {
		rank := g.integer()
		if rank == "-9223372036854775808" {
			rank = "-1"
		}
		args = append(args, pick(g,
			[]string{g.word("RANK"), pick(g, strconv.Itoa(g.intn(9)-4), rank)},
			[]string{g.word("COUNT"), pick(g, strconv.Itoa(g.intn(4)), "0", g.integer())},
			[]string{g.word("MAXLEN"), pick(g, strconv.Itoa(g.intn(30)), "0", g.integer())},
			[]string{"LEN", "1"}, []string{"RANK"})...)
	}
	return args
}

func (g *generator) side() string { return g.word(pick(g, "LEFT", "LEFT", "RIGHT", "RIGHT", "UP")) }

// popFirst draws LMPOP and ZMPOP.
func (g *generator) popFirst(end string) []string {
	keys := []string{g.key()}
	if g.chance(30) {
		keys = g.nearKeys()
	}
	args := append(append([]string{strconv.Itoa(len(keys))}, keys...), end)
	if g.chance(5) {
		args[0] = pick(g, "0", "-1", "x", "1", "2", "9")
	}
	if g.chance(50) {
		args = append(args, g.word("COUNT"), pick(g, "1", "2", "5", g.integer()))
	}
	return append(args, g.some(func() string { return pick(g, "COUNT", "1") }, pick(g, 0, 0, 0, 1))...)
}
