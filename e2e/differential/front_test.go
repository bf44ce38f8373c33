//go:build unix

package differential

import (
	"fmt"
	"strings"
)

func (g *generator) auth() []string {
	return pick(g, []string{"x"}, []string{"default", "x"}, []string{"default", ""}, []string{"bob", "x"}, []string{"a", "b", "c"}, []string{""})
}

func (g *generator) hello() []string {
	if g.chance(15) {
		return nil
	}
	args := []string{pick(g, "3", "3", "3", "2", "2", g.integer(), "4", "1")}
	for range pick(g, 0, 0, 0, 1, 2) {
		args = append(args, pick(g, []string{g.word("SETNAME"), g.name()}, []string{g.word("AUTH"), "default", g.value()},
			[]string{g.word("AUTH"), "bob", "x"}, []string{pick(g, "AUTH", "SETNAME", "foo", "")})...)
	}
	return args
}

// name draws a name for a connection.
func (g *generator) name() string {
	return pick(g, "me", "you", "", "two words", "é", "a\nb", "~!", "\x00", "\x7f", strings.Repeat("n", 100))
}

// other draws a connection of the sequence.
func (g *generator) other() int { return 1 + g.intn(connections) }

func (g *generator) client() []string {
	sub := pick(g, "REPLY", "REPLY", "REPLY", "SETNAME", "SETNAME", "GETNAME", "GETNAME", "ID", "INFO", "LIST", "KILL", "KILL", "NO-EVICT",
		"UNPAUSE", "PAUSE", "TRACKING", "TRACKINGINFO", "CACHING", "GETREDIR", "UNBLOCK", "NO-TOUCH", "SETINFO", "HELP", "foo", "")
	var args []string
	switch sub {
	case "REPLY":
		args = []string{g.word(pick(g, "ON", "OFF", "SKIP", "SKIP", "SKIP", "FOO"))}
	case "SETNAME":
		args = []string{g.name()}
	case "LIST":
		args = pick(g, nil, []string{g.word("ID"), fmt.Sprintf("<id %d>", g.other())}, []string{"ID", g.strangeID()},
			[]string{"TYPE", pick(g, "normal", "PubSub", "master", "replica", "slave", "foo", "")}, []string{pick(g, "ID", "TYPE", "foo")})
	case "KILL":
		args = g.kill()
	case "SETINFO":
		args = []string{pick(g, "LIB-NAME", "lib-ver", "foo"), g.name()}
	case "NO-EVICT", "NO-TOUCH":
		args = []string{pick(g, "on", "OFF", "foo", "")}
	case "PAUSE":
		args = pick(g, []string{"1"}, []string{"0"}, []string{"1", g.word("WRITE")}, []string{"1", "all"}, []string{pick(g, "-1", "x", "")}, []string{"1", "foo"})
	case "TRACKING":
		// What is on would push, and Redis does that before the reply to the client's own write. Scenarios compare that (TestTracking of proxy/session).
		args = append([]string{pick(g, "ON foo", "ON OPTIN OPTOUT", "ON BCAST PREFIX ab PREFIX a", "ON PREFIX a", "OFF", "off", "foo")},
			g.some(func() string { return pick(g, "OPTIN", "optin", "noloop", "OPTOUT", "foo", "PREFIX") }, 2)...)
		args = append(strings.Fields(args[0]), args[1:]...)
	case "CACHING":
		args = []string{pick(g, "YES", "NO", "no", "ON", "")}
	case "UNBLOCK":
		args = append([]string{pick(g, "<id 1>", "99999999", g.integer())}, g.some(func() string { return pick(g, "timeout", "ERROR", "foo") }, 1)...)
	}
	if sub != "" {
		sub = g.word(sub)
	}
	return append([]string{sub}, args...)
}

func (g *generator) kill() []string {
	addr, id := fmt.Sprintf("<addr %d>", g.other()), fmt.Sprintf("<id %d>", g.other())
	if g.chance(20) {
		return []string{pick(g, addr, "127.0.0.1:1", "x", "")}
	}
	args := []string{"ID", pick(g, id, id, "99999999")} // never everybody: who is just going may count or not
	for range g.intn(3) {
		args = append(args, pick(g, []string{g.word("ID"), id}, []string{g.word("ADDR"), addr}, []string{"ID", g.strangeID()},
			[]string{"ADDR", "x"}, []string{"USER", "default"}, []string{"USER", "bob"}, []string{"TYPE", pick(g, "normal", "pubsub", "master", "foo")},
			[]string{g.word("SKIPME"), pick(g, "yes", "NO", "foo")}, []string{pick(g, "ID", "foo")})...)
	}
	return args
}

// strangeID draws an id that no client has.
func (g *generator) strangeID() string {
	return pick(g, "99999999", "0", "-1", "x", "", "01", "9223372036854775807", "9223372036854775808", "1.0")
}

func (g *generator) cluster() []string {
	return pick(g, []string{"KEYSLOT", g.key()}, []string{"KEYSLOT", g.value()}, []string{"INFO"}, []string{"MYID"}, []string{"NODES"}, []string{"SLOTS"},
		[]string{"SHARDS"}, []string{"HELP"}, []string{"foo"}, []string{"COUNTKEYSINSLOT", "1"}, []string{"keyslot"}, []string{""})
}

func (g *generator) commands() []string {
	name := func() string {
		return pick(g, "get", "SET", "Mset", "lcs", "copy", "ping", "client", "config|get", "lpush", "xlen", "nosuch", "", "scan")
	}
	return pick(g, nil, []string{"COUNT"}, []string{"INFO"}, append([]string{"INFO"}, g.some(name, 3)...), append([]string{"DOCS"}, g.some(name, 3)...),
		append([]string{"GETKEYS", name()}, g.some(g.key, 4)...), append([]string{"GETKEYS", name()}, g.some(g.key, 4)...), []string{"LIST"},
		[]string{"LIST", "FILTERBY", "PATTERN", pick(g, "append", "x*y", "get*")}, []string{"LIST", "FILTERBY", "MODULE", "x"},
		[]string{"LIST", "FILTERBY", "ACLCAT", pick(g, "bitmap", "nosuch")}, []string{"LIST", "FILTERBY", "foo", "x"}, []string{"LIST", "foo"},
		append([]string{"GETKEYSANDFLAGS", name()}, g.some(g.key, 4)...), []string{"HELP"}, []string{"foo"}, []string{"COUNT", "x"})
}

func (g *generator) config() []string {
	return pick(g, []string{"GET", pick(g, "maxclients", "SAVE", "databases", "*max*", "nosuch", "", "maxmemory*", "*")}, []string{"GET", "timeout", "appendonly"},
		[]string{"GET"}, []string{"RESETSTAT"}, []string{"REWRITE"}, []string{"SET", "maxmemory-policy", "noeviction"}, []string{"SET", "x"}, []string{"SET", g.word("latency-monitor-threshold"), pick(g, "0", "100000", "-1", "x")},
		[]string{"SET", "latency-tracking", "yes", pick(g, "maxclients", "nosuch", "databases", "latency-tracking"), pick(g, "10000", "0", "x")}, []string{"SET", "hz", "10"}, []string{"HELP"}, []string{"foo"})
}

func (g *generator) acl() []string {
	return pick(g, []string{g.word("WHOAMI")}, []string{"USERS"}, []string{"LIST"}, []string{"GETUSER", pick(g, "default", "bob", "")}, []string{"CAT"}, []string{"CAT", pick(g, "bitmap", "nosuch")},
		[]string{"GENPASS", pick(g, "0", "5000", "x")}, append([]string{"DRYRUN", pick(g, "default", "bob"), pick(g, "get", "nosuch", "client")}, g.some(g.key, 2)...), []string{"HELP"}, []string{"foo"},
		[]string{"WHOAMI", "x"})
}

func (g *generator) latency() []string {
	return pick(g, []string{"LATEST"}, []string{"RESET"}, []string{"RESET", "x"}, []string{"HISTORY", g.value()}, []string{"GRAPH", g.value()},
		[]string{"HISTOGRAM", "nosuch"}, []string{"HISTOGRAM"}, []string{"DOCTOR"}, []string{"HELP"}, []string{"foo", "x"})
}

func (g *generator) pubSub() []string {
	return pick(g, []string{"CHANNELS"}, []string{"CHANNELS", g.key()}, []string{"CHANNELS", "*", "x"}, []string{"NUMSUB"}, []string{"NUMSUB", g.key(), g.key()}, []string{"NUMPAT"}, []string{"NUMPAT", "x"},
		[]string{"SHARDCHANNELS"}, []string{"SHARDNUMSUB", g.key()}, []string{"HELP"}, []string{"foo", "x"})
}

func (g *generator) memory() []string {
	return pick(g, []string{"USAGE", g.key()}, []string{"USAGE", g.key(), g.word("SAMPLES"), g.integer()}, []string{"USAGE", g.key(), "SAMPLES"}, []string{"PURGE"},
		[]string{"DOCTOR"}, []string{"STATS"}, []string{"MALLOC-STATS"}, []string{"HELP"}, []string{"foo"})
}

func (g *generator) object() []string {
	about := g.word(pick(g, "ENCODING", "REFCOUNT", "FREQ", "IDLETIME"))
	return pick(g, []string{about, g.key()}, []string{about, g.key()}, []string{about, g.key()}, []string{about}, []string{about, g.key(), "x"}, []string{"HELP"}, []string{"foo", g.key()})
}

func (g *generator) slowlog() []string {
	return pick(g, []string{"GET"}, []string{"GET", g.integer()}, []string{"LEN"}, []string{"RESET"}, []string{"HELP"}, []string{"foo"}, []string{"GET", "1", "2"})
}

// bytes draws what a client may send that has lost its way; it ends the connection. NUL in
// an inline command, and an empty command behind CLIENT REPLY SKIP, are differences that are
// allowed.
func (g *generator) bytes() string {
	var all string
	for range 1 + g.intn(4) {
		all += pick(g, "PING\r\n", "SET a 1\n", "GET a\r\n", "\r\n", "\n", "*0\r\n", "*-1\r\n", "*1\r\n$4\r\nPING\r\n", "*1\r\n$0\r\n\r\n", "*2\r\n$3\r\nGET\r\n$1\r\na\r\n",
			"*1\r\n", "$4\r\n", "*x\r\n", "*1\r\n$x\r\n", "*1\r\n$-1\r\n", "*1\r\n+PING\r\n", "*1048577\r\n", "*99999999999999999999\r\n", "*-99999999999999999999\r\n",
			"*01\r\n", "*+1\r\n", "* 1\r\n", "*1\n$4\r\nPING\r\n", "*1\r\n$4\r\nPINGxx", "*1\r\n$04\r\nPING\r\n", "*1\r\n$99999999999\r\n", "\"unbalanced\r\n", "'x'y\r\n",
			`PING "\x41\n\"b"`+"\r\n", `ECHO 'it\'s'`+"\r\n", "ECHO a\vb\r\n", "PING\r", " \t PING  \r\n", "HELLO 3\r\n", "QUIT\r\n",
			"CLIENT REPLY OFF\r\n", "SELECT 0\r\n", "*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n")
	}
	return all
}
