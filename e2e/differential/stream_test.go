//go:build unix

package differential

import (
	"fmt"
	"strconv"
	"strings"
)

// streamGenerators draw the arguments of the commands of streams. IDs are few and low, and never made of the time. What tells for how long something is idle is not asked for: node/datatype compares that.
var streamGenerators = map[string]func(*generator) []string{
	"xadd": func(g *generator) []string {
		args := []string{g.streamKey()}
		if g.chance(10) {
			args = append(args, g.trimStream()...)
		}
		args = append(args, pick(g, g.entryID(), g.entryID(), strconv.Itoa(g.intn(9))+"-*"))
		for range 1 + g.intn(3) {
			args = append(args, pick(g, "f", "g"), g.value())
		}
		return args
	},
	"xlen":      func(g *generator) []string { return []string{g.streamKey()} },
	"xrange":    (*generator).entryRange,
	"xrevrange": (*generator).entryRange,
	"xdel": func(g *generator) []string {
		return append([]string{g.streamKey(), g.entryID()}, g.some(g.entryID, 3)...)
	},
	"xtrim": func(g *generator) []string { return append([]string{g.streamKey()}, g.trimStream()...) },
	"xsetid": func(g *generator) []string {
		return append([]string{g.streamKey(), g.entryID()}, pick(g, nil, []string{g.word("ENTRIESADDED"), g.index()}, []string{g.word("MAXDELETEDID"), g.entryID()})...)
	},
	"xack": func(g *generator) []string {
		return append([]string{g.streamKey(), g.group(), g.entryID()}, g.some(g.entryID, 3)...)
	},
	"xclaim": func(g *generator) []string {
		args := append([]string{g.streamKey(), g.group(), g.consumer(), pick(g, "0", "0", "x"), g.entryID()}, g.some(g.entryID, 3)...)
		return append(args, pick(g, nil, nil, []string{g.word("JUSTID")}, []string{g.word("FORCE")}, []string{g.word("RETRYCOUNT"), g.index()}, []string{g.word("LASTID"), g.entryID()}, []string{"x"})...)
	},
	"xautoclaim": func(g *generator) []string {
		return append([]string{g.streamKey(), g.group(), g.consumer(), pick(g, "0", "0", "x"), g.entryID()}, pick(g, nil, []string{g.word("COUNT"), g.index()}, []string{g.word("JUSTID")})...)
	},
	"xpending": func(g *generator) []string { return []string{g.streamKey(), g.group()} },
	"xread":    func(g *generator) []string { return append(g.readOptions(nil), g.streams("0", "$")...) },
	"xreadgroup": func(g *generator) []string {
		return append(g.readOptions([]string{g.word("GROUP"), g.group(), g.consumer()}), g.streams(">", "0")...)
	},
	"xgroup": func(g *generator) []string {
		switch g.intn(6) {
		case 0, 1:
			return append([]string{g.word("CREATE"), g.streamKey(), g.group(), pick(g, "0", "$", g.entryID())}, pick(g, nil, []string{g.word("MKSTREAM")}, []string{g.word("ENTRIESREAD"), g.index()})...)
		case 2:
			return []string{g.word("SETID"), g.streamKey(), g.group(), pick(g, "0", "$", g.entryID())}
		case 3:
			return []string{g.word("DESTROY"), g.streamKey(), g.group()}
		case 4:
			return []string{g.word(pick(g, "CREATECONSUMER", "DELCONSUMER")), g.streamKey(), g.group(), g.consumer()}
		}
		return []string{pick(g, "HELP", "foo", "CREATE"), g.streamKey()}
	},
	"xinfo": func(g *generator) []string {
		return pick(g, []string{g.word("STREAM"), g.streamKey()}, []string{g.word("GROUPS"), g.streamKey()}, []string{"HELP"}, []string{"foo", g.streamKey()}, []string{g.word("STREAM"), g.streamKey(), "x"})
	},
}

func init() {
	for name, draw := range streamGenerators {
		generators[name] = draw
	}
}

// streamKey draws one of two keys of one slot, or any other one.
func (g *generator) streamKey() string {
	return pick(g, "{stream}a", "{stream}a", "{stream}a", "{stream}b", g.key())
}

func (g *generator) group() string    { return pick(g, "g", "g", "h") }
func (g *generator) consumer() string { return pick(g, "c", "d") }

func (g *generator) entryID() string {
	if g.chance(5) {
		return pick(g, "x", "", "-", "(1-1", "18446744073709551615-18446744073709551615", "0-0", "1-")
	}
	return fmt.Sprintf("%d-%d", g.intn(9), g.intn(4))
}

func (g *generator) entryRange() []string {
	end := func() string { return pick(g, "-", "+", g.entryID(), "("+g.entryID()) }
	return append([]string{g.streamKey(), end(), end()}, pick(g, nil, []string{g.word("COUNT"), g.index()})...)
}

func (g *generator) trimStream() []string {
	return pick(g, []string{g.word("MAXLEN"), g.index()}, []string{g.word("MINID"), g.entryID()}, []string{g.word("MAXLEN"), "=", g.index()}, []string{g.word("MAXLEN"), g.index(), g.word("LIMIT"), "1"})
}

func (g *generator) readOptions(first []string) []string {
	return append(first, pick(g, nil, nil, []string{g.word("COUNT"), g.index()}, []string{g.word("NOACK")}, []string{g.word("BLOCK"), pick(g, "1", "5", "2", "x", "-1")}, []string{"x"})...)
}

// streams draws the keys and IDs of XREAD or XREADGROUP.
func (g *generator) streams(ids ...string) []string {
	args, n := []string{g.word("STREAMS")}, 1+g.intn(2)
	for range n {
		args = append(args, g.streamKey())
	}
	for range n {
		args = append(args, pick(g, append(ids, g.entryID())...))
	}
	return args
}

// sameStream reports whether two replies of XINFO STREAM differ in nothing but what Redis' tree looks like.
func sameStream(x exchange, _, _ value) bool {
	if x.name() != "XINFO STREAM" {
		return false
	}
	treeless := func(reply string) string {
		lines := strings.Split(reply, "\r\n")
		for i := 1; i < len(lines); i++ {
			if strings.HasPrefix(lines[i-1], "radix-tree-") {
				lines[i] = ""
			}
		}
		return strings.Join(lines, "\n")
	}
	return treeless(x.redis) == treeless(x.quoll)
}
