//go:build unix

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

var (
	hostileFor  = flag.Duration("hostile", 5*time.Second, "how long TestHostile attacks a cluster")
	hostileSeed = flag.Uint64("hostile-seed", 0, "its seed; 0 for another one each time")
)

const (
	hostilePassword = "open sesame"
	hostileMemory   = 512 // MiB that each process of the cluster may take: --memory
)

// TestHostile attacks a cluster with TLS and users in all ways at once, from outside: without its password, its secret and its certificates, with certificates that are wrong, stolen or of no
// use, and as a client who has the password and takes what he can. Somebody who works meanwhile gets no error, nor does somebody who connects anew each time; how much slower they are is printed. Afterwards
// each process lives, has kept its bound of memory, has given back connections and goroutines, and nothing that was acknowledged is gone. Each attack counts what it achieved: one that does nothing fails the test.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	seed := *hostileSeed
	if seed == 0 {
		seed = uint64(rand.Uint32()) + 1
	}
	t.Logf("again: make hostile T=%v SEED=%d", *hostileFor, seed)
	c, targets := startHostile(t)
	members := append(slices.Clone(c.Nodes), c.Proxies...)
	before := map[string]float64{}
	for _, m := range members {
		before[m.Name] = goroutines(t, m)
	}
	v, newcomer := newVictim(t, targets.client), &newcomer{h: targets}
	rest := v.work(*hostileFor / 5)
	var wait sync.WaitGroup
	ctx, end := context.WithTimeout(t.Context(), *hostileFor)
	defer end()
	for i, attack := range hostileAttacks {
		wait.Go(func() { attack.run(ctx, targets, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	most := map[string]int{}
	wait.Go(func() { // looks at memory
		for ctx.Err() == nil {
			for _, m := range members {
				most[m.Name] = max(most[m.Name], resident(t, m.Process))
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	wait.Go(func() { newcomer.work(ctx) })
	attacked := v.work(*hostileFor)
	wait.Wait()

	t.Logf("seed %d, %v: at rest %v; attacked %v: p99 %.1f times as long; new connections: %v", seed, *hostileFor, rest, attacked, attacked.p99.Seconds()/rest.p99.Seconds(), newcomer.latency())
	t.Logf("done: %s", counts(targets.done.of))
	require.Zero(t, v.failed, "somebody who worked got errors; the last: %v", v.last)
	require.Zero(t, newcomer.failed, "somebody who connected got errors; the last: %v", newcomer.last)
	v.requireNothingLost()
	var wanted []string
	for _, attack := range hostileAttacks {
		wanted = append(wanted, attack.effects...)
	}
	if *hostileFor >= 15*time.Second { // there each has five seconds, whoever waits
		wanted = append(wanted, stalledEffect+"peers", stalledEffect+"admin")
	}
	missing := slices.DeleteFunc(wanted, func(effect string) bool { return targets.done.of[effect] > 0 })
	require.Empty(t, missing, "attacks did not do what they are for")
	metrics, err := metricsOf(t, c.Proxies[0])
	require.NoError(t, err)
	require.GreaterOrEqual(t, int(metrics["quoll_proxy_failed_tls_handshakes_total"]), targets.done.of["clients refuse the certificate of: expired client"]+targets.done.of["old versions of TLS refused: clients"])
	require.Positive(t, metrics["quoll_proxy_stalled_tls_handshakes_total"])
	for _, m := range members {
		require.True(t, m.Running(), m.Name)
		m.AwaitReady()
		t.Logf("%s: %d MiB at most, of %d MiB", m.Name, most[m.Name]>>10, hostileMemory)
		require.LessOrEqual(t, most[m.Name]>>10, hostileMemory*12/10+256, "MiB of %s", m.Name)
		cluster.Await(t, m.Name+" has given back its goroutines", func() bool { return goroutines(t, m) < before[m.Name]+50 })
	}
}

// startHostile starts the cluster that is attacked. Its proxy serves clients with TLS and without, and the admin API by HTTPS; the nodes serve that by HTTP.
func startHostile(t *testing.T) (*cluster.Cluster, hostileTargets) {
	own, dir := []string{"--secret", cluster.Secret, "--memory", fmt.Sprintf("%dMiB", hostileMemory)}, t.TempDir()
	cluster.MakeCerts(t, dir, []*cluster.Member{{Node: "a"}, {Node: "b"}, {Node: "c"}})
	c := cluster.Start(t, cluster.Config{
		Nodes: 3, Proxies: 1, Certs: dir, Node: own,
		Proxy: append([]string{
			"--password", hostilePassword, "--max-clients", "1000", "--login-timeout", "2s", "--admin-tls",
			"--tls-client-auth", "required", "--tls-auth-clients-user", "CN",
		}, own...),
	})
	proxy, node := c.Proxies[0], c.Nodes[0]
	return c, hostileTargets{
		t: t, client: proxy.Client, secure: proxy.Secure, peer: node.Peer, gossip: node.Gossip, admins: []string{node.AdminURL(), proxy.AdminURL()}, adminTLS: proxy.Admin,
		tcp:    []string{proxy.Client, proxy.Secure, node.Peer, node.Gossip, node.Admin, proxy.Admin},
		stolen: steal(t, dir), done: &tally{of: map[string]int{}},
	}
}

// goroutines is how many a process has.
func goroutines(t testing.TB, m *cluster.Member) float64 {
	found, err := metricsOf(t, m)
	require.NoError(t, err)
	return found["go_goroutines"]
}

// hostileTargets are the ports of a cluster, and what somebody may have stolen of it.
type hostileTargets struct {
	t                    *testing.T
	client, peer, gossip string
	secure, adminTLS     string // where clients and operators are served with TLS
	admins               []string
	tcp                  []string // all ports that take connections
	stolen               hostileCerts
	done                 *tally
}

// did counts what an attack has achieved.
func (h hostileTargets) did(effect string) {
	h.done.mu.Lock()
	defer h.done.mu.Unlock()
	h.done.of[effect]++
}

type tally struct {
	mu sync.Mutex
	of map[string]int
}

// hostileAttacks each go on until ctx ends. An error means that the cluster has defended itself, or that this machine has no more ports: they go on after it.
var hostileAttacks = []struct {
	effects []string // what has to be counted once at least
	run     func(ctx context.Context, h hostileTargets, random *rand.Rand)
}{
	{[]string{"torn packets", "torn packets within TLS"}, tornPackets},
	{[]string{"connections that say nearly nothing"}, slowLoris},
	{[]string{"connections that say nothing"}, idlers},
	{[]string{"gossip of strangers"}, forgedGossip},
	{[]string{"wrong secrets refused"}, wrongSecrets},
	{[]string{"wrong passwords refused"}, wrongPasswords},
	{[]string{"pipelines that are never read"}, neverRead},
	{[]string{"commands that are never finished"}, halfSent},
	{[]string{"handshakes of peers that stall"}, stalledHandshakes},
	{effectsOf(wrongCertificateKinds), wrongCertificates},
	{[]string{"old versions of TLS refused: clients", "old versions of TLS refused: peers", "old versions of TLS refused: admin"}, oldVersions},
	{[]string{stalledEffect + "clients"}, stalledTLS},
	{[]string{"handshakes of TLS cut off: clients", "handshakes of TLS cut off: peers", "handshakes of TLS cut off: admin"}, cutHandshakes},
	{[]string{"renegotiations refused: clients", "renegotiations refused: admin"}, renegotiations},
	{effectsOf(impostorKinds), impostors},
	{[]string{"handshakes of peers recorded", "replayed frames of peers refused", "replayed TLS of peers refused"}, replays},
	{append(effectsOf(changesOfUser), userEffects...), changedUsers},
}

// effectsOf are those of each kind of an attack.
func effectsOf[K interface{ effect() string }](kinds []K) (effects []string) {
	for _, kind := range kinds {
		effects = append(effects, kind.effect())
	}
	return effects
}

// each calls try until ctx ends, with a pause after each call.
func each(ctx context.Context, pause time.Duration, try func()) {
	for ctx.Err() == nil {
		try()
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// dialHostile connects for as long as ctx goes on. It returns nil if that fails.
func dialHostile(ctx context.Context, address string) net.Conn {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return conn
}
