//go:build linux

package e2e

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

var manyWaiting = flag.Int("waiting", 3000, "how many clients wait in TestManyClientsWait")

// TestManyClientsWait: a proxy of which most clients wait, all for one list or each for its own. They take little memory, and are served in the order in which they came. What it costs others is
// logged: make bench-waiting.
func TestManyClientsWait(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	for _, one := range []bool{true, false} {
		t.Run(map[bool]string{true: "for one list", false: "each for its own"}[one], func(t *testing.T) { manyClientsWait(t, one) })
	}
}

// atOnce is how many clients come at the same time.
const atOnce = 500

func manyClientsWait(t *testing.T, one bool) {
	n := *manyWaiting
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Proxy: []string{"--max-clients", strconv.Itoa(n + 1000)}})
	proxy := c.Proxies[0]
	client := redis.NewClient(&redis.Options{Addr: proxy.Client, Protocol: 2, ReadTimeout: time.Minute})
	defer client.Close()
	key := func(i int) string {
		if one {
			return "q"
		}
		return fmt.Sprint("q", i)
	}
	require.NoError(t, client.Set(t.Context(), "other", "x", 0).Err())
	alone := latencies(t, client, 3000)
	before, _ := proxy.Memory()

	conns := make([]net.Conn, n)
	for i := range conns {
		// A source has some 28,000 ports.
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i/20_000))}}
		conn, err := dialer.DialContext(t.Context(), "tcp", proxy.Client)
		require.NoError(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "BLPOP %s 0\r\n", key(i))
		require.NoError(t, err)
		conns[i] = conn
		if i%atOnce == atOnce-1 || i == n-1 { // more at once the system does not let wait to be accepted
			awaitBlocked(t, client, i+1)
		}
	}
	took, _ := proxy.Memory()
	each := (took - before) / int64(n)
	idle := proxyCPU(t, proxy.PID())
	<-time.After(3 * time.Second) // in which nobody does anything, which is what is measured
	idle = proxyCPU(t, proxy.PID()) - idle
	beside := latencies(t, client, 3000)
	t.Logf("%d clients wait: %.1f KiB each, %.1f MiB together; idle, the proxy takes %.1f %% of a processor; GET beside them: p50 %v and p99 %v, before %v and %v",
		n, float64(each)/1024, float64(took-before)/(1<<20), 100*idle.Seconds()/3, beside[0], beside[1], alone[0], alone[1])
	require.Less(t, each, int64(10_737), "10^5 of them are to take no more than 1 GiB")

	begun := time.Now()
	for chunk := range slices.Chunk(conns, 1000) {
		first := slices.Index(conns, chunk[0])
		_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for i := range chunk {
				p.RPush(t.Context(), key(first+i), first+i)
			}
			return nil
		})
		require.NoError(t, err)
	}
	served := map[int]bool{}
	for i, conn := range conns {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		reader := bufio.NewReader(conn)
		var line string
		for range 5 { // *2, $n, the key, $n, the element
			var err error
			line, err = reader.ReadString('\n')
			require.NoError(t, err)
		}
		element, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		require.False(t, served[element], "%d was handed out twice", element)
		served[element] = true
		require.Equal(t, i/atOnce, element/atOnce, "who came first is served first; of those who came together nobody knows")
	}
	t.Logf("all were served within %v", time.Since(begun).Round(time.Millisecond))
}

// awaitBlocked waits until so many clients of a proxy wait.
func awaitBlocked(t *testing.T, client *redis.Client, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		info, err := client.Info(t.Context(), "clients").Result()
		require.NoError(t, err)
		return strings.Contains(info, fmt.Sprintf("blocked_clients:%d\r\n", n))
	}, time.Minute, time.Millisecond)
}

// latencies returns the median and the 99th percentile of how long a GET takes.
func latencies(t *testing.T, client *redis.Client, n int) [2]time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		begun := time.Now()
		require.NoError(t, client.Get(t.Context(), "other").Err())
		took[i] = time.Since(begun)
	}
	slices.Sort(took)
	return [2]time.Duration{took[n/2], took[n*99/100]}
}

// proxyCPU returns how long a process has used processors.
func proxyCPU(t *testing.T, pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	var ticks int
	for _, field := range fields[11:13] { // utime and stime, of a hundredth of a second
		n, err := strconv.Atoi(field)
		require.NoError(t, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
