//go:build unix

package differential

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
)

// allowance is a difference by design.
type allowance struct {
	// row names the commands whose replies differ, as the table of commands says (command.Differs), or a row of the table "Replies" in COMPATIBILITY.md.
	row string
	// applies says whether the difference is this one. It is asked only where the replies
	// are not the same and do not mean the same, or where Redis was not asked.
	applies func(x exchange, redis, quoll value) bool
	// example is a script that shows it.
	example string
}

var allowances = []allowance{
	{"Commands that are not supported", func(x exchange, redis, _ value) bool {
		return x.refused != "" && x.quoll == x.refused && strings.HasPrefix(x.quoll, "-ERR ")
	},
		"1> LASTSAVE"},
	{"BITOP, BLMOVE, BRPOPLPUSH, COPY, GEORADIUS, GEORADIUSBYMEMBER, GEOSEARCHSTORE, LMOVE, LMPOP, MSETNX, PFMERGE, RENAME, RENAMENX, RPOPLPUSH, SDIFFSTORE, SINTERSTORE, SMOVE, SUNIONSTORE, " +
		"XREADGROUP, ZDIFFSTORE, ZINTERSTORE, ZMPOP, ZRANGESTORE, ZUNIONSTORE", func(x exchange, _, _ value) bool {
		return x.refused == refusedSlots && x.quoll == x.refused
	}, "1> PFMERGE a b\n1> LMPOP 2 a b LEFT\n1> GEORADIUS a 1 1 1 M STOREDIST b"},
	{"EXEC", func(x exchange, redis, quoll value) bool {
		return strings.HasPrefix(quoll.text, "CROSSSLOT ") && redis.text == "QUEUED" || x.name() == "EXEC" && strings.HasPrefix(quoll.text, "EXECABORT ") && redis.kind == '*'
	}, "1> MULTI\n1> SET a 1\n1> SET b 1\n1> EXEC"},
	{"WATCH", func(x exchange, redis, quoll value) bool {
		return x.name() == "WATCH" && strings.HasPrefix(quoll.text, "CROSSSLOT ") && redis.text == "OK"
	}, "1> WATCH a b"},
	{"WAIT", func(x exchange, redis, quoll value) bool { // there are no replicas of this Redis
		return x.name() == "WAIT" && redis.text == "0" && quoll.text == "1"
	}, "1> WAIT 0 0"},
	{"WAITAOF", func(x exchange, redis, _ value) bool {
		return x.name() == "WAITAOF" && strings.HasPrefix(redis.text, "ERR unknown command")
	}, "1> WAITAOF 0 0 0"},
	{"CLIENT CACHING", func(_ exchange, _, quoll value) bool {
		return strings.HasPrefix(quoll.text, "ERR CLIENT CACHING cannot be in a transaction") || strings.HasPrefix(quoll.text, "EXECABORT ")
	}, "1> CLIENT TRACKING ON OPTIN\n1> MULTI\n1> CLIENT CACHING YES\n1> EXEC"},
	{"CLIENT NO-TOUCH, CLIENT SETINFO", func(x exchange, redis, _ value) bool {
		return strings.HasPrefix(redis.text, "ERR unknown subcommand") && slices.Contains([]string{"CLIENT NO-TOUCH", "CLIENT SETINFO"}, x.name())
	}, "1> CLIENT SETINFO LIB-NAME go-redis"},
	{"CLIENT REPLY", func(x exchange, _, _ value) bool {
		return x.form == raw && strings.Contains(x.args[0], "CLIENT REPLY SKIP\r\n\r\n")
	}, `1! "CLIENT REPLY SKIP\r\n\r\nPING\r\n"`},
	{"CLIENT INFO, CLIENT LIST", sameClients, "1> CLIENT INFO"},
	{"COMMAND", sameTable, "1> COMMAND COUNT\n1> COMMAND DOCS set\n1> COMMAND INFO xlen\n1> COMMAND GETKEYS xlen a"},
	{"CONFIG GET", sameParameters, "1> CONFIG GET *"},
	{"CONFIG SET", func(x exchange, redis, quoll value) bool {
		return x.name() == "CONFIG SET" && redis.text == "OK" && strings.HasPrefix(quoll.text, "ERR CONFIG SET failed (possibly related to argument '")
	}, "1> CONFIG SET hz 10"},
	{"ACL CAT, LOLWUT, MEMORY STATS", sameKind("ACL CAT", "LOLWUT", "MEMORY STATS"), "1> MEMORY STATS\n1> LOLWUT VERSION 5"},
	{"INFO", sameKind("INFO"), "1> INFO server"},
	{"LATENCY DOCTOR, LATENCY HISTOGRAM, MEMORY DOCTOR, MEMORY MALLOC-STATS, MEMORY USAGE", sameKind("LATENCY DOCTOR", "LATENCY HISTOGRAM", "MEMORY DOCTOR", "MEMORY MALLOC-STATS", "MEMORY USAGE"),
		"1> SET a x\n1> MEMORY USAGE a"},
	{"OBJECT ENCODING, OBJECT REFCOUNT, OBJECT IDLETIME", func(x exchange, redis, quoll value) bool { // of absent keys both say nothing, and of all others the same kind of thing
		return slices.Contains([]string{"OBJECT ENCODING", "OBJECT REFCOUNT", "OBJECT IDLETIME"}, x.name()) && redis.kind == quoll.kind && redis.kind != '-' &&
			(redis.kind == ':' || redis.text != "" && quoll.text != "")
	}, "1> SET a x\n1> APPEND a y\n1> OBJECT ENCODING a"},
	{"HELP", func(x exchange, redis, quoll value) bool {
		return strings.HasSuffix(x.name(), " HELP") && redis.kind == '*' && quoll.kind == '*'
	}, "1> CLIENT HELP"},
	{"CLUSTER HELP, CLUSTER KEYSLOT", func(x exchange, redis, quoll value) bool {
		return redis.text == "ERR This instance has cluster support disabled" &&
			(x.name() == "CLUSTER HELP" && quoll.kind == '*' || x.name() == "CLUSTER KEYSLOT" && quoll.kind == ':')
	}, "1> CLUSTER KEYSLOT a"},
	{"KEYS, SCAN", func(x exchange, redis, quoll value) bool {
		return x.name() == "KEYS" && x.args[1] == "**" && slices.Contains(quoll.texts(), "") && len(quoll.list) == len(redis.list)+1
	}, "1> SET \"\" x\n1> SET a x\n1> KEYS **"},
	{"BITFIELD, BITFIELD_RO", func(_ exchange, redis, quoll value) bool {
		return redis.kind == '*' && quoll.text == "ERR bit offset is not an integer or out of range"
	}, "1> BITFIELD a SET u8 #4611686018427387904 1"},
	{"LCS", func(x exchange, redis, _ value) bool {
		return x.name() == "LCS" && strings.HasPrefix(redis.text, "ERR Insufficient memory, transient memory for LCS")
	}, "1> SETRANGE a 100000 x\n1> SETRANGE b 1000 x\n1> LCS a b LEN"},
	{"ZRANK, ZREVRANK", func(x exchange, redis, _ value) bool {
		return len(x.args) == 4 && strings.HasPrefix(redis.text, "ERR wrong number of arguments") && slices.Contains([]string{"ZRANK", "ZREVRANK"}, x.name())
	}, "1> ZADD a 1 x\n1> ZRANK a x WITHSCORE"},
	{"ZADD, ZINCRBY", func(x exchange, redis, quoll value) bool {
		return strings.HasPrefix(x.name(), "Z") && quoll.text != "" && redis.text == "-"+quoll.text
	}, "1> ZADD a -0 " + strings.Repeat("x", 65) + "\n1> ZSCORE a " + strings.Repeat("x", 65)},
	{"GEOSEARCH", func(x exchange, redis, quoll value) bool {
		return x.name() == "GEOSEARCH" && redis.kind == '-' && strings.EqualFold(redis.text, quoll.text)
	}, "1> GEOSEARCH a FROMLONLAT 1 1 ASC ASC"},
	{"SORT, SORT_RO", sameSorting, "1> RPUSH a 1 2\n1> SORT a BY w_*"},
	{"XADD, XTRIM", func(x exchange, redis, quoll value) bool {
		return (x.name() == "XTRIM" || x.name() == "XADD") && slices.Contains(x.args, "~") && redis.kind == quoll.kind
	}, strings.Repeat("1> XADD a 1-* f "+strings.Repeat("x", 5000)+"\n", 3) + "1> XTRIM a MAXLEN ~ 1"},
	{"XINFO STREAM", sameStream, strings.Repeat("1> XADD a 1-* f "+strings.Repeat("x", 5000)+"\n", 3) + "1> XINFO STREAM a"},
	{"Large requests", func(x exchange, _, _ value) bool {
		return x.form == raw && strings.Contains(x.args[0], "*1048577") && strings.Contains(x.quoll, "invalid multibulk length")
	}, `1! "*1048577\r\n"`},
	{"Inline commands", func(x exchange, _, _ value) bool {
		return x.form == raw && (strings.Contains(x.args[0], "\x00") && strings.HasPrefix(x.quoll, x.redis) || strings.Contains(x.args[0], " HTTP/1.") && x.quoll == "")
	}, `1! "ECHO a\x00b\r\n"`},
}

// allowed returns the row that allows an exchange to differ, "" if there is none.
func allowed(x exchange) (row string) {
	redis, quoll := parseReply(x.redis), parseReply(x.quoll)
	for _, a := range allowances {
		if a.applies(x, redis, quoll) {
			return a.row
		}
	}
	return ""
}

// TestAllowancesAreUsed runs the examples: a row whose difference is gone must go too.
func TestAllowancesAreUsed(t *testing.T) {
	s := startServers(t)
	for _, a := range allowances {
		example, err := parseScript(a.example)
		require.NoError(t, err)
		var used []string
		p := player{servers: s, judge: func(x exchange) error {
			if x.refused != "" || x.redis != x.quoll && !x.sameMeaning() {
				used = append(used, allowed(x))
			}
			return judge(x)
		}}
		require.NoError(t, p.playPatiently(example), a.row)
		require.Contains(t, used, a.row, "nothing differs any more: take the row out here, and what COMPATIBILITY.md says of it")
	}
}

// TestAllowancesAreDocumented compares what may differ with what the table of commands says of it, and with the table of COMPATIBILITY.md for what is not about some commands.
func TestAllowancesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../COMPATIBILITY.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n### Replies\n")
	require.True(t, found, "COMPATIBILITY.md has no section Replies")
	_, section, _ = strings.Cut(section, "\n|---|---|\n")
	section, _, _ = strings.Cut(section, "\n#")
	var documented, here []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]{10,} \|$`).FindAllStringSubmatch(section, -1) {
		documented = append(documented, row[1])
	}
	for _, a := range allowances {
		if slices.Contains(documented, a.row) {
			here = append(here, a.row)
		} else {
			here = append(here, strings.Split(a.row, ", ")...)
		}
	}
	require.ElementsMatch(t, append(documented, differing()...), here)
}

// differing returns the commands and subcommands of which the table says that their replies differ, in upper case.
func differing() (names []string) {
	for _, c := range command.Supported() {
		for _, c := range append([]*command.Command{c}, c.Subcommands...) {
			if c.Differs != "" {
				names = append(names, strings.ToUpper(strings.ReplaceAll(c.Name, "|", " ")))
			}
		}
	}
	return names
}
