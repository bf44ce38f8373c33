package datatype

import "strconv"

var geoNames = []string{
	"GEOADD", "GEOADD", "GEOADD", "GEOADD", "GEODIST", "GEODIST", "GEOHASH", "GEOPOS", "GEOPOS", "GEOSEARCH", "GEOSEARCH", "GEOSEARCH", "GEOSEARCH",
	"GEORADIUS_RO", "GEORADIUS", "GEORADIUSBYMEMBER_RO", "GEORADIUSBYMEMBER", "ZREM", "ZRANGE", "ZADD", "DEL",
}

func (g *generator) geoArguments(name string) []string {
	switch name {
	case "GEOADD":
		out := g.some(func() string { return g.word(pick(g, "NX", "XX", "CH", "CH")) }, pick(g, 0, 0, 2))
		for range 1 + g.intn(pick(g, 1, 3, 30, 200)) {
			out = append(append(out, g.point()...), g.member())
		}
		if g.chance(3) {
			out = out[:len(out)-1]
		}
		return out
	case "GEODIST":
		return append([]string{g.member(), g.member()}, g.some(g.unitOfLength, pick(g, 1, 1, 1, 2))...)
	case "GEOSEARCH":
		return g.geoSearch()
	case "GEORADIUS_RO", "GEORADIUS":
		return append(append(g.point(), g.radius(), g.unitOfLength()), g.geoOptions()...)
	case "GEORADIUSBYMEMBER_RO", "GEORADIUSBYMEMBER":
		return append([]string{g.member(), g.radius(), g.unitOfLength()}, g.geoOptions()...)
	}
	return append([]string{g.member()}, g.some(g.member, 5)...)
}

func (g *generator) geoSearch() []string {
	var out []string
	if g.chance(95) {
		out = pick(g, []string{g.word("FROMMEMBER"), g.member()}, append([]string{g.word("FROMLONLAT")}, g.point()...))
	}
	if g.chance(95) {
		out = append(out, pick(g, []string{g.word("BYRADIUS"), g.radius(), g.unitOfLength()}, []string{g.word("BYBOX"), g.radius(), g.radius(), g.unitOfLength()})...)
	}
	if g.chance(3) {
		out = append(out, pick(g, "FROMMEMBER", "BYBOX", "STORE", "x", "STOREDIST", "FROMLONLAT"), "1", "2")
	}
	return append(out, g.geoOptions()...)
}

func (g *generator) geoOptions() []string {
	out := g.some(func() string { return g.word(pick(g, "WITHDIST", "WITHHASH", "WITHCOORD", "ASC", "DESC")) }, 3)
	if g.chance(30) {
		out = append(out, g.word("COUNT"), pick(g, "1", "3", "10", "0", "-1", "x", "1000"))
		if g.chance(40) {
			out = append(out, g.word("ANY"))
		}
	}
	if g.chance(3) {
		out = append(out, pick(g, "ANY", "COUNT", "STORE", "x"))
	}
	return out
}

// point is a position: anywhere, near others, or at the edges of what there is.
func (g *generator) point() []string {
	degrees := func(most float64) string {
		return strconv.FormatFloat((float64(g.intn(1<<30))/(1<<29)-1)*most, 'g', pick(g, 4, 9, 17), 64)
	}
	switch g.intn(10) {
	case 0:
		return []string{pick(g, "180", "-180", "180.1", "0", "x", "inf", "1e-320"), pick(g, "85.05112878", "-85.05112878", "85.06", "0", "-90", "")}
	case 1, 2, 3:
		return []string{degrees(180), degrees(85)}
	}
	return []string{degrees(0.1), degrees(0.1)}
}

func (g *generator) radius() string {
	if g.chance(5) {
		return pick(g, "0", "-1", "x", "", "1e300", "inf", "1e-300")
	}
	return strconv.Itoa(1 + g.intn(pick(g, 10, 10000, 20000000)))
}

func (g *generator) unitOfLength() string {
	if g.chance(4) {
		return pick(g, "", "cm", "x")
	}
	return g.word(pick(g, "M", "KM", "FT", "MI"))
}
