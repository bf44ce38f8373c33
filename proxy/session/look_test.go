package session

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestSubcommandsFitStats holds the size of what is counted against the command table.
func TestSubcommandsFitStats(t *testing.T) { require.Less(t, len(countedSubcommands), maxSubcommands) }

// TestMonitor shows what others do, as Redis does: no passwords, and nothing for administrators.
func TestMonitor(t *testing.T) { proxytest.EachWay(t, testMonitor) }

func testMonitor(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{Password: "secret"}, proxytest.NewCluster())
	m, c := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Equal(t, "-NOAUTH Authentication required.\r\n", m.Do("MONITOR"))
	m.Do("AUTH secret")
	require.Equal(t, "+OK\r\n", m.Do("MONITOR"))
	c.Do("AUTH secret")
	c.Do("AUTH default wrong")
	c.Do("HELLO 3 AUTH default secret SETNAME me")
	c.Do("SET a x")
	c.Do("CONFIG GET save") // for administrators
	c.Do("GET")             // is not executed
	c.Do("SELECT 3")
	c.Do("GET b")
	for _, line := range []string{"MULTI", "SET a 1", "GET a", "EXEC", "MULTI", "PING", "DISCARD"} {
		c.Do(line)
	}
	_, err := c.Write([]byte("*2\r\n$4\r\nECHO\r\n$11\r\n\x00\xff\"\\\n\r\t\a\ba~\r\n"))
	require.NoError(t, err)
	c.Reply()
	shown := regexp.MustCompile(`^\+\d{10}\.\d{6} \[(\d) 127\.0\.0\.1:\d+\] (.*)\r\n$`)
	for _, want := range []string{
		`0 "AUTH" "(redacted)"`, `0 "AUTH" "(redacted)" "(redacted)"`, `0 "HELLO" "3" "AUTH" "(redacted)" "(redacted)" "SETNAME" "me"`, `0 "SET" "a" "x"`, `3 "SELECT" "3"`, `3 "GET" "b"`,
		`3 "MULTI"`, `3 "SET" "a" "1"`, `3 "GET" "a"`, `3 "EXEC"`, `3 "MULTI"`, `3 "DISCARD"`, `3 "ECHO" "\x00\xff\"\\\n\r\t\a\ba~"`,
	} {
		line := m.Reply()
		parts := shown.FindStringSubmatch(line)
		require.NotNil(t, parts, line)
		require.Equal(t, want, parts[1]+" "+parts[2])
	}
	require.Contains(t, c.Do("CLIENT LIST"), "flags=O ")
	require.Equal(t, "-ERR Replica can't interact with the keyspace\r\n", m.Do("GET a"))
	require.Equal(t, "+RESET\r\n", m.Do("RESET"))
	c.Do("SET a y")
	require.Equal(t, "+OK\r\n", m.Do("AUTH secret"))
}

// TestMonitorThatIsGone is forgotten.
func TestMonitorThatIsGone(t *testing.T) {
	service, addr := startServer(t, Config{}, proxytest.NewCluster())
	m, c := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	m.Do("MONITOR")
	require.NotNil(t, service.look.monitors.list.Load())
	require.NoError(t, m.Close())
	require.Eventually(t, func() bool {
		c.Do("PING")
		return service.look.monitors.list.Load() == nil
	}, 10*time.Second, time.Millisecond)
}

// TestSlowlog keeps what took long, shortened, with its client, and without passwords.
func TestSlowlog(t *testing.T) { proxytest.EachWay(t, testSlowlog) }

func testSlowlog(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	c.Do("CLIENT SETNAME me")
	require.Equal(t, "+OK\r\n", c.Do("CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 10"))
	c.Do("SLOWLOG RESET")
	c.Do("SELECT 2")
	c.Do("SET a " + strings.Repeat("v", 130))
	c.Do("DEL" + strings.Repeat(" k", 40))
	c.Do("AUTH default secret")
	c.Do("CONFIG SET requirepass secret")
	c.Do("MULTI")
	c.Do("GET a")
	c.Do("EXEC")
	c.Do("CONFIG SET slowlog-log-slower-than -1")
	c.Do("PING")
	entry := regexp.MustCompile(`\*6\r\n:(\d+)\r\n:\d{10}\r\n:\d+\r\n\*\d+\r\n((?:\$\d+\r\n[^\r]*\r\n)+)`)
	var seen []string
	list := c.Do("SLOWLOG GET -1")
	for _, parts := range entry.FindAllStringSubmatch(list, -1) {
		fields := strings.Split(parts[2], "\r\n")
		text := parts[1]
		for i := 1; i < len(fields)-4; i += 2 { // the last two are the client and its name
			text += " " + fields[i]
		}
		require.Equal(t, "me", fields[len(fields)-2])
		seen = append(seen, text)
	}
	begin := 0
	_, err := fmt.Sscan(seen[len(seen)-1], &begin)
	require.NoError(t, err)
	var want []string
	for i, text := range []string{
		"SLOWLOG RESET", "SELECT 2", "SET a " + strings.Repeat("v", 128) + "... (2 more bytes)", "DEL" + strings.Repeat(" k", 30) + " ... (10 more arguments)", "AUTH (redacted) (redacted)",
		"CONFIG SET requirepass (redacted)", "multi", "GET a",
	} {
		want = append([]string{fmt.Sprint(begin+i, " ", text)}, want...)
	}
	require.Equal(t, want, seen[len(seen)-len(want):])
	require.Equal(t, ":8\r\n", c.Do("SLOWLOG LEN"))
	c.Do("CONFIG SET slowlog-max-len 2")
	require.Equal(t, ":2\r\n", c.Do("SLOWLOG LEN"))
	require.Equal(t, "*1\r\n", c.Do("SLOWLOG GET 1")[:4])
}

// TestLatency keeps when commands took long.
func TestLatency(t *testing.T) {
	service, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	require.Contains(t, c.Do("LATENCY DOCTOR"), "Latency monitoring is disabled")
	c.Do("CONFIG SET latency-monitor-threshold 20")
	require.Contains(t, c.Do("LATENCY DOCTOR"), "no latency spike was observed")
	c.Do("DEBUG SLEEP 0.03")
	require.Regexp(t, `^\*1\r\n\*4\r\n\$7\r\ncommand\r\n:\d{10}\r\n:[3-9]\d\r\n:[3-9]\d\r\n$`, c.Do("LATENCY LATEST"))
	require.Regexp(t, `^\*1\r\n\*2\r\n:\d{10}\r\n:\d+\r\n$`, c.Do("LATENCY HISTORY command"))
	require.Equal(t, "*0\r\n", c.Do("LATENCY HISTORY fast-command"))
	require.Regexp(t, `command - high \d+ ms, low \d+ ms \(all time high \d+ ms\)\n-{80}\n \n \n \n_\n \n\d\ns\n`, c.Do("LATENCY GRAPH command"))
	require.Contains(t, c.Do("LATENCY DOCTOR"), "1. command: 1 latency spikes")
	require.Equal(t, ":0\r\n", c.Do("LATENCY RESET nosuch"))
	require.Equal(t, ":1\r\n", c.Do("LATENCY RESET COMMAND"))
	c.Do("CONFIG RESETSTAT")
	c.Do("SET a x")
	c.Do("SET a x")
	require.Regexp(t, `^\*2\r\n\$3\r\nset\r\n\*4\r\n\$5\r\ncalls\r\n:2\r\n\$14\r\nhistogram_usec\r\n\*[24]\r\n`, c.Do("LATENCY HISTOGRAM set nosuch get"))
	require.EqualValues(t, 2, service.Stats().Op(command.OpSet).Calls())
	require.Regexp(t, `latency_percentiles_usec_set:p50=[\d.]+,p99=[\d.]+,p99.9=[\d.]+\r\n`, c.Do("INFO latencystats"))
	require.Regexp(t, `cmdstat_config\|resetstat:calls=1,`, c.Do("INFO commandstats"))
	c.Do("CONFIG SET latency-tracking no")
	require.NotContains(t, c.Do("INFO latencystats"), "p50")
}
