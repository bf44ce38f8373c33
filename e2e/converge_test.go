//go:build unix

package e2e

import (
	"flag"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

var convergeCommands = flag.Int("converge", 0, "how many commands TestConverge has acknowledged while a node is away; 0 for a number that is quick")

// convergeWithin bounds how long a node that was away may differ from the others once it is back,
// and how long deletions may be remembered then.
const convergeWithin = time.Minute

// absences are the ways in which a node is away for a while.
var absences = []struct {
	engine, name string
	leave, back  func(*cluster.Member)
}{
	{"badger", "killed", (*cluster.Member).Kill, func(m *cluster.Member) { m.Start() }},
	{"badger", "hung", func(m *cluster.Member) { m.Stop() }, func(m *cluster.Member) { m.Continue() }},
	{"memory", "hung", func(m *cluster.Member) { m.Stop() }, func(m *cluster.Member) { m.Continue() }},
}

// TestConverge: a node that was away while clients wrote holds what the others hold soon after it is
// back, though nobody reads or writes any more: every key in the same version, with the same value
// and expiry, and no deletions. From then on it can stand in for another one.
func TestConverge(t *testing.T) {
	commands := *convergeCommands
	if commands == 0 {
		if commands = 20_000; testing.Short() {
			commands = 3000
		}
	}
	for _, a := range absences {
		t.Run(a.engine+" "+a.name, func(t *testing.T) {
			t.Parallel() // it waits most of the time
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: a.engine})
			w := newWriters(t, c.Proxies[0].Client, commands/2)
			w.write(commands / 2)
			victim := c.Nodes[2]
			gossip := func(state string) {
				for _, m := range c.Nodes[:2] {
					m.AwaitLog(`"gossip: member is ` + state + `" component=node node=` + m.Node + " member=" + victim.Node)
				}
			}
			gossip("alive")
			a.leave(victim)
			w.write(commands / 10) // some of which a node that hangs finds in its sockets
			gossip("dead")         // connections to it are given up by now: it misses all the rest
			began := time.Now()
			w.write(commands)
			t.Logf("%d commands acknowledged in %v without %s: %s", commands, time.Since(began).Round(time.Millisecond), victim.Name, w.describe())

			began = time.Now()
			a.back(victim)
			keys := awaitConverged(t, c.Nodes, began.Add(convergeWithin))
			took, again := time.Since(began).Round(time.Millisecond), 0
			cluster.Await(t, "nodes say that they wrote again what was missed", func() bool {
				again = writtenAgain(t, c.Nodes)
				return again > 0
			})
			t.Logf("%s caught up %v after it came back; all nodes hold the same %d keys and no deletions; %d keys were written again", victim.Name, took, keys, again)

			c.Nodes[1].Kill()
			w.check()
		})
	}
}

// awaitConverged waits until nodes hold the same, without deletions, and returns how many keys.
func awaitConverged(t *testing.T, nodes []*cluster.Member, deadline time.Time) int {
	t.Helper()
	for {
		counts := gauges(t, nodes)
		difference, same := counts.difference()
		if same {
			var keys int
			if keys, difference = compareHoldings(t, nodes); difference == "" {
				return keys
			}
		}
		if time.Now().After(deadline) {
			_, what := compareHoldings(t, nodes)
			require.FailNow(t, "the nodes do not hold the same", "%s\n%v\n%s", difference, counts, what)
		}
		time.Sleep(50 * time.Millisecond) // between polls
	}
}

// repaired matches the line in which a node says that it let homes write keys again.
var repaired = regexp.MustCompile(`keys were written again .* keys=([0-9]+)`)

// writtenAgain returns how many keys nodes say they repaired.
func writtenAgain(t *testing.T, nodes []*cluster.Member) (keys int) {
	t.Helper()
	for _, m := range nodes {
		for _, found := range repaired.FindAllStringSubmatch(m.Log(), -1) {
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			keys += n
		}
	}
	return keys
}
