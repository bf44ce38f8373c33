//go:build unix

package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// loggedIn returns a client of a proxy, which logs in as a user if that has a name.
func loggedIn(t *testing.T, address, user, password string) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: address, Username: user, Password: password, MaxRetries: -1, ReadTimeout: 15 * time.Second, Protocol: 2, DisableIdentity: true, PoolSize: 1})
	t.Cleanup(func() { client.Close() })
	return client
}

func do(t *testing.T, client *redis.Client, command string) any {
	t.Helper()
	var args []any
	for _, word := range strings.Fields(command) {
		args = append(args, word)
	}
	reply, err := client.Do(t.Context(), args...).Result()
	if err != nil {
		return err.Error()
	}
	return reply
}

// TestUsersAreThoseOfTheCluster: what is changed at one proxy holds at the other within a second, outlives the end of all processes, and when there is no majority nothing is changed, and users go on.
func TestUsersAreThoseOfTheCluster(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: cluster.OnDisk()})
	one, other := c.Proxies[0].Client, c.Proxies[1].Client
	admin := loggedIn(t, one, "", "")

	require.Equal(t, "OK", do(t, admin, "ACL SETUSER alice on >pw ~a* +@read +set +ping"))
	require.Equal(t, int64(0), do(t, admin, "ACL DELUSER nobody"))
	began := time.Now()
	require.Eventually(t, func() bool {
		return do(t, loggedIn(t, other, "alice", "pw"), "ACL WHOAMI") != "" && do(t, loggedIn(t, other, "alice", "pw"), "PING") == "PONG"
	}, time.Second, 5*time.Millisecond)
	t.Logf("the other proxy knew the user after %s", time.Since(began))
	alice := loggedIn(t, other, "alice", "pw")
	require.Equal(t, "OK", do(t, alice, "SET a1 1"))
	require.Contains(t, do(t, alice, "SET b1 1"), "NOPERM this user has no permissions to access one of the keys used as arguments")
	require.Contains(t, do(t, alice, "FLUSHALL"), "NOPERM this user has no permissions to run the 'flushall' command")

	// The default user, too, and with it every connection that comes from now on.
	require.Equal(t, "OK", do(t, admin, "ACL SETUSER default >secret"))
	require.Eventually(t, func() bool { return strings.Contains(do(t, loggedIn(t, other, "", ""), "PING").(string), "NOAUTH") }, time.Second, 5*time.Millisecond)
	root := loggedIn(t, other, "default", "secret")
	require.Equal(t, "PONG", do(t, root, "PING"))

	// Both proxies change users at a time, and no change is lost.
	done := make(chan any, 10)
	for i := range 10 {
		client := loggedIn(t, []string{one, other}[i%2], "default", "secret")
		go func() { done <- do(t, client, "ACL SETUSER u"+string(rune('0'+i))+" on nopass") }()
	}
	for range 10 {
		require.Equal(t, "OK", <-done)
	}
	require.Eventually(t, func() bool { return len(do(t, root, "ACL USERS").([]any)) == 12 }, time.Second, 5*time.Millisecond)
	require.Equal(t, int64(10), do(t, root, "ACL DELUSER u0 u1 u2 u3 u4 u5 u6 u7 u8 u9"))

	// All of it survives.
	if !testing.Short() {
		for _, m := range c.Proxies {
			m.Kill()
		}
		c.KillAll()
		c.StartAll()
		for _, m := range c.Proxies {
			m.Start()
			m.AwaitReady()
		}
	}
	require.Contains(t, do(t, loggedIn(t, one, "", ""), "PING"), "NOAUTH")
	root, alice = loggedIn(t, one, "default", "secret"), loggedIn(t, other, "alice", "pw")
	cluster.Await(t, "this proxy has heard of it", func() bool { return slices.Equal([]any{"alice", "default"}, do(t, root, "ACL USERS").([]any)) })
	require.Contains(t, do(t, alice, "GET b1"), "NOPERM")
	require.Equal(t, "1", do(t, alice, "GET a1"))

	// Who is deleted at one proxy is disconnected from the other.
	require.Equal(t, "OK", do(t, root, "ACL SETUSER bob on nopass +@all ~*"))
	require.Eventually(t, func() bool { return do(t, loggedIn(t, other, "bob", "x"), "PING") == "PONG" }, time.Second, 5*time.Millisecond)
	listens := loggedIn(t, other, "bob", "x")
	waits := make(chan any, 1)
	go func() { waits <- do(t, listens, "BLPOP nothing 30") }()
	require.Eventually(t, func() bool {
		return strings.Contains(do(t, loggedIn(t, other, "default", "secret"), "CLIENT LIST").(string), "cmd=blpop user=bob")
	}, 5*time.Second, 5*time.Millisecond)
	require.Equal(t, int64(1), do(t, root, "ACL DELUSER bob"))
	select {
	case reply := <-waits:
		require.Equal(t, "EOF", reply)
	case <-time.After(5 * time.Second):
		t.Fatal("a client whose user was deleted goes on waiting")
	}

	// Without a majority nothing is changed, and who is known can log in.
	c.Kill(c.Nodes[1], c.Nodes[2])
	refused := do(t, root, "ACL SETUSER carol on nopass")
	require.Regexp(t, "^(ERR the users were not changed|UNKNOWN the change of users was proposed|CLUSTERDOWN no node can be asked).*quoll ring status", refused)
	require.Equal(t, []any{"alice", "default"}, do(t, root, "ACL USERS"))
	require.Equal(t, "PONG", do(t, loggedIn(t, other, "alice", "pw"), "PING"))
}

// TestUsersOfAFile: a proxy with an ACL file has the users of that, and not those of the cluster.
func TestUsersOfAFile(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1"}})
	require.Equal(t, "OK", do(t, loggedIn(t, c.Proxies[0].Client, "", ""), "ACL SETUSER alice on nopass"))
	path := filepath.Join(t.TempDir(), "users.acl")
	require.NoError(t, os.WriteFile(path, []byte("user default on >secret ~* &* +@all\nuser bob on >pw ~b* +@all\n"), 0o600))

	address := cluster.FreeAddress(t)
	proxy := cluster.NewProcess(t, "proxy with file", "proxy", "--listen", address, "--admin", cluster.FreeAddress(t), "--nodes", c.Nodes[0].Peer, "--acl-file", path)
	proxy.Start()
	root := loggedIn(t, address, "default", "secret")
	cluster.Await(t, "the proxy serves", func() bool { return do(t, root, "PING") == "PONG" && do(t, root, "SET k v") == "OK" })
	require.Equal(t, []any{"bob", "default"}, do(t, root, "ACL USERS"))
	require.Equal(t, "OK", do(t, root, "ACL SETUSER carol on nopass"))
	require.Equal(t, "OK", do(t, root, "ACL SAVE"))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "user carol on nopass resetchannels -@all\n")
	require.NotContains(t, string(text), "pw")

	require.NoError(t, os.WriteFile(path, []byte("user dave on nopass\nuser eve +nonsense\n"), 0o600))
	require.Contains(t, do(t, root, "ACL LOAD"), path+":2: Error in applying operation '+nonsense': Unknown command or category name in ACL. WARNING: ACL errors detected, no change")
	require.Equal(t, []any{"bob", "carol", "default"}, do(t, root, "ACL USERS"))
	bob := loggedIn(t, address, "bob", "pw")
	require.Equal(t, "OK", do(t, bob, "SET b 1"))
	before := do(t, bob, "CLIENT ID")
	require.NoError(t, os.WriteFile(path, []byte("user default on >secret ~* &* +@all\nuser bob on >pw ~c* +@all\n"), 0o600))
	require.Equal(t, "OK", do(t, root, "ACL LOAD"))
	require.Equal(t, []any{"bob", "default"}, do(t, root, "ACL USERS"))
	require.NotEqual(t, before, do(t, bob, "CLIENT ID"), "as in Redis who is not the default user was disconnected")
	require.Contains(t, do(t, bob, "SET b 1"), "NOPERM")

	require.NoError(t, os.WriteFile(path, []byte("user dave on nopass\nnonsense\n"), 0o600))
	_, stderr, code := cluster.Run(t, nil, "proxy", "--listen", cluster.FreeAddress(t), "--admin", cluster.FreeAddress(t), "--nodes", c.Nodes[0].Peer, "--acl-file", path)
	require.NotZero(t, code)
	require.Contains(t, stderr, path+":2 should start with user keyword followed by the username")
}

// TestTheCommandsOfTheUsersPageWork executes what docs/security.md shows.
func TestTheCommandsOfTheUsersPageWork(t *testing.T) {
	if _, err := exec.LookPath("redis-cli"); err != nil {
		t.Skip("redis-cli is not installed (apt-get install redis-tools): the commands of docs/security.md are not executed")
	}
	page, err := os.ReadFile("../docs/security.md")
	require.NoError(t, err)
	address := cluster.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	dev := cluster.NewProcess(t, "quoll dev", "dev", "--listen", address)
	dev.Start()
	dev.AwaitLog("Quoll runs")
	executed := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "    redis-cli -p 6379 ") {
			continue
		}
		executed++
		command := exec.Command("sh", "-c", strings.Replace(line, "6379", port, 1))
		out, err := command.Output()
		require.NoError(t, err, line)
		require.NotRegexp(t, "(ERR|NOAUTH|NOPERM|WRONGPASS) ", string(out), line)
	}
	require.Equal(t, 8, executed)
	require.Contains(t, do(t, loggedIn(t, address, "", ""), "PING"), "NOAUTH")
}
