package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestParametersAreRedis: each is one of a Redis 7.0, all of whose parameters are known.
func TestParametersAreRedis(t *testing.T) {
	r := proxytest.Dial(t, redistest.Start(t))
	theirs := strings.Split(r.Do("CONFIG GET *"), "\r\n")
	known := map[string]bool{}
	for i := 2; i < len(theirs); i += 4 {
		name := theirs[i]
		known[name] = true
		mine := immutableParameters[name] || foreignParameters[name]
		for i := range parameters {
			mine = mine || parameters[i].name == name
		}
		require.True(t, mine, name)
	}
	for i := range parameters {
		require.True(t, known[parameters[i].name], parameters[i].name)
		if p := &parameters[i]; p.set == nil {
			require.True(t, p.why != "" || immutableParameters[p.name], p.name)
		}
	}
}

// TestConfigSetSameAsRedis: what may be set, and how wrong values are refused.
func TestConfigSetSameAsRedis(t *testing.T) {
	redisAddr := redistest.Start(t)
	_, quollAddr := startServer(t, Config{}, proxytest.NewCluster().KeepInMemory())
	r, q := proxytest.Dial(t, redisAddr), proxytest.Dial(t, quollAddr)
	for _, line := range strings.Split(strings.TrimSpace(`
CONFIG SET maxclients 9000|CONFIG GET maxclients|CONFIG SET maxclients 0|CONFIG SET maxclients abc|CONFIG SET MAXCLIENTS 8000|CONFIG GET MaxClients
CONFIG SET timeout 100|CONFIG GET timeout|CONFIG SET timeout -1|CONFIG SET timeout 99999999999|CONFIG SET timeout 0
CONFIG SET slowlog-log-slower-than 5|CONFIG SET slowlog-log-slower-than -2|CONFIG SET slowlog-log-slower-than x|CONFIG GET slowlog-*
CONFIG SET latency-monitor-threshold 7|CONFIG GET latency-monitor-threshold|CONFIG SET latency-monitor-threshold -1|CONFIG SET latency-monitor-threshold 0
CONFIG SET latency-tracking maybe|CONFIG SET latency-tracking NO|CONFIG GET latency-tracking|CONFIG SET latency-tracking yes
CONFIG SET latency-tracking-info-percentiles 1.5~99|CONFIG GET latency-tracking-info-percentiles|CONFIG SET latency-tracking-info-percentiles x|CONFIG SET latency-tracking-info-percentiles 101
CONFIG SET timeout 5 maxclients x|CONFIG GET timeout|CONFIG SET timeout 5 timeout 6|CONFIG SET nosuch 1|CONFIG SET timeout 1 nosuch 2|CONFIG SET a b c|CONFIG GET timeout
CONFIG SET databases 5|CONFIG SET daemonize no|CONFIG SET timeout 4 databases 2|CONFIG SET cluster-enabled yes|CONFIG GET timeout databases time*ut|CONFIG SET save ""|CONFIG SET maxmemory 0|CONFIG SET appendonly no
CONFIG SET maxmemory-clients x|CONFIG SET maxmemory-clients 200%|CONFIG SET maxmemory-clients 10mb|CONFIG GET maxmemory-clients|CONFIG SET client-output-buffer-limit normal~0~0|CONFIG SET client-output-buffer-limit foo~0~0~0
CONFIG SET client-output-buffer-limit normal~x~0~0|CONFIG SET client-output-buffer-limit normal~1mb~512kb~5~pubsub~33554432~8388608~60
CONFIG SET maxmemory 100mb|CONFIG GET maxmemory|CONFIG SET maxmemory -1|CONFIG SET maxmemory abc|CONFIG SET maxmemory 1.5gb|CONFIG SET maxmemory 5%|CONFIG SET maxmemory +5|CONFIG SET maxmemory 100kib
CONFIG SET MaxMemory 010|CONFIG GET maxmemory|CONFIG SET maxmemory 9223372036854775807|CONFIG GET maxmemory|CONFIG SET maxmemory mb|CONFIG GET maxmemory|CONFIG SET maxmemory ""|CONFIG SET maxmemory 5b
CONFIG SET maxmemory-policy lru|CONFIG SET maxmemory-policy AllKeys-LRU|CONFIG GET maxmemory-policy|CONFIG SET maxmemory-policy volatile-ttl|CONFIG GET maxmemory*policy
CONFIG SET maxmemory-samples x|CONFIG SET maxmemory-samples 10|CONFIG GET maxmemory-samples|CONFIG SET lfu-log-factor -1|CONFIG SET lfu-log-factor 2147483647|CONFIG SET lfu-decay-time 2147483648|CONFIG SET lfu-decay-time 0|CONFIG GET lfu-*
CONFIG SET maxmemory 7 lfu-decay-time 3 timeout x|CONFIG GET maxmemory|CONFIG SET maxmemory 7 maxmemory 8|CONFIG SET timeout 9 maxmemory 7 maxmemory-policy allkeys-lfu lfu-decay-time 3|CONFIG GET maxmemory|CONFIG GET lfu-decay-time|CONFIG GET timeout
CONFIG SET timeout 3 slowlog-max-len 7 latency-monitor-threshold 9|CONFIG GET timeout slowlog-max-len latency-monitor-threshold|CONFIG SET timeout 0
`), "\n") {
		for _, text := range strings.Split(line, "|") {
			want, got := doWords(t, r, text), doWords(t, q, text)
			if strings.HasPrefix(text, "CONFIG GET") { // Redis has no order
				require.ElementsMatch(t, strings.Split(want, "\r\n"), strings.Split(got, "\r\n"), text)
				continue
			}
			require.Equal(t, want, got, text)
		}
	}
	require.Contains(t, q.Do("CONFIG GET client-output-buffer-limit"), "normal 1048576 524288 5 slave")
	require.Contains(t, q.Do("CONFIG SET hz 50"), "-ERR CONFIG SET failed (possibly related to argument 'hz') - Quoll has no such parameter")
	require.Contains(t, q.Do("CONFIG SET maxmemory-samples 65"), "argument must be between 1 and 64 inclusive", "others wait while keys are looked at")
	require.Contains(t, q.Do("CONFIG SET maxmemory-clients 0"), "a proxy is started with what it may take")
}

// doWords sends a command in whose words ~ stands for a space.
func doWords(t *testing.T, c *proxytest.Client, line string) string {
	words := strings.Fields(line)
	packet := resp.AppendArray(nil, len(words))
	for _, word := range words {
		packet = resp.AppendBulk(packet, strings.ReplaceAll(strings.ReplaceAll(word, "~", " "), `""`, ""))
	}
	_, err := c.Write(packet)
	require.NoError(t, err)
	return c.Reply()
}

// TestConfigRewrite: whoever runs the proxy is given what CONFIG SET has set, as CONFIG GET shows it, and says why it cannot be kept.
func TestConfigRewrite(t *testing.T) {
	var given []Parameter
	var refusal error
	_, addr := startServer(t, Config{Rewrite: func(changed []Parameter) error { given = changed; return refusal }}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", c.Do("CONFIG REWRITE"))
	require.Empty(t, given)
	require.Equal(t, "+OK\r\n", doWords(t, c, `CONFIG SET maxmemory-clients 100mb latency-tracking NO save ""`))
	require.Contains(t, c.Do("CONFIG SET slowlog-max-len 5 timeout x"), "-ERR CONFIG SET failed")
	require.Equal(t, "+OK\r\n", c.Do("CONFIG REWRITE"))
	require.Equal(t, []Parameter{{"latency-tracking", "no"}, {"maxmemory-clients", "104857600"}}, given)
	for _, of := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}, "Permission denied"}, {&os.LinkError{Op: "rename", Old: "/x", New: "/y", Err: syscall.EBUSY}, "Device or resource busy"},
		{errors.New("nodes: x\ny: z"), "nodes: x; y: z"},
	} {
		refusal = of.err
		require.Equal(t, "-ERR Rewriting config file: "+of.want+"\r\n", c.Do("CONFIG REWRITE"))
	}
	require.Contains(t, c.Do("CONFIG REWRITE x"), "-ERR wrong number of arguments for 'config|rewrite' command")
}

// TestNoted: what is noted for people who look can be given from the start.
func TestNoted(t *testing.T) {
	_, addr := startServer(t, Config{Noted: &Noted{SlowlogSlowerThan: -1, SlowlogMaxLen: 3, LatencyThreshold: 7, Untracked: true, Percentiles: []float64{12.5}}}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	for name, want := range map[string]string{"slowlog-log-slower-than": "-1", "slowlog-max-len": "3", "latency-monitor-threshold": "7", "latency-tracking": "no", "latency-tracking-info-percentiles": "12.5"} {
		require.Equal(t, fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(name), name, len(want), want), c.Do("CONFIG GET "+name))
	}
}
