package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
)

// cluster is a Backend with a cluster that a test makes up.
type cluster struct {
	ready    error
	status   admin.Status
	location admin.Location
	key      string
}

func (c *cluster) Ready(context.Context) error                  { return c.ready }
func (c *cluster) Status(context.Context) (admin.Status, error) { return c.status, nil }
func (c *cluster) Locate(_ context.Context, _ int, key []byte) (admin.Location, error) {
	c.key = string(key)
	return c.location, nil
}

func (c *cluster) serve(t *testing.T, secret string) (address string) {
	return serveBackend(t, c, secret)
}

func serveBackend(t *testing.T, b admin.Backend, secret string) (address string) {
	server := httptest.NewServer(admin.NewHandler(b, http.NotFoundHandler(), admin.Access{Secret: secret}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func healthy() admin.Status {
	node := func(id uint16, name string, slots int, seen map[string]string) admin.NodeStatus {
		return admin.NodeStatus{
			Name: name, ID: id, Peer: "127.0.0.1:70" + string(rune('0'+id)) + "0", Rack: "r" + name, Version: "v0.1.0", Generation: "1f",
			State: admin.Voting, HomeSlots: slots, ReplicaSlots: 16384, LeadingSlots: slots,
			Keys: 1200, Tombstones: 3, Bytes: 77 << 10, UptimeSeconds: 3723, SeenBy: seen,
		}
	}
	return admin.Status{Cluster: "quoll", Epoch: 1, Formed: true, Replicas: 3, Seen: "proxy 127.0.0.1:6379", Nodes: []admin.NodeStatus{
		node(1, "a", 5462, map[string]string{"b": "alive", "c": "alive"}),
		node(2, "b", 5461, map[string]string{"a": "alive", "c": "suspect"}),
		node(3, "c", 5461, nil),
	}, Survival: &admin.Survival{Failures: 1, Slots: 16384}, Deciders: &admin.Deciders{Voters: []admin.RingDecider{{Name: "a", Alive: true}, {Name: "b", Alive: true}}, Leader: "b", Decides: true}}
}

func TestRingStatusOfAHealthyCluster(t *testing.T) {
	c := &cluster{status: healthy()}
	address := c.serve(t, "")
	code, stdout, stderr := newShell().run("ring", "status", "--admin", address)
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, `Cluster quoll, epoch 1: 3 nodes, 3 replicas of each key. Asked: proxy 127.0.0.1:6379.
Every slot survives 1 more failure.
Changes of the ring are decided by a, b; b leads.

NODE  STATE   RACK  PEER            HOME  REPLICA  LEADS  KEYS  DELETED  DATA     VERSION  UP      SEEN AS
a     voting  ra    127.0.0.1:7010  5462  16384    5462   1200  3        77.0KiB  v0.1.0   1h2m3s  alive
b     voting  rb    127.0.0.1:7020  5461  16384    5461   1200  3        77.0KiB  v0.1.0   1h2m3s  alive by a; suspect by c
c     voting  rc    127.0.0.1:7030  5461  16384    5461   1200  3        77.0KiB  v0.1.0   1h2m3s  -
`, stdout)

	s := newShell()
	s.environ = []string{"QUOLL_ADMIN=" + address}
	code, stdout, _ = s.run("ring", "status", "-o", "json")
	require.Equal(t, exitOK, code)
	var back admin.Status
	require.NoError(t, json.Unmarshal([]byte(stdout), &back))
	require.Equal(t, c.status, back)
}

// TestRingStatusSaysThatTheRingMoves: which nodes come and go, and how far that is.
func TestRingStatusSaysThatTheRingMoves(t *testing.T) {
	m := ringOf(t, 3, 1)
	o := m.operator(t)
	o.does("ring plan replace n3 n4")
	o.does("ring commit")
	m.move(t, 100)
	m.status = healthy()
	for i := range m.status.Nodes {
		m.status.Nodes[i].Name = "n" + string(rune('1'+i))
	}
	m.status.Describe(m.document)
	text := o.does("ring status")
	require.Contains(t, text, "Plan "+m.document.Plan.ID+" is under way: 100 of 16384 slots have moved: see quoll ring watch.\n")
	require.Regexp(t, `n3 +voting, leaving +r3 `, text)
	require.Regexp(t, `n2 +voting +r2 `, text)
	o.does("ring abort")
	o.does("ring pause")
	m.status.Describe(m.document)
	require.Contains(t, m.status.Moves, "is being undone: 16284 of 16384 slots are where they were, and the ring is paused")
}

func TestRingStatusOfASickClusterEndsWithCode3(t *testing.T) {
	c := &cluster{status: healthy()}
	c.status.Nodes[0].State, c.status.Nodes[0].Reason = admin.LostState, "restarted with an empty memory engine"
	c.status.Nodes[1] = admin.NodeStatus{Name: "b", Peer: "127.0.0.1:7020", State: admin.Unreachable, Reason: "connection refused\x1b[2J", HomeSlots: 5461, ReplicaSlots: 16384}
	c.status.Nodes, c.status.Survival = c.status.Nodes[:2], &admin.Survival{NoMajority: 16384}
	c.status.Warnings = []string{"versions differ"}
	address := c.serve(t, "")
	code, stdout, stderr := newShell().run("ring", "status", "--admin", address)
	require.Equal(t, exitUnhealthy, code)
	require.Empty(t, stderr)
	require.Equal(t, `Cluster quoll, epoch 1: 2 nodes, 3 replicas of each key. Asked: proxy 127.0.0.1:6379.
No slot has a majority: commands are refused.
Changes of the ring are decided by a, b; b leads.

NODE  STATE        RACK  PEER            HOME  REPLICA  LEADS  KEYS  DELETED  DATA     VERSION  UP      SEEN AS
a     lost-state   ra    127.0.0.1:7010  5462  16384    5462   1200  3        77.0KiB  v0.1.0   1h2m3s  alive
b     unreachable  -     127.0.0.1:7020  5461  16384    -      -     -        -        -        -       -

Not healthy: node a does not vote: lost-state: restarted with an empty memory engine
Not healthy: "node b does not vote: unreachable: connection refused\x1b[2J"
Warning: versions differ
`, stdout)

	code, _, _ = newShell().run("ring", "status", "--admin", address, "-o", "json")
	require.Equal(t, exitUnhealthy, code)
}

func TestRingStatusWithDisks(t *testing.T) {
	c := &cluster{status: healthy()}
	for i := range 2 { // the third one keeps all in memory
		n := &c.status.Nodes[i]
		n.Engine, n.Fsync = "badger", "always"
		n.Disk = &admin.Disk{Bytes: 3 << 30, Live: 2 << 30, Dead: 700 << 20, Journal: 256 << 20, Free: 40 << 30}
	}
	c.status.Nodes[1].Fsync, c.status.Nodes[1].Disk = "interval=100ms", &admin.Disk{Bytes: 4096}
	c.status.Nodes[1].Full = "12.0MiB are free, 64.0MiB are needed"
	c.status.Nodes[0].DamagedSlots, c.status.Nodes[0].Damage = 1, "slot 77: corrupt data"
	c.status.Nodes[2].DamagedSlots, c.status.Nodes[2].Damage = 3, "slot 5: corrupt data"
	address := c.serve(t, "")
	code, stdout, _ := newShell().run("ring", "status", "--admin", address)
	require.Equal(t, exitUnhealthy, code)
	_, below, _ := strings.Cut(stdout, "suspect by c\n")
	require.Equal(t, `c     voting  rc    127.0.0.1:7030  5461  16384    5461   1200  3        77.0KiB  v0.1.0   1h2m3s  -

NODE  ENGINE  FSYNC           ON DISK  LIVE    DEAD            JOURNAL   FREE
a     badger  always          3.0GiB   2.0GiB  700.0MiB (25%)  256.0MiB  40.0GiB
b     badger  interval=100ms  4.0KiB   0B      0B              0B        0B

Not healthy: node a does not vote for 1 slot, which is damaged: slot 77: corrupt data
Not healthy: node b has no room for writes: 12.0MiB are free, 64.0MiB are needed
Not healthy: node c does not vote for 3 slots, which are damaged: slot 5: corrupt data
`, below)
	for line := range strings.Lines(below) {
		require.LessOrEqual(t, len(line), 120)
	}

	code, stdout, _ = newShell().run("ring", "status", "-o", "json", "--admin", address)
	require.Equal(t, exitUnhealthy, code)
	var back admin.Status
	require.NoError(t, json.Unmarshal([]byte(stdout), &back))
	require.Equal(t, c.status, back)
}

func TestRingLocate(t *testing.T) {
	expiry := time.Date(2030, 1, 2, 3, 4, 5, 678e6, time.UTC)
	c := &cluster{location: admin.Location{Slot: 10778, Epoch: 1, Home: "b", Survives: 1, Replicas: []admin.ReplicaHolding{
		{Node: "a", State: admin.Voting, Preferred: true, Present: true, Tombstone: true, Version: "3.1.9"},
		{Node: "b", State: admin.Voting, Home: true, Present: true, Version: "5.2.17", Type: "string", Size: 5, ExpireAt: &expiry},
		{Node: "c", State: admin.Unreachable, Error: "no answer in time"},
		{Node: "d", State: admin.Voting},
		{Node: "e", State: admin.Voting, Home: true, Preferred: true, Present: true, Version: "5.2.17", Type: "string", Size: 5 << 20},
	}}}
	address := c.serve(t, "")
	code, stdout, stderr := newShell().run("ring", "locate", "--admin", address, "user:\n1")
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, "user:\n1", c.key)
	require.Equal(t, `Key "user:\n1": slot 10778, epoch 1, home b. It survives 1 more failure.

REPLICA  ROLE             STATE        HOLDS       VERSION  TYPE    SIZE    EXPIRES
a        preferred        voting       a deletion  3.1.9    -       -       -
b        home             voting       a value     5.2.17   string  5B      2030-01-02T03:04:05.678Z
c        -                unreachable  ?           -        -       -       -
d        -                voting       nothing     -        -       -       -
e        home, preferred  voting       a value     5.2.17   string  5.0MiB  never

No answer from c: no answer in time
`, stdout)

	code, stdout, _ = newShell().run("ring", "locate", "--admin", address, "-o", "json", "--", "-k")
	require.Equal(t, exitOK, code)
	var back admin.Location
	require.NoError(t, json.Unmarshal([]byte(stdout), &back))
	require.Equal(t, "-k", back.Key)
	require.Equal(t, c.location.Replicas, back.Replicas)

	c.location = admin.Location{}
	_, stdout, _ = newShell().run("ring", "locate", "--admin", address, "")
	require.Contains(t, stdout, `Key "": slot 0, epoch 0, no node leads it at the moment.`)
}

func TestRingWithASecret(t *testing.T) {
	address := (&cluster{status: healthy()}).serve(t, "hush")
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("hush\n"), 0o600))
	code, _, stderr := newShell().run("ring", "status", "--admin", address, "--secret-file", path)
	require.Equal(t, exitOK, code, stderr)
	code, _, stderr = newShell().run("ring", "status", "--admin", address)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "quoll: the admin API asks for the cluster's secret at ")
}

func TestHealth(t *testing.T) {
	c := &cluster{}
	address := c.serve(t, "hush")
	code, stdout, stderr := newShell().run("health", "--admin", address)
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, "ready\n", stdout)

	c.ready = errors.New("waiting for a majority of the nodes")
	code, _, stderr = newShell().run("health", "--admin", address)
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: not ready: why, it tells those who give the cluster's secret, or a token\n", stderr)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hush"), 0o600))
	code, _, stderr = newShell().run("health", "--admin", address, "--secret-file", secret)
	require.Equal(t, exitFailure, code)
	require.Equal(t, "quoll: not ready: waiting for a majority of the nodes\n", stderr)

	code, _, stderr = newShell().run("health", "--admin", "127.0.0.1:1")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "quoll: cannot reach the admin API at http://127.0.0.1:1: connection refused; is a quoll process running there?")
}

func TestVersion(t *testing.T) {
	code, stdout, _ := newShell().run("version")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `^quoll \S+( \([0-9a-f]{1,12}\))?, go1\.\S+, \w+/\w+, peer protocol \d+\n$`, stdout)
	code, stdout, _ = newShell().run("version", "-o", "json")
	require.Equal(t, exitOK, code)
	var b build
	require.NoError(t, json.Unmarshal([]byte(stdout), &b))
	require.Equal(t, thisBuild(), b)
}

func TestHumanBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0B", 1023: "1023B", 1024: "1.0KiB", 3 << 19: "1.5MiB", 1 << 40: "1.0TiB", 1 << 51: "2048.0TiB"} {
		require.Equal(t, want, humanBytes(n))
	}
}

// TestRingAsksTheFirstThatAnswers, and says which ones did not.
func TestRingAsksTheFirstThatAnswers(t *testing.T) {
	c := &cluster{status: healthy()}
	address := c.serve(t, "hush")
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hush"), 0o600))
	s := newShell()
	s.environ = []string{"QUOLL_ADMIN=127.0.0.1:1," + stranger.URL + "," + address + ",127.0.0.1:2", "QUOLL_SECRET_FILE=" + secret}
	code, stdout, stderr := s.run("ring", "status", "--json")
	require.Equal(t, exitOK, code, stderr)
	require.True(t, json.Valid([]byte(stdout)))
	require.Equal(t, "quoll: no answer from http://127.0.0.1:1 (connection refused); another one is asked\n"+
		"quoll: what answers at "+stranger.URL+" is not quoll's admin API (HTTP 404); another one is asked\n", stderr)

	code, stdout, stderr = newShell().run("health", "--admin", "127.0.0.1:1", "--admin", "127.0.0.1:2")
	require.Equal(t, exitFailure, code)
	require.Empty(t, stdout)
	require.Equal(t, "quoll: cannot reach the admin API: no answer from http://127.0.0.1:1 (connection refused); "+
		"no answer from http://127.0.0.1:2 (connection refused); is a quoll process running there? give its address with --admin\n", stderr)
}

func TestBenchAndVerifyReadTheEnvironment(t *testing.T) {
	for _, command := range []string{"bench", "verify"} {
		s := newShell()
		s.environ = []string{"QUOLL_ADDR=nowhere", "QUOLL_PASSWORD_FILE=/none", "QUOLL_PORT=7777"}
		code, _, stderr := s.run(command)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "quoll: addr: \"nowhere\" is not host:port\n")
		require.Contains(t, stderr, "quoll: password-file: cannot be read: open /none: no such file or directory\n")
		require.NotContains(t, stderr, "QUOLL_PORT")
	}
}
