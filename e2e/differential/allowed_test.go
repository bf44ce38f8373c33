//go:build unix

package differential

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowance is a difference by design: a row of the table "Replies" in COMPATIBILITY.md.
type allowance struct {
	// row is the first column.
	row string
	// applies says whether the difference is this one. It is asked only where the replies
	// are not the same and do not mean the same, or where Redis was not asked.
	applies func(x exchange, redis, quoll value) bool
	// example is a script that shows it.
	example string
}

var allowances = []allowance{
	{"Commands that are not supported", func(x exchange, redis, _ value) bool {
		return x.refused != "" && x.quoll == x.refused && x.name() != "MULTI"
	},
		"1> LPUSH a x\n1> CLIENT PAUSE 1000\n1> CONFIG SET maxmemory 0"},
	{"MULTI", func(x exchange, redis, quoll value) bool {
		return x.refused != "" && x.quoll == x.refused || x.name() == "EXEC" && strings.HasPrefix(redis.text, "EXECABORT ") != strings.HasPrefix(quoll.text, "EXECABORT ")
	}, "1> MULTI\n1> EXEC"},
	{"CLIENT CACHING", func(x exchange, redis, quoll value) bool {
		return redis.text == "OK" && strings.HasPrefix(quoll.text, "ERR CLIENT CACHING and client-side caching are not supported yet") ||
			strings.HasPrefix(quoll.text, "ERR nothing was done: the client would cache the reply")
	}, "1> CLIENT TRACKING ON OPTIN\n1> CLIENT CACHING YES\n1> GET a"},
	{"CLIENT NO-TOUCH, CLIENT SETINFO", func(x exchange, redis, _ value) bool {
		return strings.HasPrefix(redis.text, "ERR unknown subcommand") && slices.Contains([]string{"CLIENT NO-TOUCH", "CLIENT SETINFO"}, x.name())
	}, "1> CLIENT SETINFO LIB-NAME go-redis"},
	{"CLIENT REPLY", func(x exchange, _, _ value) bool {
		return x.form == raw && strings.Contains(x.args[0], "CLIENT REPLY SKIP\r\n\r\n")
	}, `1! "CLIENT REPLY SKIP\r\n\r\nPING\r\n"`},
	{"CLIENT INFO, CLIENT LIST", sameClients, "1> CLIENT INFO"},
	{"COMMAND", sameTable, "1> COMMAND COUNT\n1> COMMAND DOCS set\n1> COMMAND INFO lpush\n1> COMMAND GETKEYS lpush a x"},
	{"CONFIG GET", sameParameters, "1> CONFIG GET *"},
	{"INFO", sameKind("INFO"), "1> INFO server"},
	{"LATENCY, MEMORY", sameKind("LATENCY DOCTOR", "LATENCY HISTOGRAM", "MEMORY DOCTOR", "MEMORY MALLOC-STATS", "MEMORY USAGE"),
		"1> SET a x\n1> MEMORY USAGE a"},
	{"HELP", func(x exchange, redis, quoll value) bool {
		return strings.HasSuffix(x.name(), " HELP") && redis.kind == '*' && quoll.kind == '*'
	}, "1> CLIENT HELP"},
	{"CLUSTER HELP, CLUSTER KEYSLOT", func(x exchange, redis, quoll value) bool {
		return redis.text == "ERR This instance has cluster support disabled" &&
			(x.name() == "CLUSTER HELP" && quoll.kind == '*' || x.name() == "CLUSTER KEYSLOT" && quoll.kind == ':')
	}, "1> CLUSTER KEYSLOT a"},
	{"COPY", func(x exchange, _, quoll value) bool {
		return x.name() == "COPY" && quoll.text == "CROSSSLOT Keys in request don't hash to the same slot"
	}, "1> COPY a b"},
	{"KEYS, SCAN", func(x exchange, redis, quoll value) bool {
		return x.name() == "KEYS" && x.args[1] == "**" && slices.Contains(quoll.texts(), "") && len(quoll.list) == len(redis.list)+1
	}, "1> SET \"\" x\n1> SET a x\n1> KEYS **"},
	{"BITFIELD, BITFIELD_RO", func(_ exchange, redis, quoll value) bool {
		return redis.kind == '*' && quoll.text == "ERR bit offset is not an integer or out of range"
	}, "1> BITFIELD a SET u8 #4611686018427387904 1"},
	{"LCS of long values", func(x exchange, redis, _ value) bool {
		return x.name() == "LCS" && strings.HasPrefix(redis.text, "ERR Insufficient memory, transient memory for LCS")
	}, "1> SETRANGE a 100000 x\n1> SETRANGE b 1000 x\n1> LCS a b LEN"},
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
		require.Contains(t, used, a.row, "nothing differs any more: take the row out here and in COMPATIBILITY.md")
	}
}

// TestAllowancesAreDocumented compares the table with that of COMPATIBILITY.md.
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
		here = append(here, a.row)
	}
	require.Equal(t, here, documented)
}
