package session

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestWhatClientsChangeForOthersIsLogged with who did it, and without passwords; what was refused and what only looks is not.
func TestWhatClientsChangeForOthersIsLogged(t *testing.T) {
	var log bytes.Buffer // of one client, which waits for each reply
	_, addr := startServer(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", c.Do("ACL SETUSER alice on >tulips ~* +@all"))
	require.Equal(t, "+OK\r\n", c.Do("AUTH alice tulips"))
	require.Equal(t, "+OK\r\n", c.Do("CONFIG SET slowlog-max-len 7"))
	require.Equal(t, "+OK\r\n", c.Do("ACL SETUSER bob"))
	require.Equal(t, ":1\r\n", c.Do("ACL DELUSER bob nobody"))
	for _, line := range []string{"ACL DELUSER bob", "ACL SETUSER bob +nosuch", "CONFIG SET slowlog-max-len x", "ACL LIST", "CONFIG GET *"} {
		c.Do(line)
	}
	var audited []string
	for line := range strings.Lines(log.String()) {
		if _, rest, found := strings.Cut(line, `msg="audit: a client's change" `); found {
			who, rest, _ := strings.Cut(rest, " from=127.0.0.1:")
			_, did, _ := strings.Cut(rest, " ")
			audited = append(audited, who+" "+strings.TrimSpace(did))
		}
	}
	require.Equal(t, []string{
		`who=default did="ACL SETUSER" user=alice`, `who=alice did="CONFIG SET" parameter=slowlog-max-len value=7`,
		`who=alice did="ACL SETUSER" user=bob`, `who=alice did="ACL DELUSER" users="[bob nobody]"`,
	}, audited)
	require.NotContains(t, log.String(), "tulips")
}
