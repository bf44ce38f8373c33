//go:build unix

package differential

import (
	"strconv"
	"strings"
)

func (g *generator) field() string {
	if g.chance(10) {
		return pick(g, "", "\x00", "\r\n", strings.Repeat("f", 200), "-5")
	}
	return "f" + strconv.Itoa(g.intn(pick(g, 3, 10, 60)))
}

func (g *generator) manyFields() []string {
	return append([]string{g.key(), g.field()}, g.some(g.field, pick(g, 3, 20))...)
}

func (g *generator) hset() []string {
	args := []string{g.key(), g.field(), g.value()}
	for range g.intn(pick(g, 1, 5, 30)) {
		args = append(args, g.field(), g.value())
	}
	return args
}

func (g *generator) randomFields() []string {
	args := append([]string{g.key()}, g.some(func() string {
		return pick(g, strconv.Itoa(g.intn(8)), strconv.Itoa(-g.intn(20)), "100", "x", "-9223372036854775808", "9223372036854775807")
	}, 1)...)
	if len(args) > 1 && g.chance(50) {
		args = append(args, g.word(pick(g, "WITHVALUES", "WITHVALUES", "WITHSCORES")))
	}
	return args
}
