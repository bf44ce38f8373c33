//go:build unix

package differential

import "strconv"

func (g *generator) setOptions() []string {
	var out []string
	for range g.intn(4) {
		out = append(out, pick(g, []string{g.word("NX")}, []string{g.word("XX")}, []string{g.word("GET")}, []string{g.word("KEEPTTL")},
			g.expiry(), g.expiry(), []string{pick(g, "PERSIST", "", "foo", "EX", "PXAT", "NXX")})...)
	}
	return out
}

func (g *generator) getExOptions() []string {
	var out []string
	for range pick(g, 0, 1, 1, 1, 2) {
		out = append(out, pick(g, []string{g.word("PERSIST")}, g.expiry(), g.expiry(), g.expiry(), []string{pick(g, "KEEPTTL", "NX", "", "EX")})...)
	}
	return out
}

func (g *generator) expiry() []string {
	return pick(g, []string{g.word("EX"), g.relative(1)}, []string{g.word("PX"), g.relative(1000)},
		[]string{g.word("EXAT"), g.absolute(1)}, []string{g.word("PXAT"), g.absolute(1000)})
}

// relative draws a time to live in units of which there are perSecond in a second.
func (g *generator) relative(perSecond int) string {
	if g.chance(70) {
		g.expiries++
		return strconv.Itoa((1_000_000 + 1000*g.expiries) * perSecond)
	}
	if perSecond == 1 && g.chance(30) { // the limits of seconds
		return pick(g, "-9223372036854775", "9223372036854775", "9223372036854776", "-9223372036854776")
	}
	return pick(g, "0", "-1", "-1000000", "x", "", "1.5", "01", "+1", "-9223372036854775808", "9223372036854775807", "9223372036854775808")
}

// absolute draws a Unix time, in the past or after 2100.
func (g *generator) absolute(perSecond int) string {
	if g.chance(70) {
		return strconv.Itoa((4_102_444_800 + g.intn(5)) * perSecond)
	}
	return pick(g, "1", "1000000000", "0", "-1", "x", "", "01", "-9223372036854775808", "9223372036854775807", "-9223372036854776",
		"9223372036854775", "9223372036854776")
}

func (g *generator) conditions() []string {
	var out []string
	for range g.intn(3) {
		out = append(out, g.word(pick(g, "NX", "XX", "GT", "LT", "GT", "LT")))
	}
	if g.chance(4) {
		out = append(out, pick(g, "foo", "", "two\r\nlines"))
	}
	return out
}

func (g *generator) flush() []string {
	return g.some(func() string { return pick(g, "ASYNC", "sync", "Sync", "foo", "") }, 1)
}

// pattern draws a glob that matches some of the keys. Not **, by which a difference is allowed.
func (g *generator) pattern() string {
	return pick(g, "*", "a", "b", "?", "{a}*", "*a*", "*{*", "[ab]", "[^a]", "[b-a]", "[a", "[", `\a`, `\`, "", "**a", "?**", "*\xff*", "{a}[12]", "*\r*")
}

func (g *generator) cursor() string {
	return pick(g, "0", "0", "0", "1", "7", "18446744073709551615", "18446744073709551616", "-1", "x", "", "01", " 1", "0x1", "1.0")
}

func (g *generator) scanOptions() []string {
	var out []string
	for range g.intn(3) {
		out = append(out, pick(g, []string{g.word("MATCH"), g.pattern()}, []string{g.word("COUNT"), pick(g, "1", "2", "10", "1000", "10000000")},
			[]string{g.word("TYPE"), pick(g, "string", "STRING", "list", "", "foo")})...)
	}
	return out
}

// badScanOptions draws options that may be wrong.
func (g *generator) badScanOptions() []string {
	out := g.scanOptions()
	if g.chance(30) {
		out = append(out, pick(g, []string{"COUNT", g.integer()}, []string{"MATCH"}, []string{"foo"}, []string{"TYPE"}, []string{"COUNT"}, []string{"", ""})...)
	}
	return out
}
