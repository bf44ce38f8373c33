package datatype

import (
	"strconv"
	"strings"
)

// listArguments are arguments of the commands on lists.
func (g *generator) listArguments(name string) []string {
	switch name {
	case "LPUSH", "RPUSH", "LPUSHX", "RPUSHX":
		return append([]string{g.element()}, g.some(g.element, pick(g, 2, 5, 200))...)
	case "LPOP", "RPOP":
		return g.some(func() string { return pick(g, strconv.Itoa(g.intn(4)), strconv.Itoa(g.intn(40)), g.integer()) }, pick(g, 1, 1, 1, 1, 2))
	case "LRANGE", "LTRIM":
		if name == "LTRIM" && g.chance(60) { // something is left
			return []string{strconv.Itoa(g.intn(3)), strconv.Itoa(-g.intn(20))}
		}
		return []string{g.index(), g.index()}
	case "LINDEX":
		return []string{g.index()}
	case "LSET":
		return []string{pick(g, strconv.Itoa(g.intn(6)-3), g.index()), g.element()}
	case "LINSERT":
		return []string{pick(g, g.word("BEFORE"), g.word("BEFORE"), g.word("AFTER"), g.word("AFTER"), "x", ""), g.element(), g.element()}
	case "LREM":
		return []string{pick(g, strconv.Itoa(g.intn(9)-4), "0", g.integer()), g.element()}
	case "LPOS":
		return append([]string{g.element()}, g.posOptions()...)
	case "LMOVE":
		side := func() string { return pick(g, g.word("LEFT"), g.word("LEFT"), g.word("RIGHT"), g.word("RIGHT"), "up") }
		return []string{side(), side()}
	case "LMPOP":
		return append([]string{pick(g, g.word("LEFT"), g.word("RIGHT"))}, g.some(func() string { return strconv.Itoa(1 + g.intn(10)) }, 1)...)
	}
	return nil
}

func (g *generator) posOptions() []string {
	var out []string
	rank := g.integer()
	if rank == "-9223372036854775808" { // which overflows in Redis 7.0
		rank = "-9223372036854775807"
	}
	for range g.intn(4) {
		out = append(out, pick(g,
			[]string{g.word("RANK"), pick(g, strconv.Itoa(g.intn(9)-4), "1", "-1", rank)},
			[]string{g.word("COUNT"), pick(g, strconv.Itoa(g.intn(4)), "0", g.integer())},
			[]string{g.word("MAXLEN"), pick(g, strconv.Itoa(g.intn(30)), "0", g.integer())},
			[]string{pick(g, "", "LEN", "WITHRANK"), "1"})...)
	}
	if g.chance(5) && len(out) > 0 {
		out = out[:len(out)-1]
	}
	return out
}

// element is one of few, mostly, so that a list has it several times.
func (g *generator) element() string {
	if g.chance(15) {
		return g.value()
	}
	return pick(g, "", "a", "b", "c", "12", "-7", "\x00", "\r\n", "long "+strings.Repeat("x", g.intn(200)))
}
