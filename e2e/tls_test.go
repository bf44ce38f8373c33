//go:build unix

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/internal/redistest"
)

// startSecured starts a cluster of three nodes and a proxy that speak TLS with each other, and with clients at Secure.
func startSecured(t *testing.T, cfg cluster.Config) (c *cluster.Cluster, dir string) {
	dir = t.TempDir()
	names := []*cluster.Member{{Node: "a"}, {Node: "b"}, {Node: "c"}}
	cluster.MakeCerts(t, dir, names)
	cfg.Nodes, cfg.Proxies, cfg.Certs = 3, 1, dir
	return cluster.Start(t, cfg), dir
}

// clientTLS are the settings of a client of a CA, with the certificate of alice or of nobody.
func clientTLS(t *testing.T, dir, who string) *tls.Config {
	files := certs.Files{CA: filepath.Join(dir, certs.CAFile)}
	if who != "" {
		base := filepath.Join(dir, certs.FileOf(certs.Client, who))
		files.Cert, files.Key = base+".crt", base+".key"
	}
	store, err := certs.Open("test", files)
	require.NoError(t, err)
	return store.Client("127.0.0.1")
}

func secureClient(addr string, config *tls.Config) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, TLSConfig: config, MaxRetries: -1, DialTimeout: 20 * time.Second, ReadTimeout: 20 * time.Second})
}

// TestClientsWithTLS: go-redis, redis-cli and redis-py work as without; who has no certificate where one is required, one of another CA, or one that has expired, does not get in.
func TestClientsWithTLS(t *testing.T) {
	t.Parallel()
	c, dir := startSecured(t, cluster.Config{Proxy: []string{"--tls-client-auth", "required"}})
	addr := c.Proxies[0].Secure
	good := secureClient(addr, clientTLS(t, dir, "alice"))
	defer good.Close()
	ctx := t.Context()
	large := strings.Repeat("v", 5<<20)
	require.NoError(t, good.Set(ctx, "k", large, 0).Err())
	require.Equal(t, large, good.Get(ctx, "k").Val())
	pipe := good.Pipeline()
	for i := range 1000 {
		pipe.Incr(ctx, fmt.Sprint("n", i%10))
	}
	_, err := pipe.Exec(ctx)
	require.NoError(t, err)

	t.Run("pushes and waiting", func(t *testing.T) {
		messages := good.Subscribe(ctx, "news")
		defer messages.Close()
		_, err := messages.Receive(ctx)
		require.NoError(t, err)
		require.NoError(t, good.Publish(ctx, "news", "hello").Err())
		require.Equal(t, "hello", (<-messages.Channel()).Payload)
		popped := make(chan string)
		go func() { popped <- strings.Join(good.BLPop(ctx, 10*time.Second, "list").Val(), " ") }()
		require.Eventually(t, func() bool { return strings.Contains(good.ClientList(ctx).Val(), "cmd=blpop") }, 10*time.Second, 10*time.Millisecond)
		require.NoError(t, good.RPush(ctx, "list", "x").Err())
		require.Equal(t, "list x", <-popped)
	})
	t.Run("killed", func(t *testing.T) {
		other := secureClient(addr, clientTLS(t, dir, "alice"))
		defer other.Close()
		conn := other.Conn()
		defer conn.Close()
		id := conn.ClientID(ctx).Val()
		require.NoError(t, good.Do(ctx, "CLIENT", "KILL", "ID", id).Err())
		require.Error(t, conn.Ping(ctx).Err())
	})
	t.Run("redis-cli", func(t *testing.T) {
		if _, err := exec.LookPath("redis-cli"); err != nil {
			t.Skip("redis-cli is not installed")
		}
		host, port, _ := strings.Cut(addr, ":")
		args := []string{"-h", host, "-p", port, "--tls", "--cacert", filepath.Join(dir, certs.CAFile)}
		out, err := exec.Command("redis-cli", append(args, "get", "n1")...).CombinedOutput()
		require.NotContains(t, string(out), "100", "%v", err)
		args = append(args, "--cert", filepath.Join(dir, "client.alice.crt"), "--key", filepath.Join(dir, "client.alice.key"), "get", "n1")
		out, err = exec.Command("redis-cli", args...).CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, "100\n", string(out))
	})
	t.Run("redis-py", func(t *testing.T) {
		host, port, _ := strings.Cut(addr, ":")
		program := "import redis,sys\nr=redis.Redis(host=sys.argv[1],port=int(sys.argv[2]),ssl=True,ssl_ca_certs=sys.argv[3],ssl_certfile=sys.argv[4],ssl_keyfile=sys.argv[5])\nprint(r.get('n1').decode())"
		if exec.Command("/usr/bin/python3", "-c", "import redis").Run() != nil {
			t.Skip("python3-redis is not installed")
		}
		out, err := exec.Command("/usr/bin/python3", "-c", program, host, port, filepath.Join(dir, certs.CAFile), filepath.Join(dir, "client.alice.crt"), filepath.Join(dir, "client.alice.key")).CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, "100\n", string(out))
	})

	elsewhere := t.TempDir()
	cluster.MakeCerts(t, elsewhere, nil)
	ca, err := certs.OpenAuthority(dir)
	require.NoError(t, err)
	cluster.Issue(t, ca, certs.Request{Role: certs.Client, Name: "late", Valid: -time.Minute})
	for name, config := range map[string]*tls.Config{
		"no certificate":          clientTLS(t, dir, ""),
		"of another CA":           clientTLS(t, elsewhere, "alice"),
		"expired":                 clientTLS(t, dir, "late"),
		"the host is another one": func() *tls.Config { c := clientTLS(t, dir, "alice"); c.ServerName = "redis.example"; return c }(),
	} {
		if name == "of another CA" {
			config.RootCAs = clientTLS(t, dir, "").RootCAs // it trusts the proxy
		}
		client := secureClient(addr, config)
		require.ErrorContains(t, client.Ping(ctx).Err(), "tls: ", name)
		require.NoError(t, client.Close())
	}
	require.NoError(t, good.Ping(ctx).Err())
}

// TestCommandsWithTLS: bench, verify, import and export are clients with TLS, too, at each end of a copy by itself; and they say what is missing.
func TestCommandsWithTLS(t *testing.T) {
	t.Parallel()
	c, dir := startSecured(t, cluster.Config{Proxy: []string{"--tls-client-auth", "required"}})
	quoll := []string{"--addr", c.Proxies[0].Secure, "--tls", "--tls-ca-file", dir + "/ca.crt"}
	alice := []string{"--tls-cert-file", dir + "/client.alice.crt", "--tls-key-file", dir + "/client.alice.key"}
	run := func(code int, args ...string) string {
		t.Helper()
		stdout, stderr, is := cluster.Run(t, nil, args...)
		require.Equal(t, code, is, "%s%s", stdout, stderr)
		return stderr
	}
	good := slices.Concat(quoll, alice)
	run(0, append([]string{"bench", "--count", "200", "--keys", "50", "--connections", "4", "--check"}, good...)...)
	run(0, append([]string{"verify", "--for", "1s", "--clients", "2"}, good...)...)
	for name, command := range map[string][]string{"bench": {"bench", "--count", "100"}, "verify": {"verify", "--for", "1s"}, "import": {"import", "--rdb", dir + "/ca.crt"}} {
		require.Contains(t, run(2, append(command, quoll...)...), "--tls-cert-file", name)
		require.Contains(t, run(2, slices.Concat(command, quoll[:3], alice)...), "its certificate is not trusted", name)
		require.Contains(t, run(2, append(command, quoll[:2]...)...), "a port for TLS needs --tls", name)
		require.Contains(t, run(2, slices.Concat(command, good, []string{"--addr", c.Proxies[0].Client})...), "--tls-listen", name)
	}

	t.Run("copies", func(t *testing.T) {
		host, port, err := net.SplitHostPort(cluster.FreeAddress(t))
		require.NoError(t, err)
		plain := redistest.Start(t, "--tls-port", port, "--tls-cert-file", dir+"/proxy.p1.crt", "--tls-key-file", dir+"/proxy.p1.key", "--tls-ca-cert-file", dir+"/ca.crt")
		redis := connect(t, plain)
		require.NoError(t, redis.Set(t.Context(), "of the redis", "v", 0).Err())
		other := func(flag string) []string {
			return []string{"--" + flag, "rediss://" + net.JoinHostPort(host, port), "--" + flag + "-tls-ca-file", dir + "/ca.crt",
				"--" + flag + "-tls-cert-file", dir + "/client.alice.crt", "--" + flag + "-tls-key-file", dir + "/client.alice.key"}
		}
		run(0, slices.Concat([]string{"import"}, other("from"), good)...)
		client := connect(t, c.Proxies[0].Client)
		require.Equal(t, "v", client.Get(t.Context(), "of the redis").Val())
		require.NoError(t, client.Set(t.Context(), "of the cluster", "w", 0).Err())
		run(0, slices.Concat([]string{"export", "--to", "redis://" + plain}, good)...)
		require.Equal(t, "w", redis.Get(t.Context(), "of the cluster").Val())
		require.NoError(t, client.Set(t.Context(), "once more", "x", 0).Err())
		run(0, slices.Concat([]string{"export", "--addr", c.Proxies[0].Client}, other("to"))...)
		require.Equal(t, "x", redis.Get(t.Context(), "once more").Val())
		require.Contains(t, run(2, slices.Concat([]string{"import"}, other("from")[:2], good)...), "--from-tls-ca-file")
	})
}

// TestUsersByCertificate: a client is the user that its certificate names, from its first command on, also at a proxy that has just started.
func TestUsersByCertificate(t *testing.T) {
	t.Parallel()
	c, dir := startSecured(t, cluster.Config{Proxy: []string{"--tls-client-auth", "optional", "--tls-auth-clients-user", "CN"}})
	admin := connectFor(t, c.Proxies[0].Client, 15*time.Second) // users are decided on, by nodes that may have no leader yet
	require.NoError(t, admin.Do(t.Context(), "ACL", "SETUSER", "alice", "on", "~a*", "+@all").Err())
	ca, err := certs.OpenAuthority(dir)
	require.NoError(t, err)
	cluster.Issue(t, ca, certs.Request{Role: certs.Client, Name: "bob"})
	who := func(name string) string {
		client := secureClient(c.Proxies[0].Secure, clientTLS(t, dir, name))
		defer client.Close()
		user, err := client.Do(t.Context(), "ACL", "WHOAMI").Text()
		require.NoError(t, err)
		return user
	}
	for range 2 {
		require.Equal(t, "alice", who("alice"))
		require.Equal(t, "default", who("bob"), "there is no such user")
		require.Equal(t, "default", who(""))
		c.Proxies[0].Kill()
		c.Proxies[0].Start()
		c.Proxies[0].AwaitReady()
	}
	alice := secureClient(c.Proxies[0].Secure, clientTLS(t, dir, "alice"))
	defer alice.Close()
	require.NoError(t, alice.Set(t.Context(), "a", "v", 0).Err())
	require.ErrorContains(t, alice.Set(t.Context(), "b", "v", 0).Err(), "NOPERM")
}

// TestPeersWithTLS: no plain peer, no certificate of another CA, and none of somebody else gets into a cluster, whatever the secret is.
func TestPeersWithTLS(t *testing.T) {
	t.Parallel()
	c, dir := startSecured(t, cluster.Config{})
	peers := []string{"--nodes", c.Nodes[0].Peer + "," + c.Nodes[1].Peer}
	elsewhere := t.TempDir()
	cluster.MakeCerts(t, elsewhere, []*cluster.Member{{Node: "b"}})
	for name, impostor := range map[string]struct {
		args []string
		says string // in the log of the impostor, or of a node
	}{
		"a plain proxy":           {nil, "it is required here"},
		"a proxy of another CA":   {[]string{"--certs-dir", elsewhere}, "unknown authority"},
		"a node's as a proxy's":   {[]string{"--peer-tls-cert-file", dir + "/node.a.crt", "--peer-tls-key-file", dir + "/node.a.key", "--peer-tls-ca-file", dir + "/ca.crt"}, "is for urn:quoll:quoll:node:a, and this is urn:quoll:quoll:proxy:"},
		"a client's as a proxy's": {[]string{"--peer-tls-cert-file", dir + "/client.alice.crt", "--peer-tls-key-file", dir + "/client.alice.key", "--peer-tls-ca-file", dir + "/ca.crt"}, "is for urn:quoll:quoll:client:alice"},
		"another cluster's proxy": {[]string{"--certs-dir", dir, "--cluster-name", "other"}, "and this is urn:quoll:other:proxy:"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"proxy", "--listen", cluster.FreeAddress(t), "--admin", cluster.FreeAddress(t)}, peers...)
			p := cluster.NewProcess(t, name, append(args, impostor.args...)...)
			p.Start()
			cluster.Await(t, "it is refused", func() bool { return strings.Contains(p.Log(), impostor.says) })
		})
	}
	require.NoError(t, connect(t, c.Proxies[0].Client).Set(t.Context(), "k", "v", 0).Err())
}

// TestAdminByHTTPS: the API is served by HTTPS, the commands speak it, and say what is missing where they do not.
func TestAdminByHTTPS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cluster.MakeCerts(t, dir, []*cluster.Member{{Node: "a"}})
	peer, admin := cluster.FreeAddress(t), cluster.FreeAddress(t)
	p := cluster.NewProcess(t, "node a", "node", "--name", "a", "--peer", peer, "--gossip", cluster.FreeAddress(t), "--admin", admin, "--initial-cluster", "a="+peer, "--replicas", "1", "--certs-dir", dir, "--admin-tls")
	p.Start()
	cluster.Await(t, "it is ready", func() bool {
		_, _, code := cluster.Run(t, nil, "health", "--admin", admin, "--tls-ca-file", dir+"/ca.crt")
		return code == 0
	})
	out, _, code := cluster.Run(t, nil, "ring", "status", "--json", "--admin", admin, "--tls-ca-file", dir+"/ca.crt", "--tls-cert-file", dir+"/client.alice.crt", "--tls-key-file", dir+"/client.alice.key")
	require.Zero(t, code)
	require.Contains(t, out, `"certificate_expires"`)
	_, stderr, code := cluster.Run(t, nil, "health", "--admin", "https://"+admin)
	require.NotZero(t, code)
	require.Contains(t, stderr, "--tls-ca-file")
	response, err := http.Get("http://" + admin + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
}

// TestRotationUnderLoad: all certificates of a cluster change each second, while clients come and go and peers connect anew, and nobody gets an error.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel()
	patient := []string{"--operation-timeout", "15s"} // a busy machine is no fault of the certificates
	c, dir := startSecured(t, cluster.Config{Node: patient, Proxy: patient})
	addr := c.Proxies[0].Secure
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var clients sync.WaitGroup
	var asked, failed atomic.Int64
	for i := range 4 {
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ { // a new connection each time
				client := secureClient(addr, clientTLS(t, dir, ""))
				if err := client.Incr(context.Background(), fmt.Sprint("n", i)).Err(); err != nil {
					failed.Add(1)
					t.Error(err)
				}
				asked.Add(1)
				client.Close()
			}
		})
	}
	steady := secureClient(addr, clientTLS(t, dir, ""))
	defer steady.Close()
	ca, err := certs.OpenAuthority(dir)
	require.NoError(t, err)
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		for role, name := range map[certs.Role]string{certs.Node: string(rune('a' + round%3)), certs.Proxy: "p1"} {
			cluster.Replace(t, ca, certs.Request{Role: role, Name: name, Dir: dir})
		}
		before := asked.Load()
		require.NoError(t, steady.Set(ctx, "k", round, 0).Err())
		time.Sleep(time.Second) // what is measured is that nothing happens in it
		require.Greater(t, asked.Load(), before)
	}
	cancel()
	clients.Wait()
	require.Zero(t, failed.Load())
	require.Contains(t, c.Proxies[0].Log(), "new certificates are in force")

	// A node that comes back meets the others with what is in the files now.
	c.Nodes[0].Terminate()
	c.Nodes[0].Start()
	c.Nodes[0].AwaitReady()
	require.NoError(t, steady.Set(t.Context(), "k", "v", 0).Err())
}

// TestFromPlainToTLS: a cluster begins to encrypt what is inside while clients go on, process by process.
func TestFromPlainToTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("each process is restarted twice")
	}
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	dir := t.TempDir()
	cluster.MakeCerts(t, dir, c.Nodes)
	client := connect(t, c.Proxies[1].Client)
	for _, mode := range []string{"optional", "required"} {
		for _, m := range append(append([]*cluster.Member{}, c.Nodes...), c.Proxies[0]) {
			m.Args = append(m.Args, "--certs-dir", dir, "--peer-tls", mode)
			m.Terminate()
			m.Start()
			m.AwaitReady()
			require.NoError(t, connect(t, c.Proxies[0].Client).Set(t.Context(), "k", mode, 0).Err())
		}
		if mode == "optional" {
			require.Equal(t, "optional", client.Get(t.Context(), "k").Val(), "who does without is welcome")
			c.Proxies[1].Args = append(c.Proxies[1].Args, "--certs-dir", dir, "--peer-tls", mode)
			c.Proxies[1].Terminate()
			c.Proxies[1].Start()
			c.Proxies[1].AwaitReady()
		}
	}
	require.Equal(t, "required", connect(t, c.Proxies[1].Client).Get(t.Context(), "k").Val())
}

// TestChangeCertificates executes the commands of the section of docs/operations.md, on a cluster that has keys of gossip, too.
func TestChangeCertificates(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands wait")
	}
	t.Parallel()
	text, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Change certificates\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var scripts []string
	for paragraph := range strings.SplitSeq(section, "\n\n") {
		if strings.HasPrefix(paragraph, "    ") {
			scripts = append(scripts, paragraph)
		}
	}
	require.Len(t, scripts, 3)

	work := t.TempDir()
	ca, dir := filepath.Join(work, "ca"), filepath.Join(work, "certs")
	cluster.MakeCerts(t, dir, []*cluster.Member{{Node: "a"}, {Node: "b"}, {Node: "c"}})
	require.NoError(t, os.CopyFS(ca, os.DirFS(dir)))
	require.NoError(t, os.Remove(filepath.Join(dir, certs.CAKeyFile)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gossip.keys"), []byte("secret\n"), 0o600))
	secret := []string{"--secret", "of the test"}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Certs: dir, Node: append(secret, "--gossip-key-file", filepath.Join(dir, "gossip.keys")), Proxy: secret})
	quoll := cluster.QuollDir(t)
	for _, script := range scripts {
		shell := exec.Command("sh", "-ec", script)
		shell.Dir, shell.Env = work, []string{"PATH=" + quoll + ":" + os.Getenv("PATH")}
		out, err := shell.CombinedOutput()
		require.NoError(t, err, "%s\n%s", script, out)
		require.NoError(t, connect(t, c.Proxies[0].Client).Set(t.Context(), "k", "v", 0).Err())
	}
	cluster.Await(t, "the keys are in force", func() bool { return strings.Count(c.Nodes[0].Log(), "new keys of gossip are in force") == 3 })
	for _, m := range c.Nodes { // they meet with what is in the files now
		m.Terminate()
		m.Start()
		m.AwaitReady()
		require.NotContains(t, m.Log(), "make no sense")
	}
	client := secureClient(c.Proxies[0].Secure, clientTLS(t, dir, ""))
	defer client.Close()
	require.NoError(t, client.Ping(t.Context()).Err())
	conn, err := tls.Dial("tcp", c.Proxies[0].Secure, clientTLS(t, ca, ""))
	if err == nil {
		_, err = io.WriteString(conn, "PING\r\n")
	}
	require.ErrorContains(t, err, "unknown authority", "the old CA is gone")
}
