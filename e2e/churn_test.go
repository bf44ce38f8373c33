//go:build unix

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

var (
	churnFor  = flag.Duration("churn", 0, "how long TestChurn changes the rings of clusters, and breaks them; 0 for one short round")
	churnSeed = flag.Uint64("churn-seed", 0, "its seed; 0 for another one each time")
)

// churnRound is how long the ring of one cluster is changed.
const churnRound = 30 * time.Second

// TestChurn changes the ring of a cluster all the time, as operators would that never rest, and breaks the cluster meanwhile: nodes, among them those that
// decide changes of the ring, and proxies die, hang and are cut off, members lose all that they had, nodes come and go. Clients get no wrong answer, and nothing that
// was acknowledged is lost. When all is mended the ring comes to rest, and all replicas hold the same.
// Clusters of an even seed keep their data on disk, so that any number of nodes may die.
func TestChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	d, seed := max(*churnFor, 12*time.Second), *churnSeed
	if seed == 0 {
		seed = uint64(rand.Uint32()) + 1
	}
	rounds := int((d + churnRound - 1) / churnRound)
	for i := range rounds {
		s := seed + uint64(i)
		if !t.Run(fmt.Sprint("seed ", s), func(t *testing.T) { churnRing(t, s, d/time.Duration(rounds)) }) {
			t.Fatalf("round %d of %d failed; as far as real time can be repeated: make churn T=%v SEED=%d", i+1, rounds, d/time.Duration(rounds), s)
		}
	}
}

// churnRing lives with one cluster.
func churnRing(t *testing.T, seed uint64, d time.Duration) {
	random := rand.New(rand.NewPCG(seed, 0))
	cfg, kills := cluster.Config{Nodes: 3, Proxies: 2, Faults: true}, 0
	if seed%2 == 0 {
		cfg.Engine, kills = cluster.OnDisk(), many
	}
	c := cluster.Start(t, cfg)
	l := startLoadOf(t, c.Clients(), loadConfig{impatient: loadClients / 4})
	l.note("seed %d, engine %q", seed, cfg.Engine)
	l.progress(200)
	n := newNemesis(c, l, random, kills)
	n.kinds = append(slices.Clone(faults), comings...)
	for range 2 {
		n.newcomer()
	}
	var admins []string
	for _, m := range c.Nodes {
		admins = append(admins, m.Admin)
	}

	var churning sync.WaitGroup
	var text, errors string
	var code int
	churning.Go(func() {
		text, errors, code = cluster.RunFor(t, d+10*time.Minute, []string{"QUOLL_SECRET=" + cluster.Secret}, "verify", "--json", "--transfers", "--database", verifiedDatabase, "--clients", "4", "--for", d.String(),
			"--addr", strings.Join(c.Clients(), ","), "--churn", strings.Join(admins, ","), "--churn-seed", fmt.Sprint(seed), "--churn-replicas", "3,5")
	})
	awaitVerify(t, c.Proxies[0].Client)
	n.work(d)
	churning.Wait()
	require.Zero(t, code, "%s%s", text, errors)
	l.everybodyIsServed()
	l.stop()
	l.requireWords("CLUSTERDOWN", "TRYAGAIN", "LOADING", "NOTDONE", "UNKNOWN", "ERR", outcome.ClientTimeOut, outcome.ConnectionLost)
	l.requireNothingLost(c.Proxies[0].Client)
	n.requireEqualReplicas()
	var report struct{ Churn, Transfers json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	t.Logf("faults %v; %d commands; transfers: %s; of the ring: %s", n.done, l.done.Load(), report.Transfers, report.Churn)
}

// requireEqualReplicas waits until a comparison of all replicas finds nothing that one has missed. A node that waits to join has none to compare.
func (n *nemesis) requireEqualReplicas() {
	n.l.t.Helper()
	states := n.states()
	i := slices.IndexFunc(n.c.Nodes, func(m *cluster.Member) bool { return states[m.Node] == "active" })
	require.GreaterOrEqual(n.l.t, i, 0, states)
	var stdout, stderr string
	defer func() {
		if n.l.t.Failed() {
			n.l.t.Logf("the last comparison: %s%s", stdout, stderr)
		}
	}()
	require.Eventually(n.l.t, func() bool {
		stdout, stderr, _ = cluster.RunFor(n.l.t, time.Minute, []string{"QUOLL_SECRET=" + cluster.Secret, "QUOLL_ADMIN=" + n.c.Nodes[i].Admin}, "ring", "repair", "--dry-run", "--json")
		var found struct {
			Differing, Unreadable, Failed int
			Done                          bool
			Errors                        []any
		}
		err := json.Unmarshal([]byte(stdout), &found)
		return err == nil && found.Done && found.Differing+found.Unreadable+found.Failed+len(found.Errors) == 0
	}, 2*time.Minute, 100*time.Millisecond, "all replicas are equal")
}

// comings are what happens to the members of a ring.
var comings = []fault{
	{name: "state lost", begin: (*nemesis).loseState},
	{name: "newcomer", begin: func(n *nemesis) (string, func()) { return n.newcomer(), nil }},
	{name: "what has left ends", begin: (*nemesis).endLeft},
}

// states say what each node has to do with the ring, as one that answers sees it; nil if none does.
func (n *nemesis) states() map[string]string {
	var admins []string
	for _, m := range n.c.Nodes {
		if n.stopped[m] == 0 {
			admins = append(admins, m.Admin)
		}
	}
	if len(admins) == 0 {
		return nil
	}
	stdout, _, code := cluster.RunFor(n.l.t, time.Minute, []string{"QUOLL_SECRET=" + cluster.Secret, "QUOLL_ADMIN=" + strings.Join(admins, ",")}, "ring", "rate", "--json")
	var status struct {
		Members []struct{ Name, State string }
	}
	if code != 0 || json.Unmarshal([]byte(stdout), &status) != nil {
		return nil
	}
	states := map[string]string{}
	for _, m := range status.Members {
		states[m.Name] = m.State
	}
	return states
}

// loseState kills a member and takes all that it has, when all others are ready to do without.
func (n *nemesis) loseState() (what string, mend func()) {
	states := n.states()
	var members []*cluster.Member
	for _, m := range n.c.Nodes {
		if state := states[m.Node]; state == "" || state == "waiting" {
			continue
		}
		if n.stopped[m] > 0 {
			return "", nil
		}
		if ready, _ := m.Ready(); !ready {
			return "", nil
		}
		members = append(members, m)
	}
	if len(members) < 3 || len(members) < len(states)-n.waiting(states) {
		return "", nil
	}
	victim := n.one(members)
	n.c.Kill(victim)
	if victim.Data != "" {
		require.NoError(n.l.t, os.RemoveAll(victim.Data))
	}
	victim.Start()
	victim.AwaitAlive()
	n.apply(victim)
	return victim.Name, nil
}

func (n *nemesis) waiting(states map[string]string) (waiting int) {
	for _, s := range states {
		if s == "waiting" {
			waiting++
		}
	}
	return waiting
}

// newcomer starts a node that asks to join.
func (n *nemesis) newcomer() (what string) {
	if len(n.c.Nodes) >= 7 {
		return ""
	}
	n.came++
	m := n.c.Join(fmt.Sprint("new", n.came))
	m.Start()
	m.AwaitAlive()
	n.apply(m)
	return m.Name
}

// endLeft ends the nodes that have left the ring.
func (n *nemesis) endLeft() (what string, mend func()) {
	var left []*cluster.Member
	n.c.Nodes = slices.DeleteFunc(n.c.Nodes, func(m *cluster.Member) bool {
		if n.stopped[m] > 0 {
			return false
		}
		_, reason := m.Ready()
		if !strings.Contains(reason, "it has left the ring") {
			return false
		}
		left = append(left, m)
		return true
	})
	if len(left) == 0 {
		return "", nil
	}
	n.c.Kill(left...)
	for _, m := range left {
		n.stopped[m]++ // for good
	}
	return names(left), nil
}
