//go:build unix

package differential

import (
	"slices"
	"strconv"
)

// slotGenerators draw the arguments of commands whose keys have to be in one slot.
var slotGenerators = map[string]func(*generator) []string{
	"bitop": func(g *generator) []string {
		return append([]string{g.word(pick(g, "AND", "OR", "XOR", "NOT", "NAND")), g.near()}, g.nearKeys()...)
	},
	"geosearchstore": func(g *generator) []string {
		return slices.Concat([]string{g.near()}, []string{g.near()}, g.geoSearch()[1:])
	},
	"msetnx": func(g *generator) []string {
		var args []string
		for range 1 + g.intn(3) {
			args = append(args, g.near(), g.value())
		}
		return args
	},
	"rename":      (*generator).turned,
	"renamenx":    (*generator).turned,
	"sdiffstore":  func(g *generator) []string { return append([]string{g.near()}, g.nearKeys()...) },
	"sinterstore": func(g *generator) []string { return append([]string{g.near()}, g.nearKeys()...) },
	"sunionstore": func(g *generator) []string { return append([]string{g.near()}, g.nearKeys()...) },
	"zdiffstore":  (*generator).storedScored,
	"zinterstore": (*generator).storedScored,
	"zunionstore": (*generator).storedScored,
	"zrangestore": func(g *generator) []string {
		end := pick(g, (*generator).index, (*generator).scoreBound)
		args := []string{g.near(), g.near(), end(g), end(g)}
		return append(args, g.some(func() string { return g.word(pick(g, "REV", "BYSCORE", "WITHSCORES")) }, 2)...)
	},
}

func init() {
	for name, draw := range slotGenerators {
		generators[name] = draw
	}
}

// near draws a key of one slot, mostly: with others a command is refused, which is a difference that is allowed.
func (g *generator) near() string {
	if g.chance(4) {
		return g.key()
	}
	return pick(g, "a", "a", "{a}1", "{a}2", "x{a}y")
}

// nearKeys are some of these.
func (g *generator) nearKeys() []string { return append([]string{g.near()}, g.some(g.near, 3)...) }

// turned draws two of them.
func (g *generator) turned() []string { return []string{g.near(), g.near()} }

// storedScored are the destination, keys and options of ZUNIONSTORE, ZINTERSTORE and ZDIFFSTORE.
func (g *generator) storedScored() []string {
	keys := g.nearKeys()
	args := slices.Concat([]string{g.near(), strconv.Itoa(len(keys))}, keys)
	if g.chance(30) {
		args = append(args, g.word("WEIGHTS"))
		for range keys {
			args = append(args, pick(g, "1", "2", "-0.5", "0", "inf"))
		}
	}
	return append(args, pick(g, nil, nil, []string{g.word("AGGREGATE"), g.word(pick(g, "SUM", "MIN", "MAX", "FOO"))}, []string{g.word("WITHSCORES")})...)
}
