//go:build unix

package differential

// init adds the commands that wait for keys. They never wait for ever: nobody would fill the key.
func init() {
	for name, draw := range map[string]func(*generator) []string{
		"blpop": (*generator).popWaiting, "brpop": (*generator).popWaiting, "bzpopmin": (*generator).popWaiting, "bzpopmax": (*generator).popWaiting,
		"brpoplpush": func(g *generator) []string { return append(g.turned(), g.timeout()) },
		"blmove":     func(g *generator) []string { return append(g.turned(), g.side(), g.side(), g.timeout()) },
		"blmpop":     func(g *generator) []string { return append([]string{g.timeout()}, g.popFirst(g.side())...) },
		"bzmpop": func(g *generator) []string {
			return append([]string{g.timeout()}, g.popFirst(g.word(pick(g, "MIN", "MAX", "UP")))...)
		},
	} {
		generators[name] = draw
	}
}

// waiting are the names of these commands.
var waiting = []string{"blpop", "brpop", "bzpopmin", "bzpopmax", "brpoplpush", "blmove", "blmpop", "bzmpop", "xread", "xreadgroup"}

// timeout draws how long a command waits: not long.
func (g *generator) timeout() string {
	if g.chance(10) {
		return pick(g, "-1", "x", "", "nan", "inf", "1e300", "-0.5", "1_0")
	}
	return pick(g, "0.001", "0.01", "1e-3", "0.0001")
}

func (g *generator) popWaiting() []string {
	keys := []string{g.key()}
	switch {
	case g.chance(20):
		keys = g.nearKeys()
	case g.chance(20):
		keys = append(keys, g.key())
	}
	return append(keys, g.timeout())
}
