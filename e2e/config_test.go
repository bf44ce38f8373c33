//go:build unix

package e2e

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

func TestWrongConfigurationEndsWithCode2AndOneLineForEachFault(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args string
		want []string // fields, one line each
	}{
		{"node", []string{"name", "initial-cluster"}},
		{"node --name a --initial-cluster a=h:1,b=h:2 --weight 0 --rack x/y --log-format xml", []string{"rack", "weight", "replicas", "log-format"}},
		{"node --name a --initial-cluster a=h:1 --replicas 1 --peer 0.0.0.0:7000", []string{"peer", "gossip"}},
		{"node --name a --initial-cluster a=h:1 --replicas 1 --admin 0.0.0.0:7100", []string{"admin"}},
		{"node --name a --initial-cluster a=h:1 --replicas 1 --engine oak", []string{"engine"}},
		{"proxy", []string{"nodes"}},
		{"proxy --nodes h:1 --listen 0.0.0.0:6379", []string{"listen"}},
		{"proxy --nodes h --max-bulk lots", []string{"max-bulk"}},
		{"proxy --nodes h --max-bulk 1", []string{"nodes", "max-bulk"}},
		{"dev --listen :0 --admin :0", []string{"listen", "admin"}},
		{"dev --nodes 2", []string{"replicas"}},
		{"dev --config /nonexistent", []string{"config"}},
	} {
		stdout, stderr, code := cluster.Run(t, nil, strings.Fields(tc.args)...)
		require.Equal(t, 2, code, tc.args)
		require.Empty(t, stdout, tc.args)
		lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
		require.Len(t, lines, len(tc.want), "%s: %s", tc.args, stderr)
		for i, field := range tc.want {
			require.True(t, strings.HasPrefix(lines[i], "quoll: "+field+": "), "%s: %s", tc.args, lines[i])
		}
	}
	_, stderr, code := cluster.Run(t, []string{"QUOLL_LISEN=x", "QUOLL_MAX_CLIENTS=none"}, "proxy", "--nodes", "h:1")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "quoll: QUOLL_LISEN: ")
	require.Contains(t, stderr, "quoll: max-clients: ")
}

func TestListeningForOthersNeedsAPasswordOrTheWord(t *testing.T) {
	t.Parallel()
	_, port, err := net.SplitHostPort(cluster.FreeAddress(t))
	require.NoError(t, err)
	_, stderr, code := cluster.Run(t, nil, "proxy", "--nodes", "h:1", "--listen", ":"+port)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "no password is set")
	for _, word := range []string{"--insecure", "--password=hush"} {
		p := cluster.NewProcess(t, "proxy "+word, "proxy", "--nodes", "127.0.0.1:1", "--listen", ":"+port, "--admin", "127.0.0.1:0", word)
		p.Start()
		p.AwaitLog("the proxy runs")
		p.Kill()
		require.NotContains(t, p.Log(), "hush")
	}
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	used, peer := taken.Addr().String(), cluster.FreeAddress(t)
	for name, args := range map[string][]string{
		"dev listen":   {"dev", "--listen", used},
		"dev admin":    {"dev", "--listen", "127.0.0.1:0", "--admin", used},
		"proxy listen": {"proxy", "--nodes", "127.0.0.1:1", "--listen", used},
		"proxy admin":  {"proxy", "--nodes", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", used},
		"node peer":    {"node", "--name", "a", "--initial-cluster", "a=" + used, "--replicas", "1", "--peer", used, "--gossip", peer},
		"node gossip":  {"node", "--name", "a", "--initial-cluster", "a=" + peer, "--replicas", "1", "--peer", peer, "--gossip", used},
		"node admin":   {"node", "--name", "a", "--initial-cluster", "a=" + peer, "--replicas", "1", "--peer", peer, "--gossip", "127.0.0.1:0", "--admin", used},
	} {
		_, stderr, code := cluster.Run(t, nil, args...)
		require.Equal(t, 1, code, "%s: %s", name, stderr)
		lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
		require.Regexp(t, "^quoll: .*in use.*; stop .* or choose another", lines[len(lines)-1], name)
		require.Contains(t, lines[len(lines)-1], used, name)
	}
}

func TestInitialClustersThatDifferAreRefused(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, cluster.Config{Nodes: 3, Proxies: 1})
	elsewhere := cluster.FreeAddress(t)
	other := strings.Replace(c.Initial, c.Nodes[1].Peer, elsewhere, 1)
	last := c.Nodes[2]
	last.Args = append(last.Args, "--initial-cluster", other) // the last one counts
	for _, m := range c.Nodes {
		m.Start()
	}
	last.AwaitLog("b is at " + elsewhere + " here but at " + c.Nodes[1].Peer + " there")
	c.Nodes[0].AwaitLog("b is at " + c.Nodes[1].Peer + " here but at " + elsewhere + " there")
	ready, _ := c.Nodes[0].Ready()
	require.False(t, ready)

	last.Kill()
	last.Args = last.Args[:len(last.Args)-2]
	last.Start()
	for _, m := range c.Nodes {
		m.AwaitReady()
	}
	proxy := c.Proxies[0]
	proxy.Args = append(proxy.Args, "--initial-cluster", other)
	proxy.Start()
	proxy.AwaitLog("b is at ")
	require.Contains(t, proxy.Log(), elsewhere)
	ready, _ = proxy.Ready()
	require.False(t, ready)

	stranger := cluster.NewProcess(t, "proxy of another cluster", "proxy", "--listen", cluster.FreeAddress(t), "--admin", "127.0.0.1:0",
		"--nodes", c.Nodes[0].Peer, "--cluster-name", "zoo")
	stranger.Start()
	stranger.AwaitLog("correct --cluster-name")
}

func TestPassword(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1"}, Proxy: []string{"--password", "hush"}})
	for _, protocol := range []int{2, 3} {
		as := func(password string) *redis.Client {
			client := redis.NewClient(&redis.Options{Addr: c.Proxies[0].Client, Protocol: protocol, Password: password, MaxRetries: -1})
			t.Cleanup(func() { _ = client.Close() })
			return client
		}
		require.ErrorContains(t, as("").Get(t.Context(), "k").Err(), "NOAUTH")
		require.ErrorContains(t, as("wrong").Get(t.Context(), "k").Err(), "WRONGPASS")
		require.NoError(t, as("hush").Set(t.Context(), "k", "v", 0).Err())
	}
	client := connect(t, c.Proxies[0].Client).Conn()
	defer client.Close()
	require.ErrorContains(t, client.Do(t.Context(), "get", "k").Err(), "NOAUTH")
	require.ErrorContains(t, client.Do(t.Context(), "hello", "3", "auth", "default", "wrong").Err(), "WRONGPASS")
	require.NoError(t, client.Do(t.Context(), "hello", "3", "auth", "default", "hush", "setname", "me").Err())
	require.Equal(t, "v", client.Get(t.Context(), "k").Val())
	require.Equal(t, "me", client.ClientGetName(t.Context()).Val())
	require.NotContains(t, c.Proxies[0].Log(), "hush")
}

func TestSecret(t *testing.T) {
	t.Parallel()
	secret := []string{"--secret", "pouch and tail"}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Node: secret, Proxy: secret})
	require.NoError(t, connect(t, c.Proxies[0].Client).Set(t.Context(), "k", "v", 0).Err())
	_, code := cluster.RunJSON[status](t, append([]string{"ring", "status", "-o", "json", "--admin", c.Nodes[0].Admin}, secret...)...)
	require.Equal(t, 0, code)
	for _, given := range [][]string{nil, {"--secret", "wrong"}} {
		_, stderr, code := cluster.Run(t, nil, append([]string{"ring", "status", "--admin", c.Nodes[0].Admin}, given...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "secret")
		args := append([]string{"proxy", "--listen", cluster.FreeAddress(t), "--admin", cluster.FreeAddress(t), "--nodes", c.Nodes[0].Peer}, given...)
		stranger := cluster.Member{Process: cluster.NewProcess(t, "proxy with another secret", args...), Admin: args[4]}
		stranger.Start()
		stranger.AwaitLog("configure the same secret on both")
		ready, _ := stranger.Ready()
		require.False(t, ready)
		require.ErrorContains(t, connect(t, args[2]).Get(t.Context(), "k").Err(), "LOADING")
	}
}

func TestInterruptStopsEverythingInOrder(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
		idle := connect(t, c.Proxies[0].Client)
		require.NoError(t, idle.Set(t.Context(), "k", "v", 0).Err())
		dev, address := startDev(t)
		require.NoError(t, connect(t, address).Set(t.Context(), "k", "v", 0).Err())
		for _, p := range []*cluster.Process{dev, c.Proxies[0].Process, c.Nodes[0].Process, c.Nodes[1].Process, c.Nodes[2].Process} {
			p.Signal(signal)
			require.Equal(t, 0, p.ExitCode(8*time.Second), "%s after %s", p.Name, signal)
			require.NotContains(t, p.Log(), "level=ERROR", p.Name)
		}
	}
}

// startDev starts `quoll dev` and waits for its welcome.
func startDev(t testing.TB, args ...string) (dev *cluster.Process, address string) {
	address = cluster.FreeAddress(t)
	dev = cluster.NewProcess(t, "dev", append([]string{"dev", "--listen", address}, args...)...)
	dev.Start()
	dev.AwaitLog("Quoll runs: ")
	return dev, address
}

// TestCommandUnderWayIsAnsweredWhenTheProxyStops shows that a proxy that is told to
// stop answers what it has begun.
func TestCommandUnderWayIsAnsweredWhenTheProxyStops(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	l := startLoad(t, c.Clients())
	l.progress(1000)
	c.Proxies[1].Signal(syscall.SIGTERM)
	require.Equal(t, 0, c.Proxies[1].ExitCode(8*time.Second))
	l.progress(1000)
	l.stop()
	for _, f := range l.failures {
		require.NotContains(t, f.err.Error(), "UNKNOWN ", f.command)
		require.NotErrorIs(t, f.err, context.DeadlineExceeded)
	}
	l.requireNothingLost(c.Proxies[0].Client)
}
