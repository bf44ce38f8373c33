//go:build unix

package differential

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
)

// generator draws commands that are likely to meet edges. Values stay below a megabyte,
// and times years away from now or in the past, so that two executions a moment apart agree.
type generator struct {
	t *rapid.T
	// expiries makes all relative expiries of a sequence different, see tolerance.
	expiries int
}

func pick[T any](g *generator, from ...T) T { return from[g.intn(len(from))] }

func (g *generator) intn(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "n") }

func (g *generator) chance(percent int) bool { return g.intn(100) >= 100-percent }

// script draws a sequence and adds the questions whose answers show everything that it left
// behind.
func (g *generator) script() script {
	outer := g.t
	turn := rapid.Custom(func(t *rapid.T) script {
		g.t = t
		return g.turn()
	})
	all := slices.Concat(rapid.SliceOfN(turn, 1, 20).Draw(outer, "turns")...)
	for conn := 1; conn <= connections; conn++ {
		all = append(all, step{conn: conn, form: array, args: []string{"CLIENT", "GETNAME"}})
	}
	ask := func(args ...string) {
		all = append(all, step{conn: connections + 1, form: array, args: args, joined: true})
	}
	for _, key := range keys {
		ask("GET", key)
		ask("HGETALL", key)
		ask("SMEMBERS", key)
		ask("LRANGE", key, "0", "-1")
		ask("ZRANGE", key, "0", "-1", "WITHSCORES")
		ask("PEXPIRETIME", key)
	}
	ask("GET", sketchKey)
	for _, key := range []string{"{stream}a", "{stream}b"} {
		ask("XRANGE", key, "-", "+")
		ask("XINFO", "GROUPS", key)
	}
	ask("SORT", sortKey, "ALPHA")
	ask("KEYS", "*")
	ask("DBSIZE")
	return all
}

// connections is how many connections a sequence is spread over.
const connections = 3

// turn draws what one connection sends, pipelined or one by one.
func (g *generator) turn() script {
	conn, joined := 1+g.intn(connections), g.chance(50)
	if g.chance(15) {
		return g.transaction(conn, joined)
	}
	outer := g.t
	one := rapid.Custom(func(t *rapid.T) step {
		g.t = t
		s := g.step()
		s.conn, s.joined = conn, joined && s.pipelines()
		return s
	})
	all := script(rapid.SliceOfN(one, 1, 12).Draw(outer, "steps"))
	if rapid.IntRange(0, 3).Draw(outer, "hello") == 3 {
		hello := step{conn: conn, form: array, args: []string{"HELLO", "3"}}
		return append(script{hello}, all...)
	}
	return all
}

// pipelines reports whether a command may follow any other in one write. Where replies are
// off, an empty command and QUIT are differences that are allowed; and Redis' DBSIZE counts keys
// that have just expired.
func (s step) pipelines() bool { return len(s.args) > 0 && s.name() != "QUIT" && s.name() != "DBSIZE" }

func (g *generator) step() step {
	s := step{form: array}
	switch kind := g.intn(100); {
	case kind < 84:
		s.args = g.command()
	case kind < 94:
		s.form, s.args = inline, g.command()
		if len(s.form.request(s.args)) > 60_000 { // too long for an inline command
			s.form = array
		}
	case kind < 95: // an empty command, in either form
		s.form = pick(g, array, inline)
	case kind < 97:
		s.form, s.args = expire, []string{g.key()}
	case kind < 98:
		s.form, s.args = iterate, g.scanOptions()
	case kind < 99:
		s.form, s.args = raw, []string{g.bytes()}
	default:
		s.args = g.unknown()
	}
	return s
}

// command draws a command that Quoll supports; now and then with an argument more or less.
func (g *generator) command() []string {
	name := pick(g, names...)
	args := generators[name](g)
	switch more := g.intn(50); {
	case name == "monitor" || slices.Contains(waiting, name): // it would show what others do, or wait for ever
	case more == 48:
		args = append(args, g.value())
	case more == 49:
		args = args[:g.intn(len(args)+1)]
	}
	return append([]string{g.word(strings.ToUpper(name))}, args...)
}

// names are the commands to draw from; what works on keys is drawn most often.
var names = weighted()

func weighted() []string {
	var all []string
	for _, c := range command.Supported() {
		weight := 8
		switch c.Route {
		case command.RouteProxy:
			weight = 2
		case command.RouteCluster:
			weight = 3
		}
		if strings.HasPrefix(c.Name, "flush") || c.Name == "quit" {
			weight = 1
		}
		if c.Op == command.OpMulti || c.Op == command.OpWatch || subscribes(c) {
			weight = 0
		}
		all = append(all, slices.Repeat([]string{c.Name}, weight)...)
	}
	return all
}

// subscribes reports whether a command has messages for replies, of which there may be others than one at a time: see proxy/session.TestMessagesSameAsRedis.
func subscribes(c *command.Command) bool {
	return command.OpSubscribe <= c.Op && c.Op <= command.OpSUnsubscribe
}

// unknown draws a command that Quoll does not support, or nobody knows.
func (g *generator) unknown() []string {
	if g.chance(30) {
		return append([]string{pick(g, "NOSUCH", "", "GETX", "get ", "\x00", "no\r\nsuch", strings.Repeat("x", 200))}, g.some(g.value, 3)...)
	}
	c := pick(g, command.All()...)
	if subscribes(c) || c.Op == command.OpMonitor { // what they are shown comes between replies
		c = command.Lookup([]byte("publish"))
	}
	if c.Op == command.OpMulti || c.Op == command.OpWatch { // what follows would be queued, and some of it refused
		c = command.Lookup([]byte("exec"))
	}
	args := []string{g.word(strings.ToUpper(c.Name))}
	if c.Route != command.RouteUnsupported {
		return append(args, g.some(g.value, 1)...)
	}
	for range max(c.Arity, -c.Arity) - pick(g, 0, 1, 1, 1) {
		args = append(args, g.key())
	}
	return args
}

// some draws one up to n times, n included.
func (g *generator) some(one func() string, n int) []string {
	var out []string
	for range g.intn(n + 1) {
		out = append(out, one())
	}
	return out
}

// word writes a word in some case.
func (g *generator) word(w string) string {
	return pick(g, w, w, strings.ToLower(w), w[:1]+strings.ToLower(w[1:]))
}

// keys are few, so that commands meet. Those with a hash tag are in one slot.
var keys = []string{"a", "b", "{a}1", "{a}2", "", "{}a", "x{a}y", "\x00\r\n\xff\xfe", "{"}

func (g *generator) key() string {
	return pick(g, append(slices.Repeat([]string{"a"}, 8), append([]string{"b", "b", "b", "{a}1", "{a}1"}, keys...)...)...)
}

func (g *generator) value() string {
	switch g.intn(6) {
	case 0:
		return g.integer()
	case 1:
		return g.float()
	case 2:
		return pick(g, "", "hello world", "\x00", "\x80\xff", "with\r\nlines", `"quoted" 'twice' \`, "ohmytext", "mynewtext", "ünï\xc3")
	case 3:
		return strings.Repeat(pick(g, "\x00", "\xff", "ab", "\xff\xff\x00"), g.intn(300))
	}
	random := make([]byte, g.intn(12))
	for i := range random {
		random[i] = byte(g.intn(256))
	}
	return string(random)
}

// integer draws a number, or what is nearly one.
func (g *generator) integer() string {
	if g.chance(50) {
		return strconv.Itoa(g.intn(200) - 100)
	}
	return pick(g, "0", "1", fmt.Sprint(math.MaxInt64), fmt.Sprint(math.MinInt64), "9223372036854775806", "-9223372036854775807",
		"9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "4611686018427387904",
		"2147483647", "2147483648", "4294967296", "00", "01", "-0", "-01", "+1", " 1", "1 ", "1\n", "1\x00", "", "-", "--1", "x", "1e3",
		"1.0", "0x10", "99999999999999999999999", "-99999999999999999999999", "\xd9\xa3")
}

// float draws a number as INCRBYFLOAT may be given, or what is nearly one.
func (g *generator) float() string {
	switch g.intn(4) {
	case 0:
		return pick(g, "inf", "-inf", "+Infinity", "nan", "-NaN", "nan(1)", "infinit", "", ".", "-", "+", "1e", "1e+", "0x", "0x.8p",
			"0x1.8p1", "0X.8P-3", "0x1p16383", "0x1p16384", "0x1p-16445", "0x1p-16446", "1.18973149535723176502e+4932", "1e4933",
			"3.6e-4951", "1e-4952", "4.9e-324", "2.2250738585072014e-308", "1e308", "1.7976931348623157e308", "0e999999999", " 1", "1 ",
			"\t1", "1\x00", "--1", "1.2.3", "1_000", "1d", "-0", "-0.0", "-1e-20", "0.000000000000000005", "0.000000000000000015",
			strings.Repeat("9", 254), strings.Repeat("9", 256), "0."+strings.Repeat("0", 200)+"1", "5.", ".5", "1E2", "+3", "1,5")
	case 1:
		return fmt.Sprintf("%d.%d", g.intn(2000)-1000, g.intn(1_000_000))
	case 2:
		digits := fmt.Sprintf("%d%d.%d%d", g.intn(1<<30), g.intn(1<<30), g.intn(1<<30), g.intn(1<<30))
		return pick(g, "", "-", "+") + digits + pick(g, "", "", "e-10", "E+12", "e-25", "e300", "e-4960", "e4900")
	}
	return strconv.FormatFloat(float64(g.intn(1<<30)-1<<29)*pick(g, 1e-25, 1e-9, 0.001, 0.1, 1, 1e12, 1e80), 'g', -1, 64)
}

// index draws the end of a range.
func (g *generator) index() string {
	if g.chance(80) {
		return strconv.Itoa(g.intn(30) - g.intn(30))
	}
	return g.integer()
}

// offset draws a place in a value, in units of which there are perByte in a byte: near, up
// to a hundred thousand bytes, or beyond what Redis allows.
func (g *generator) offset(perByte int) string {
	switch {
	case g.chance(75):
		return strconv.Itoa(g.intn(40 * perByte))
	case g.chance(50):
		return pick(g, strconv.Itoa(100_000*perByte), strconv.Itoa(536_870_912*perByte), strconv.Itoa(536_870_913*perByte),
			"-1", "4611686018427387904", "9223372036854775800")
	}
	return pick(g, fmt.Sprint(math.MaxInt64), fmt.Sprint(math.MinInt64), "9223372036854775808", "18446744073709551616",
		"", "x", "01", "+1", "-1", "1e3", "4294967296", "#1", "-#1", "##1", "#-1")
}
