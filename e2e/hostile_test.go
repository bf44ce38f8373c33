//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// killer is the packet that ends processes built on redcon's own server.
const killer = "*1\r\n$9223372036854775800\r\nPING\r\n"

// hostile are bytes that no port should be impressed by: what breaks RESP parsers,
// other protocols, lengths that are only declared, and noise.
func hostile() [][]byte {
	packets := [][]byte{
		[]byte(killer),
		[]byte("*3000000000\r\n"),
		[]byte("*2147483647\r\n$2147483647\r\n"),
		[]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2000000000\r\nx"),
		[]byte("*-1\r\n*0\r\n*-9223372036854775808\r\n$-5\r\n"),
		[]byte("*1048576\r\n" + strings.Repeat("$67108864\r\n", 3)),
		[]byte("*1\r\n$-1\r\n*1\r\n$4\r\nPINGxx*1\r\n"),
		[]byte(strings.Repeat("a", 200_000)),
		[]byte(`set k "unbalanced` + "\r\n"),
		[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		[]byte("POST /v1/status HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"),
		[]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), // TLS
		[]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
		[]byte("\x00\x00\x00\x40\x01QUOLL\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		[]byte("\x7f\xff\xff\xff\x01QUOLL\x01"),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for size := 1; size < 100_000; size *= 3 {
		noise := make([]byte, size)
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		packets = append(packets, noise)
	}
	return packets
}

func TestHostileBytesHarmNobody(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	node, proxy := c.Nodes[0], c.Proxies[0]
	l := startLoad(t, c.Clients())
	l.progress(200)
	for _, port := range []string{proxy.Client, proxy.Admin, node.Peer, node.Admin, node.Gossip} {
		for _, packet := range hostile() {
			attack(t, "tcp", port, packet)
		}
	}
	for _, packet := range hostile() {
		attack(t, "udp", node.Gossip, packet[:min(len(packet), 60_000)])
	}
	l.progress(200)
	l.stop()
	require.Empty(t, l.failures, "other clients notice nothing")
	l.requireNothingLost(proxy.Client)
	for _, m := range []*cluster.Member{c.Nodes[0], c.Nodes[1], c.Nodes[2], proxy} {
		require.True(t, m.Running(), m.Name)
		m.AwaitReady()
	}
}

// attack sends bytes and waits shortly for the connection to be closed.
func attack(t *testing.T, network, address string, packet []byte) {
	t.Helper()
	conn, err := net.Dial(network, address)
	require.NoError(t, err, "nobody accepts any more")
	defer conn.Close()
	_, err = conn.Write(packet)
	if network == "udp" || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return
	}
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, _ = io.Copy(io.Discard, conn)
}

func TestProtocolErrorsAreAnswered(t *testing.T) {
	t.Parallel()
	_, address := startDev(t)
	for packet, want := range map[string]string{
		killer:                       "-ERR Protocol error: invalid bulk length\r\n",
		"*3000000000\r\n":            "-ERR Protocol error: invalid multibulk length\r\n",
		"*1\r\n:4\r\nPING\r\n":       "-ERR Protocol error: expected '$', got ':'\r\n",
		"set \"a\r\n":                "-ERR Protocol error: unbalanced quotes in request\r\n",
		strings.Repeat("x", 100_000): "-ERR Protocol error: too big inline request\r\n",
		"*0\r\n*-1\r\n\r\nPING\r\n":  "+PONG\r\n",
	} {
		name := packet[:min(len(packet), 20)]
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, err = conn.Write([]byte(packet))
		require.NoError(t, err, name)
		if want[0] == '+' {
			_, err = conn.Write([]byte("QUIT\r\n"))
			require.NoError(t, err, name)
			want += "+OK\r\n"
		}
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
		reply, err := io.ReadAll(conn)
		require.NoError(t, err, name)
		require.Equal(t, want, string(reply), name)
		_ = conn.Close()
	}
}

// TestDeclaredLengthsCostNoMemory opens many connections that announce a lot and
// send nearly nothing.
func TestDeclaredLengthsCostNoMemory(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1"}})
	before := map[string]int{}
	for _, m := range []*cluster.Member{c.Nodes[0], c.Proxies[0]} {
		before[m.Name] = resident(t, m.Process)
	}
	var connections []net.Conn
	for _, target := range []struct{ address, packet string }{
		{c.Proxies[0].Client, "*1048576\r\n$67108864\r\nx"},
		{c.Proxies[0].Client, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$67108864\r\nx"},
		{c.Nodes[0].Peer, "\xff\xff\xff\x3f\x01\x01\x01\x01"},
		{c.Nodes[0].Peer, "\x3f\xff\xff\xff\x01\x01\x01\x01"},
		{c.Nodes[0].Gossip, "\x3f\xff\xff\xff\x01\x01\x01\x01"},
		{c.Nodes[0].Admin, "POST /v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\nx"},
	} {
		for range 100 {
			conn, err := net.Dial("tcp", target.address)
			require.NoError(t, err)
			connections = append(connections, conn)
			_, err = conn.Write([]byte(target.packet))
			require.NoError(t, err)
		}
	}
	require.NoError(t, connect(t, c.Proxies[0].Client).Set(t.Context(), "k", "v", 0).Err())
	for _, m := range []*cluster.Member{c.Nodes[0], c.Proxies[0]} {
		after := resident(t, m.Process)
		t.Logf("%s: %d KiB before, %d KiB after", m.Name, before[m.Name], after)
		require.Less(t, after-before[m.Name], 64<<10, m.Name)
	}
	for _, conn := range connections {
		_ = conn.Close()
	}
}

// resident returns the memory that a process uses, in KiB.
func resident(t testing.TB, p *cluster.Process) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		t.Skip("this system does not show the memory of processes in /proc")
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return kib
}
