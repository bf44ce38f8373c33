//go:build linux

package scenarios

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
)

// TestHostileClients: clients that send what no command is, what is not even the protocol, and one that never reads
// what it asked for, harm nobody but themselves.
func TestHostileClients(t *testing.T) {
	long(t)
	s := begin(t, compose.Config{Memory: 1 << 30})
	hostile := s.strike("hostile clients", func() {
		for _, p := range s.Proxies {
			deaf := neverReads(t, p)
			t.Cleanup(func() { _ = deaf.Close() }) // it stays while the others are looked at
			unknownCommands(t, p)
			for _, packet := range malformed {
				send(t, p, packet)
			}
		}
	})
	hostile.requireCalm()
	hostile.requireNoErrors()
	for _, p := range s.Services() {
		require.Zero(t, p.Restarts(), "%s was restarted", p.Name)
		require.Less(t, p.Memory(), int64(768<<20), "what %s occupies", p.Name)
	}
	hostile.mend(func() {})
	s.end()
}

// unknownCommands are answered with an error each, and the connection goes on.
func unknownCommands(t *testing.T, p *compose.Service) {
	client := connect(p)
	defer client.Close()
	for i := range 200 {
		err := client.Do(t.Context(), fmt.Sprint("NOSUCH", i), "x").Err()
		require.ErrorContains(t, err, "ERR unknown command")
	}
	require.NoError(t, client.Ping(t.Context()).Err())
}

// malformed is what breaks parsers of the protocol.
var malformed = []string{
	"*1\r\n$9223372036854775800\r\nPING\r\n",
	"*3000000000\r\n",
	"*2147483647\r\n$2147483647\r\n",
	"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2000000000\r\nx",
	"*1\r\n:4\r\nPING\r\n",
	"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	strings.Repeat("a", 200_000),
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"\xff\x00\xff\x00\xff\x00",
}

// send sends bytes and hangs up.
func send(t *testing.T, p *compose.Service, packet string) {
	conn, err := net.Dial("tcp", p.Client())
	require.NoError(t, err, "nobody accepts any more")
	defer conn.Close()
	_, _ = conn.Write([]byte(packet)) // the proxy may have hung up
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, _ = conn.Read(make([]byte, 1000))
}

// neverReads asks for a gigabyte in small steps, never for so much at once that it is the load that hurts, and
// reads nothing. A proxy may hang up or have it wait, but not keep the replies: see --client-output-limit, 256 MiB.
func neverReads(t *testing.T, p *compose.Service) net.Conn {
	const size, atOnce = 64 << 10, 50
	client := connect(p)
	defer client.Close()
	require.NoError(t, client.Set(t.Context(), "large", strings.Repeat("x", size), 0).Err())
	conn, err := net.Dial("tcp", p.Client())
	require.NoError(t, err)
	asked := 0
	for ; err == nil && asked < 1<<30; asked += atOnce * size {
		require.NoError(t, conn.SetWriteDeadline(time.Now().Add(readTimeout)))
		_, err = conn.Write([]byte(strings.Repeat("*2\r\n$3\r\nGET\r\n$5\r\nlarge\r\n", atOnce)))
		time.Sleep(2 * pace)
	}
	t.Logf("%s: a client has asked for %d MiB and read nothing (%v); the proxy occupies %d MiB", p.Name, asked>>20, err, p.Memory()>>20)
	return conn
}

// TestLargeRepliesAtOnce: one client of each proxy asks for two gigabytes in one go, a value of a megabyte two thousand
// times. That takes the others' time, but no process dies of it, and a moment later all is as before.
func TestLargeRepliesAtOnce(t *testing.T) {
	long(t)
	s := begin(t, compose.Config{Memory: 1 << 30})
	asked := s.strike("two gigabytes asked for at once, twice", func() {
		for _, p := range s.Proxies {
			client := connect(p)
			defer client.Close()
			require.NoError(t, client.Set(t.Context(), "huge", strings.Repeat("x", 1<<20), 0).Err())
			conn, err := net.Dial("tcp", p.Client())
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetWriteDeadline(time.Now().Add(readTimeout)))
			_, _ = conn.Write([]byte(strings.Repeat("*2\r\n$3\r\nGET\r\n$4\r\nhuge\r\n", 2000))) // it may hang up
		}
		time.Sleep(5 * time.Second)
	})
	for _, p := range s.Services() {
		t.Logf("%s occupies %d MiB", p.Name, p.Memory()>>20)
		require.Zero(t, p.Restarts(), "%s died", p.Name)
	}
	asked.mend(func() {}).requireCalm()
	s.end()
}
