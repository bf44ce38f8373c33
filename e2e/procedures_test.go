//go:build unix

package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// A procedure is a paragraph of "The ring moves" in docs/operations.md: its title, and its commands.
type procedure struct {
	title    string
	commands []string
}

// procedures are those of docs/operations.md, by their titles.
func procedures(t *testing.T) map[string]procedure {
	text, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## The ring moves\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	all := map[string]procedure{}
	var p procedure
	for paragraph := range strings.SplitSeq(section, "\n\n") {
		if title := regexp.MustCompile(`^\*\*([^*]+)\*\*`).FindStringSubmatch(paragraph); title != nil {
			p = procedure{title: strings.Trim(title[1], ".,")}
		}
		if commands, is := strings.CutPrefix(paragraph, "    "); is && p.title != "" {
			commands, _, _ = strings.Cut(commands, "\n\n")
			p.commands = strings.Split(strings.ReplaceAll(commands, " \\\n", " "), "\n")
			for i := range p.commands {
				p.commands[i] = strings.TrimSpace(p.commands[i])
			}
			all[p.title] = p
		}
	}
	return all
}

// run executes the commands of a procedure. A node that one of them starts runs with addresses of this machine.
func (p procedure) run(t *testing.T, c *cluster.Cluster) {
	for _, command := range p.commands {
		words := strings.Fields(command)
		require.Equal(t, "quoll", words[0], command)
		if words[1] == "node" && words[2] != "leave" {
			require.Equal(t, "--name", words[2])
			joined(t, c, words[3])
			continue
		}
		admin := c.Nodes[0].Admin
		if words[1] == "node" { // the one that came last leaves
			admin = c.Nodes[len(c.Nodes)-1].Admin
			words = words[:3]
		}
		stdout, stderr, code := cluster.RunFor(t, 3*time.Minute, []string{"QUOLL_ADMIN=" + admin}, words[1:]...)
		require.Zero(t, code, "%s: %s%s", command, stdout, stderr)
	}
}

// rolling restarts one node after the other, with clients, and executes the commands after each: all that was in memory stays, and clients get no errors.
func (p procedure) rolling(t *testing.T, c *cluster.Cluster) {
	l := startLoad(t, c.Clients())
	l.progress(500)
	for _, m := range c.Nodes {
		m.Terminate()
		m.Start()
		for _, command := range p.commands {
			if strings.HasPrefix(command, "quoll health --admin ") {
				require.Eventually(t, func() bool {
					_, _, code := cluster.Run(t, nil, "health", "--admin", m.Admin)
					return code == 0
				}, 2*time.Minute, 100*time.Millisecond, command)
				continue
			}
			stdout, stderr, code := cluster.RunFor(t, 3*time.Minute, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, strings.Fields(command)[1:]...)
			require.Zero(t, code, "%s: %s%s", command, stdout, stderr)
		}
		l.note("%s was restarted", m.Name)
	}
	l.progress(500)
	l.stop()
	t.Logf("errors: %s", counts(l.words()))
	l.requireWords("ERR") // a read that was turned away by a home that gave up its term, before what is behind it in the same pipeline came there
	require.LessOrEqual(t, len(l.failures), loadClients)
	l.requireNothingLost(c.Proxies[0].Client)
}

// joined starts a node that waits to join, and waits until the ring knows it.
func joined(t *testing.T, c *cluster.Cluster, name string) {
	m := c.Join(name)
	m.Start()
	cluster.Await(t, name+" waits to join", func() bool {
		_, waiting := memberStates(t, c.Nodes[0])[name]
		return waiting
	})
}

// memberStates says what each member has to do with the ring.
func memberStates(t *testing.T, m *cluster.Member) map[string]string {
	status, _ := cluster.RunJSON[struct {
		Members []struct{ Name, State string }
	}](t, "ring", "rate", "--json", "--admin", m.Admin)
	states := map[string]string{}
	for _, m := range status.Members {
		states[m.Name] = m.State
	}
	return states
}

// TestTheProceduresOfTheDocs: each is executed as it is written, on a cluster with data, of which nothing is lost.
func TestTheProceduresOfTheDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("whole nodes' shares move")
	}
	t.Parallel()
	all := procedures(t)
	active := func(names ...string) map[string]string {
		states := map[string]string{}
		for _, n := range names {
			states[n] = "active"
		}
		return states
	}
	for title, c := range map[string]struct {
		nodes  int
		before func(*testing.T, *cluster.Cluster)
		after  map[string]string
		loses  bool
		run    func(procedure, *testing.T, *cluster.Cluster) // nil: its commands, once
	}{
		"Grow":                           {nodes: 3, after: active("a", "b", "c", "d")},
		"Shrink":                         {nodes: 4, after: active("a", "b", "c")},
		"Reweigh, and change racks":      {nodes: 4, after: active("a", "b", "c", "d")},
		"Three replicas become five":     {nodes: 3, before: func(t *testing.T, c *cluster.Cluster) { joined(t, c, "d"); joined(t, c, "e") }, after: active("a", "b", "c", "d", "e")},
		"Hold it, go on, turn back":      {nodes: 3, before: growing, after: map[string]string{"a": "active", "b": "active", "c": "active", "d": "waiting"}},
		"Restart a cluster node by node": {nodes: 3, run: procedure.rolling, after: active("a", "b", "c")},
		"Replace a node that is dead for good": {nodes: 3, before: func(t *testing.T, c *cluster.Cluster) { joined(t, c, "d"); c.Nodes[2].Kill() },
			after: active("a", "b", "d")},
		"Two nodes of five are dead for good": {nodes: 5, loses: true, after: active("a", "b", "c", "f", "g"),
			before: func(t *testing.T, c *cluster.Cluster) {
				joined(t, c, "f")
				joined(t, c, "g")
				c.Nodes[3].Kill()
				c.Nodes[4].Kill()
			}},
		"Two nodes of three are dead for good": {nodes: 3, loses: true, after: active("a", "d", "e"),
			before: func(t *testing.T, c *cluster.Cluster) {
				c.Nodes[1].Kill()
				c.Nodes[2].Kill()
				cluster.Await(t, "the dead are missed", func() bool {
					_, _, code := cluster.Run(t, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, "ring", "recover")
					return code == 0
				})
			}},
	} {
		p, written := all[title]
		require.True(t, written, "docs/operations.md has no procedure %q", title)
		delete(all, title)
		t.Run(title, func(t *testing.T) {
			running := cluster.Start(t, cluster.Config{Nodes: c.nodes, Proxies: 1})
			client := connect(t, running.Proxies[0].Client)
			keys := map[string]string{}
			for i := range 200 {
				key := "key-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
				keys[key] = key
				require.NoError(t, client.Set(t.Context(), key, key, 0).Err())
			}
			if c.before != nil {
				c.before(t, running)
			}
			if c.run == nil {
				c.run = procedure.run
			}
			c.run(p, t, running)
			require.Equal(t, c.after, memberStates(t, running.Nodes[0]))
			for key := range keys {
				value, err := client.Get(t.Context(), key).Result()
				if !c.loses {
					require.NoError(t, err, key)
					require.Equal(t, key, value)
				}
			}
		})
	}
	require.Empty(t, all, "not executed by this test")
}

// growing begins to let a node join, and does not wait for the end: so many slots have moved that to turn back takes a while, too.
func growing(t *testing.T, c *cluster.Cluster) {
	joined(t, c, "d")
	for _, line := range []string{"ring rate 64KiB", "ring plan join d", "ring commit"} {
		stdout, stderr, code := cluster.Run(t, []string{"QUOLL_ADMIN=" + c.Nodes[0].Admin}, strings.Fields(line)...)
		require.Zero(t, code, stdout+stderr)
	}
	cluster.Await(t, "a thousand slots have moved", func() bool {
		ring, code := cluster.RunJSON[struct{ Plan *struct{ Moved int } }](t, "ring", "rate", "--json", "--admin", c.Nodes[0].Admin)
		require.Zero(t, code)
		require.NotNil(t, ring.Plan, "it is over")
		return ring.Plan.Moved >= 1000
	})
}
