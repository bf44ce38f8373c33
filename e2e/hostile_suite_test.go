//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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

// TestHostile attacks a cluster in all ways at once, from outside, without its password and its secret, and as a client who has the password
// and takes what he can. Somebody who works meanwhile gets no error; how much slower he is is printed. Afterwards
// each process lives, has kept its bound of memory, has given back connections and goroutines, and nothing that was acknowledged is gone.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	seed := *hostileSeed
	if seed == 0 {
		seed = uint64(rand.Uint32()) + 1
	}
	t.Logf("again: make hostile T=%v SEED=%d", *hostileFor, seed)
	memory := fmt.Sprintf("%dMiB", hostileMemory)
	c := cluster.Start(t, cluster.Config{
		Nodes: 3, Proxies: 1, Node: []string{"--secret", cluster.Secret, "--memory", memory},
		Proxy: []string{"--secret", cluster.Secret, "--password", hostilePassword, "--max-clients", "1000", "--login-timeout", "2s", "--memory", memory},
	})
	members := append(slices.Clone(c.Nodes), c.Proxies...)
	before := map[string]float64{}
	for _, m := range members {
		before[m.Name] = goroutines(t, m)
	}
	v := newVictim(t, c.Proxies[0].Client)
	rest := v.work(*hostileFor / 5)
	var wait sync.WaitGroup
	ctx, end := context.WithTimeout(t.Context(), *hostileFor)
	defer end()
	targets := hostileTargets{t: t, client: c.Proxies[0].Client, peer: c.Nodes[0].Peer, gossip: c.Nodes[0].Gossip, admins: []string{c.Nodes[0].Admin, c.Proxies[0].Admin}}
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
	attacked := v.work(*hostileFor)
	wait.Wait()

	t.Logf("seed %d, %v: at rest %v; attacked %v: p99 %.1f times as long", seed, *hostileFor, rest, attacked, attacked.p99.Seconds()/rest.p99.Seconds())
	require.Zero(t, v.failed, "somebody who worked got errors; the last: %v", v.last)
	v.requireNothingLost()
	for _, m := range members {
		require.True(t, m.Running(), m.Name)
		m.AwaitReady()
		t.Logf("%s: %d MiB at most, of %d MiB", m.Name, most[m.Name]>>10, hostileMemory)
		require.LessOrEqual(t, most[m.Name]>>10, hostileMemory*12/10+256, "MiB of %s", m.Name)
		cluster.Await(t, m.Name+" has given back its goroutines", func() bool { return goroutines(t, m) < before[m.Name]+50 })
	}
}

// goroutines is how many a process has.
func goroutines(t testing.TB, m *cluster.Member) float64 {
	found, err := metricsOf(t, m)
	require.NoError(t, err)
	return found["go_goroutines"]
}

// victim is somebody who works while others attack: one key after the other is written and read.
type victim struct {
	t      *testing.T
	redis  *redis.Client
	keys   int
	failed int
	last   error
}

func newVictim(t *testing.T, address string) *victim {
	v := &victim{t: t, redis: redis.NewClient(&redis.Options{Addr: address, Password: hostilePassword, MaxRetries: -1, ReadTimeout: 10 * time.Second, PoolSize: 1})}
	t.Cleanup(func() { _ = v.redis.Close() })
	return v
}

// latency of commands.
type latency struct {
	commands int
	p50, p99 time.Duration
}

func (l latency) String() string {
	return fmt.Sprintf("%d commands, p50 %v, p99 %v", l.commands, l.p50.Round(time.Microsecond), l.p99.Round(time.Microsecond))
}

// work goes on for a while.
func (v *victim) work(d time.Duration) latency {
	var took []time.Duration
	for end := time.Now().Add(d); time.Now().Before(end); v.keys++ {
		key := fmt.Sprint("victim:", v.keys)
		for _, command := range []func() error{
			func() error { return v.redis.Set(v.t.Context(), key, v.keys, 0).Err() },
			func() error { return v.redis.Get(v.t.Context(), key).Err() },
		} {
			began := time.Now()
			if err := command(); err != nil {
				v.failed, v.last = v.failed+1, err
			}
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	return latency{len(took), took[len(took)/2], took[len(took)*99/100]}
}

// requireNothingLost reads all that was written.
func (v *victim) requireNothingLost() {
	for i := range v.keys {
		value, err := v.redis.Get(v.t.Context(), fmt.Sprint("victim:", i)).Int()
		require.NoError(v.t, err)
		require.Equal(v.t, i, value)
	}
}

// hostileTargets are the ports of a cluster.
type hostileTargets struct {
	t                    *testing.T
	client, peer, gossip string
	admins               []string
}

// tcp are all ports that take connections.
func (h hostileTargets) tcp() []string {
	return append([]string{h.client, h.peer, h.gossip}, h.admins...)
}

// hostileAttacks each go on until ctx ends. An error means that the cluster has defended itself, or that this machine has no more ports: they go on after it.
var hostileAttacks = []struct {
	name string
	run  func(ctx context.Context, h hostileTargets, random *rand.Rand)
}{
	{"torn packets", tornPackets},
	{"connections that say nearly nothing", slowLoris},
	{"connections that say nothing", idlers},
	{"gossip of strangers", forgedGossip},
	{"wrong secrets", wrongSecrets},
	{"wrong passwords", wrongPasswords},
	{"pipelines that are never read", neverRead},
	{"commands that are never finished", halfSent},
	{"handshakes that stall", stalledHandshakes},
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

func tornPackets(ctx context.Context, h hostileTargets, random *rand.Rand) {
	packets := hostile()
	each(ctx, time.Millisecond, func() {
		conn := dialHostile(ctx, h.tcp()[random.IntN(5)])
		if conn == nil {
			return
		}
		defer conn.Close()
		packet := packets[random.IntN(len(packets))]
		for len(packet) > 0 {
			n := 1 + random.IntN(len(packet))
			if _, err := conn.Write(packet[:n]); err != nil {
				return
			}
			packet = packet[n:]
		}
	})
}

// slowLoris sends a byte now and then on many connections to each port.
func slowLoris(ctx context.Context, h hostileTargets, random *rand.Rand) {
	var conns []net.Conn
	says := map[string]string{h.client: "*2\r\n$4\r\nAUTH\r\n$16384\r\n", h.peer: "\xff\x00\x00\x00", h.gossip: "\x02"}
	each(ctx, 5*time.Millisecond, func() {
		if len(conns) < 1000 {
			address := h.tcp()[random.IntN(5)]
			if conn := dialHostile(ctx, address); conn != nil {
				first := says[address]
				if first == "" {
					first = "POST /v1/repair HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\nX-A: "
				}
				_, _ = io.WriteString(conn, first)
				conns = append(conns, conn)
			}
		}
		i := random.IntN(len(conns) + 1)
		if i == len(conns) {
			return
		}
		if _, err := conns[i].Write([]byte("a")); err != nil {
			conns[i].Close()
			conns = slices.Delete(conns, i, i+1)
		}
	})
}

// idlers takes more connections of the proxy than there are.
func idlers(ctx context.Context, h hostileTargets, _ *rand.Rand) {
	var conns []net.Conn
	each(ctx, 2*time.Millisecond, func() {
		if conn := dialHostile(ctx, h.client); conn != nil {
			conns = append(conns, conn)
		}
		if len(conns) > 1500 {
			for _, conn := range conns {
				conn.Close()
			}
			conns = nil
		}
	})
}

// forgedGossip sends what memberlist's messages begin with, and noise.
func forgedGossip(ctx context.Context, h hostileTargets, random *rand.Rand) {
	conn, err := net.Dial("udp", h.gossip)
	if err != nil {
		return
	}
	defer conn.Close()
	packet := make([]byte, 1400)
	each(ctx, time.Millisecond, func() {
		for i := range packet {
			packet[i] = byte(random.Uint32())
		}
		packet[0] = byte(random.IntN(16))
		_, _ = conn.Write(packet[:1+random.IntN(len(packet)-1)])
	})
}

func wrongSecrets(ctx context.Context, h hostileTargets, random *rand.Rand) {
	paths := []string{"GET /v1/status", "GET /metrics", "GET /v1/backup", "POST /v1/reform?accept-loss=true", "POST /v1/ring/commit", "GET /debug/pprof/profile?seconds=60"}
	client := http.Client{Timeout: time.Second}
	each(ctx, 2*time.Millisecond, func() {
		method, path, _ := strings.Cut(paths[random.IntN(len(paths))], " ")
		request, err := http.NewRequestWithContext(ctx, method, "http://"+h.admins[random.IntN(2)]+path, bytes.NewReader(make([]byte, random.IntN(10_000))))
		if err != nil {
			return // it is over
		}
		request.Header.Set("Authorization", fmt.Sprint("Bearer ", random.Uint64()))
		response, err := client.Do(request)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			h.t.Errorf("%s %s was answered", method, path)
		}
	})
}

// wrongPasswords guesses, from another address than the victim's: an address that guesses is not listened to.
func wrongPasswords(ctx context.Context, h hostileTargets, random *rand.Rand) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 66)}, Timeout: time.Second}
	each(ctx, time.Millisecond, func() {
		conn, err := dialer.DialContext(ctx, "tcp", h.client)
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Second))
		answers := bufio.NewReader(conn)
		for range 100 {
			if _, err := fmt.Fprintf(conn, "AUTH %d\r\n", random.Uint64()); err != nil {
				return
			}
			answer, err := answers.ReadString('\n')
			if err != nil {
				return
			}
			if answer[0] != '-' {
				h.t.Errorf("a guess was answered %q", answer)
			}
		}
	})
}

// letIn connects as somebody who has the password.
func letIn(ctx context.Context, h hostileTargets) net.Conn {
	conn := dialHostile(ctx, h.client)
	if conn == nil {
		return nil
	}
	_, _ = fmt.Fprintf(conn, "AUTH %q\r\n", hostilePassword)
	return conn
}

// neverRead asks for much, and takes nothing of it.
func neverRead(ctx context.Context, h hostileTargets, _ *rand.Rand) {
	value := strings.Repeat("v", 100_000)
	each(ctx, 10*time.Millisecond, func() {
		conn := letIn(ctx, h)
		if conn == nil {
			return
		}
		defer conn.Close()
		_, _ = fmt.Fprintf(conn, "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$%d\r\n%s\r\n", len(value), value)
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		for err := error(nil); err == nil; {
			_, err = io.WriteString(conn, strings.Repeat("GET large\r\n", 1000))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return
			}
		}
	})
}

// halfSent declares a lot, sends a part and goes.
func halfSent(ctx context.Context, h hostileTargets, _ *rand.Rand) {
	part := strings.Repeat("p", 1<<20)
	each(ctx, 50*time.Millisecond, func() {
		conn := letIn(ctx, h)
		if conn == nil {
			return
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(conn, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$67108864\r\n"+part)
		time.AfterFunc(time.Second, func() { conn.Close() })
	})
}

// stalledHandshakes begins what nodes begin, and goes no further; or sends TLS' first message where there may be TLS.
func stalledHandshakes(ctx context.Context, h hostileTargets, random *rand.Rand) {
	begins := []string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\x2c\x00\x00\x00", "QUOLL", "\x00"}
	var conns []net.Conn
	each(ctx, 5*time.Millisecond, func() {
		conn := dialHostile(ctx, h.tcp()[random.IntN(5)])
		if conn == nil {
			return
		}
		_, _ = io.WriteString(conn, begins[random.IntN(len(begins))])
		if conns = append(conns, conn); len(conns) > 500 {
			conns[0].Close()
			conns = conns[1:]
		}
	})
}
