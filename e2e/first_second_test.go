//go:build unix

package e2e

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestFirstSecond: whoever waits for PONG can use the cluster from then on. Until then it says what it waits for.
func TestFirstSecond(t *testing.T) {
	t.Parallel()
	starts := 10
	if testing.Short() {
		starts = 3
	}
	for range starts {
		address := cluster.FreeAddress(t)
		dev := cluster.NewProcess(t, "quoll dev", "dev", "--listen", address, "--admin", "127.0.0.1:0")
		dev.Start()
		firstCommands(t, address)
		dev.Terminate()
	}
	c := cluster.New(t, cluster.Config{Nodes: 3, Proxies: 1})
	for _, m := range append(c.Proxies, c.Nodes...) { // the proxy first
		m.Start()
	}
	firstCommands(t, c.Proxies[0].Client)
}

// firstCommands waits for PONG, and then nothing may fail.
func firstCommands(t *testing.T, address string) {
	deadline := time.Now().Add(20 * time.Second)
	var conn net.Conn
	cluster.Await(t, "the port is open", func() (open bool) {
		var err error
		conn, err = net.Dial("tcp", address)
		return err == nil
	})
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(deadline))
	in := bufio.NewReader(conn)
	do := func(command string) string {
		_, err := fmt.Fprintf(conn, "%s\r\n", command)
		require.NoError(t, err)
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	for reply := do("PING"); reply != "+PONG\r\n"; reply = do("PING") {
		require.True(t, strings.HasPrefix(reply, "-LOADING "), reply)
	}
	for i := range 2000 {
		require.Equal(t, "+OK\r\n", do(fmt.Sprintf("SET first:%d 1", i)))
	}
}
