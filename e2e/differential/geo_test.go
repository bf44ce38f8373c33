//go:build unix

package differential

import (
	"strconv"
)

// geoGenerators draw the arguments of the commands of positions.
var geoGenerators = map[string]func(*generator) []string{
	"geoadd": (*generator).geoAdd,
	"geodist": func(g *generator) []string {
		return append([]string{g.key(), g.place(), g.place()}, g.some(g.unitOfLength, 1)...)
	},
	"geohash":   func(g *generator) []string { return append([]string{g.key()}, g.some(g.place, 4)...) },
	"geopos":    func(g *generator) []string { return append([]string{g.key()}, g.some(g.place, 4)...) },
	"geosearch": (*generator).geoSearch,
	"georadius": func(g *generator) []string {
		return g.stored(append(append([]string{g.key()}, g.point()...), g.circle()...))
	},
	"georadiusbymember":    func(g *generator) []string { return g.stored(append([]string{g.key(), g.place()}, g.circle()...)) },
	"georadius_ro":         func(g *generator) []string { return append(append([]string{g.key()}, g.point()...), g.circle()...) },
	"georadiusbymember_ro": func(g *generator) []string { return append([]string{g.key(), g.place()}, g.circle()...) },
}

func init() {
	for name, draw := range geoGenerators {
		generators[name] = draw
	}
}

// place draws a member that has one position only, so that no two are as far away as each other.
func (g *generator) place() string { return "p" + strconv.Itoa(g.intn(20)) }

func (g *generator) geoAdd() []string {
	args := append([]string{g.key()}, g.some(func() string { return g.word(pick(g, "NX", "XX", "CH")) }, pick(g, 0, 2))...)
	for range 1 + g.intn(pick(g, 1, 8)) {
		n := g.intn(20)
		args = append(args, strconv.Itoa(n*n%37-15)+"."+strconv.Itoa(n), strconv.Itoa(n*7%50-20)+".5", "p"+strconv.Itoa(n))
	}
	if g.chance(5) {
		args[len(args)-2] = pick(g, "x", "91", "", "inf")
	}
	return args
}

func (g *generator) point() []string {
	if g.chance(5) {
		return []string{pick(g, "181", "x", "180"), pick(g, "0", "-86", "")}
	}
	return []string{strconv.Itoa(g.intn(60) - 30), strconv.Itoa(g.intn(60) - 30)}
}

func (g *generator) circle() []string {
	return append([]string{g.radius(), g.unitOfLength()}, g.geoOptions()...)
}

// stored adds where to store what a command finds, sometimes.
func (g *generator) stored(args []string) []string {
	if g.chance(15) {
		args = append(args, g.word("STORE"), args[0]) // distances have other last digits
	}
	if g.chance(5) {
		args = append(args, pick(g, "STORE", "ASC", "x"))
	}
	return args
}

func (g *generator) radius() string {
	if g.chance(5) {
		return pick(g, "0", "-1", "x", "")
	}
	return strconv.Itoa(1 + g.intn(5_000))
}

func (g *generator) unitOfLength() string {
	return g.word(pick(g, "KM", "KM", "KM", "MI", "M", "FT", "X"))
}

func (g *generator) geoOptions() []string {
	args := g.some(func() string { return g.word(pick(g, "WITHDIST", "WITHHASH", "WITHCOORD", "ASC", "DESC")) }, 3)
	if g.chance(30) {
		args = append(args, g.word("COUNT"), pick(g, "1", "3", "0", "x"))
		args = append(args, g.some(func() string { return g.word("ANY") }, 1)...)
	}
	return args
}

func (g *generator) geoSearch() []string {
	args := []string{g.key()}
	args = append(args, pick(g, []string{g.word("FROMMEMBER"), g.place()}, append([]string{g.word("FROMLONLAT")}, g.point()...), nil)...)
	args = append(args, pick(g, []string{g.word("BYRADIUS"), g.radius(), g.unitOfLength()}, []string{g.word("BYBOX"), g.radius(), g.radius(), g.unitOfLength()}, nil)...)
	return append(args, g.geoOptions()...)
}
