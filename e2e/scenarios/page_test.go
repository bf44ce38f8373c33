//go:build linux

package scenarios

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
)

// TestTheCommandsOfAClusterWithTLS executes what docs/containers.md shows, and looks whether it has TLS then, for clients and inside.
func TestTheCommandsOfAClusterWithTLS(t *testing.T) {
	needsDocker(t)
	if _, err := exec.LookPath("redis-cli"); err != nil {
		t.Skip("redis-cli is not installed (apt-get install redis-tools)")
	}
	page, err := os.ReadFile("../../docs/containers.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## With TLS\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	c := compose.NewCheckout(t, [2]string{freePort(t), freePort(t)})
	executed := 0
	for line := range strings.Lines(section) {
		command, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		out, err := c.Run(strings.Replace(command, "-p 6379", "-p "+c.Port, 1))
		require.NoError(t, err, "%s%s", line, out)
		if strings.Contains(command, "redis-cli") {
			require.Equal(t, "OK\n", out)
		}
		executed++
	}
	require.Equal(t, 6, executed)

	client := "redis-cli -p " + c.Port + " --tls --cacert deploy/secrets/certs/ca.crt"
	out, err := c.Run(client + " --cert deploy/secrets/certs/client.alice.crt --key deploy/secrets/certs/client.alice.key get greeting")
	require.NoError(t, err, out)
	require.Equal(t, "hello\n", out)
	for _, without := range []string{client + " get greeting", "timeout 5 redis-cli -p " + c.Port + " get greeting"} {
		out, _ := c.Run(without)
		require.NotContains(t, out, "hello")
	}
	require.Eventually(t, func() bool { return strings.Contains(c.Log("a"), "new certificates are in force") }, 20*time.Second, 100*time.Millisecond)
	for _, service := range []string{"a", "proxy1"} {
		require.Regexp(t, `peer-tls"?[:=]"?required`, c.Log(service))
	}
	out, err = c.Run("make status && make down")
	require.NoError(t, err, out)
	require.Contains(t, out, "voting")
}

// freePort is a port of this machine that nobody listens on.
func freePort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}
