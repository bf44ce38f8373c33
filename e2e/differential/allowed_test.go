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
		return x.refused != "" && x.quoll == x.refused || strings.HasPrefix(redis.text, "EXECABORT ")
	},
		"1> LPUSH a x\n1> CLIENT PAUSE 1000\n1> CONFIG SET maxmemory 0\n1> MULTI"},
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
	{"Large values", func(_ exchange, redis, quoll value) bool {
		return redis.kind == ':' && strings.HasPrefix(quoll.text, "ERR the value would be larger than 100 MiB")
	}, "1> SETRANGE a 104857600 x"},
	{"Large requests", func(x exchange, _, _ value) bool {
		return x.form == raw && strings.Contains(x.args[0], "*1048577") && strings.Contains(x.quoll, "invalid multibulk length")
	}, `1! "*1048577\r\n"`},
	{"Inline commands", func(x exchange, _, _ value) bool {
		return x.form == raw && strings.Contains(x.args[0], "\x00") && strings.HasPrefix(x.quoll, x.redis)
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
