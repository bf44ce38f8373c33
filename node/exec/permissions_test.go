package exec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
)

func words(line string) (args [][]byte) {
	for _, word := range strings.Fields(line) {
		args = append(args, []byte(word))
	}
	return args
}

// TestUsersOfScripts: rules are read once, none are those of who may do everything, and what are no rules is refused.
func TestUsersOfScripts(t *testing.T) {
	var e Executor
	u, ok := e.user(nil)
	require.True(t, ok)
	require.Nil(t, u)
	rules := []byte("on ~a* resetchannels -@all +get")
	u, ok = e.user(rules)
	require.True(t, ok)
	require.Equal(t, string(rules), u.Stored())
	again, _ := e.user(rules)
	require.Same(t, u, again)
	_, ok = e.user([]byte("on +commandoflater"))
	require.False(t, ok)
}

// TestWhatScriptsAreDenied: the errors are those of Redis, and the proxy is told for its log.
func TestWhatScriptsAreDenied(t *testing.T) {
	u, err := acl.New("").With(strings.Fields("~a* %R~r &news +get +set +sort +publish +config|get"))
	require.NoError(t, err)
	r := scriptRun{user: u, denials: new(command.DenialList)}
	for line, want := range map[string]string{
		"GET ab":            "",
		"GET b":             "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
		"SET r 1":           "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
		"DEL ab":            "ERR The user executing the script can't run this command or subcommand",
		"CONFIG SET x y":    "ERR The user executing the script can't run this command or subcommand",
		"PUBLISH news x":    "",
		"PUBLISH other x":   "ERR The user executing the script can't publish to the channel mentioned in the command",
		"SORT a BY w*":      "ERR BY option of SORT denied due to insufficient ACL permissions.",
		"SORT a BY nosort":  "",
		"SORT a DESC GET #": "ERR GET option of SORT denied due to insufficient ACL permissions.",
	} {
		args := words(line)
		require.Equal(t, want, r.denied(command.Lookup(args[0]).Called(args), args), line)
	}
	denials, _ := command.Denials(r.denials.Before(nil, 0))
	require.Len(t, denials, 5, "SORT's are none: as in Redis they are not in ACL LOG")
	require.Contains(t, denials, command.Denial{Reason: uint8(acl.DeniedCommand), Object: []byte("config|set")})
	require.Contains(t, denials, command.Denial{Reason: uint8(acl.DeniedChannel), Object: []byte("other")})

	known, allowed := r.allowed(words("GET b"))
	require.True(t, known)
	require.False(t, allowed)
	known, allowed = r.allowed(words("GET a"))
	require.True(t, known)
	require.True(t, allowed)
	known, _ = r.allowed(words("nosuch"))
	require.False(t, known)
}
