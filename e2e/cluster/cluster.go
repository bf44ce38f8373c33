//go:build unix

package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Config says what to run. Node and Proxy are arguments for every one of them. With
// Faults the peer transport obeys Cluster.SetFaults, and the cluster has a secret.
type Config struct {
	Nodes, Proxies int
	Node, Proxy    []string
	Faults         bool
	// Serving: nodes serve clients themselves, too.
	Serving bool
	// ReplicaPorts: such nodes have a replica port, too. They want --cluster-enabled among Node.
	ReplicaPorts bool
	// Engine is the nodes' --engine, Fsync and Cache are settings of it. Empty ones are left
	// to quoll.
	Engine, Fsync, Cache string
	// InMemory names nodes that keep their data in memory, whatever Engine says.
	InMemory []string
	// Data is where nodes with the engine badger keep their data, each in a directory of its
	// own name. Without it, it is a directory of the test's; if the test fails it is kept
	// among the artefacts.
	Data string
	// Certs is a directory with certificates, as MakeCerts makes them: processes speak TLS with each other, and proxies also with clients. With $QUOLL_TLS all clusters have one.
	Certs string
	// Binary is the quoll to run instead of the one that is built for all tests.
	Binary string
}

// Member is a node or a proxy with its addresses.
type Member struct {
	*Process
	// Node is the node's name in the initial cluster: a, b, c, ...
	Node string
	// Client is where a proxy, or a node that does so, serves clients; Secure where it does so with TLS, if the cluster has certificates; Peer and Gossip are a node's.
	Client, Secure, Peer, Gossip string
	// Replica is the replica port of a node that serves clients, SecureReplica that with TLS.
	Replica, SecureReplica string
	Admin                  string
	// Data is a node's data directory, empty if it has none.
	Data string

	rules []Rule        // in force
	clock time.Duration // by which it is ahead
}

// Kill ends the process with SIGKILL and waits until it is gone, and its faults with it.
func (m *Member) Kill() {
	m.Process.Kill()
	m.rules, m.clock = nil, 0
}

// Cluster is a number of nodes and proxies.
type Cluster struct {
	t              testing.TB
	cfg            Config
	Nodes, Proxies []*Member
	// Initial is the initial cluster.
	Initial string

	injected Injected // by rules that were replaced
}

// New returns a cluster that is not started.
func New(t testing.TB, cfg Config) *Cluster {
	c := &Cluster{t: t, cfg: cfg}
	var initial, peers []string
	for i := range cfg.Nodes {
		m := &Member{Node: string(rune('a' + i)), Peer: FreeAddress(t), Gossip: FreeAddress(t), Admin: FreeAddress(t)}
		c.Nodes = append(c.Nodes, m)
		initial, peers = append(initial, m.Node+"="+m.Peer), append(peers, m.Peer)
	}
	c.Initial = strings.Join(initial, ",")
	store := cfg.store(t, c.Nodes)
	var secured []string
	if cfg.withTLS() {
		c.cfg.Certs = cfg.certsDir(t, c.Nodes)
		secured = []string{"--certs-dir", c.cfg.Certs}
	}
	for _, m := range c.Nodes {
		args := []string{"node", "--name", m.Node, "--peer", m.Peer, "--gossip", m.Gossip, "--admin", m.Admin, "--initial-cluster", c.Initial}
		if cfg.Serving {
			m.Client = FreeAddress(t)
			args = append(args, "--listen", m.Client)
			if secured != nil {
				m.Secure = FreeAddress(t)
				args = append(args, "--tls-listen", m.Secure)
			}
			if cfg.ReplicaPorts {
				args = append(args, m.replicaPorts(t, secured != nil)...)
			}
		}
		m.Process = NewProcess(t, "node "+m.Node, slices.Concat(args, store(m), secured, cfg.Node)...)
	}
	for i := range cfg.Proxies {
		m := &Member{Client: FreeAddress(t), Admin: FreeAddress(t)}
		args := []string{"proxy", "--listen", m.Client, "--admin", m.Admin, "--nodes", strings.Join(peers, ",")}
		if secured != nil {
			m.Secure = FreeAddress(t)
			args = append(args, "--tls-listen", m.Secure)
		}
		m.Process = NewProcess(t, fmt.Sprint("proxy ", i+1), slices.Concat(args, secured, cfg.Proxy)...)
		c.Proxies = append(c.Proxies, m)
	}
	for _, m := range c.members() {
		c.arm(m)
	}
	return c
}

// replicaPorts returns the settings of a node with a replica port.
func (m *Member) replicaPorts(t testing.TB, secured bool) []string {
	m.Replica = FreeAddress(t)
	args := []string{"--replica-listen", m.Replica}
	if secured {
		m.SecureReplica = FreeAddress(t)
		args = append(args, "--replica-tls-listen", m.SecureReplica)
	}
	return args
}

// Start starts a cluster and waits until it is ready.
func Start(t testing.TB, cfg Config) *Cluster {
	c := New(t, cfg)
	for _, m := range c.members() {
		m.Start()
	}
	for _, m := range c.members() {
		m.AwaitReady()
	}
	return c
}

func (c *Cluster) members() []*Member { return append(append([]*Member{}, c.Nodes...), c.Proxies...) }

// Clients returns the addresses of the proxies, and of nodes that serve clients.
func (c *Cluster) Clients() []string {
	var addresses []string
	for _, m := range slices.Concat(c.Proxies, c.Nodes) {
		if m.Client != "" {
			addresses = append(addresses, m.Client)
		}
	}
	return addresses
}

// AdminURL is where the process serves the admin API.
func (m *Member) AdminURL() string {
	if slices.Contains(m.Args, "--admin-tls") {
		return "https://" + m.Admin
	}
	return "http://" + m.Admin
}

// AdminTransport is for clients of AdminURL. They look at processes of their own and trust them: whether a certificate is right is for other tests.
var AdminTransport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}

// SecureClients is Clients with TLS.
func (c *Cluster) SecureClients() []string {
	var addresses []string
	for _, m := range slices.Concat(c.Proxies, c.Nodes) {
		if m.Secure != "" {
			addresses = append(addresses, m.Secure)
		}
	}
	return addresses
}

var admin = &http.Client{Timeout: 2 * time.Second, Transport: AdminTransport}

// AwaitReady waits until the process says that it can serve.
func (m *Member) AwaitReady() {
	Await(m.t, m.Name+" is ready", func() bool {
		if !m.Running() {
			require.FailNow(m.t, m.Name+" ended instead of becoming ready")
		}
		ready, _ := m.Ready()
		return ready
	})
}

// AwaitAlive waits until the process answers at its admin port.
func (m *Member) AwaitAlive() {
	Await(m.t, m.Name+" is alive", func() bool {
		response, err := admin.Get(m.AdminURL() + "/healthz")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
}

// Ready asks the process once whether it can serve, and returns what it says.
func (m *Member) Ready() (ready bool, text string) {
	request, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, m.AdminURL()+"/readyz", nil)
	require.NoError(m.t, err)
	request.Header.Set("Authorization", "Bearer "+Secret) // strangers are not told why
	response, err := admin.Do(request)
	if err != nil {
		return false, err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode == http.StatusOK, string(body)
}

// Run runs quoll to its end and returns its output and exit code.
func Run(t testing.TB, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return RunFor(t, patience, env, args...)
}

// RunFor is Run of what may take so long.
func RunFor(t testing.TB, limit time.Duration, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	lookAtSources(t)
	var out, errs strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(environment(), env...), &out, &errs
	err := cmd.Run()
	if !errors.As(err, new(*exec.ExitError)) {
		require.NoError(t, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// RunJSON runs quoll and decodes what it prints.
func RunJSON[T any](t testing.TB, args ...string) (value T, code int) {
	t.Helper()
	stdout, stderr, code := Run(t, nil, args...)
	require.NoError(t, json.Unmarshal([]byte(stdout), &value), "quoll %v: %s", args, stderr)
	return value, code
}
