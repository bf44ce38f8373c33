//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/quolldb/quoll/e2e/cluster"
)

// faults are all that the nemesis can do.
var faults = []fault{
	{name: "node killed", begin: (*nemesis).killNode, needs: 1},
	{name: "node down", begin: (*nemesis).downNode, needs: many},
	{name: "all nodes killed", begin: (*nemesis).killAllNodes, needs: many},
	{name: "proxy killed", begin: (*nemesis).killProxy},
	{name: "process hangs", begin: (*nemesis).hang},
	{name: "one-way cut", begin: (*nemesis).cutOneWay},
	{name: "partition", begin: (*nemesis).partition},
	{name: "ring of majorities", begin: (*nemesis).ringOfMajorities},
	{name: "slow process", begin: noise((*nemesis).anybody, func(r *rand.Rand) cluster.Rule {
		return cluster.Rule{Delay: milliseconds(r.IntN(100)), Jitter: milliseconds(1 + r.IntN(200))}
	})},
	{name: "frames dropped", begin: noise((*nemesis).anybody, func(r *rand.Rand) cluster.Rule { return cluster.Rule{Drop: 0.05 + 0.3*r.Float64()} })},
	{name: "frames duplicated", begin: noise((*nemesis).nodes, func(r *rand.Rand) cluster.Rule { return cluster.Rule{Duplicate: 0.1 + 0.5*r.Float64()} })},
	{name: "frames reordered", begin: noise((*nemesis).nodes, func(r *rand.Rand) cluster.Rule { return cluster.Rule{Reorder: 0.1 + 0.5*r.Float64()} })},
}

func milliseconds(n int) string { return fmt.Sprint(n, "ms") }

// killNode kills a node, which comes back at once: without its state, as one that does not
// vote, unless it keeps it.
func (n *nemesis) killNode() (what string, mend func()) {
	victim := n.one(n.c.Nodes)
	if n.stopped[victim] > 0 {
		return "", nil
	}
	if n.kills < many {
		n.kills--
	}
	n.restart(victim)
	return victim.Name, nil
}

// downNode kills a node that stays away for a while.
func (n *nemesis) downNode() (what string, mend func()) {
	victim := n.one(n.c.Nodes)
	if n.stopped[victim] > 0 {
		return "", nil
	}
	n.stop(victim, func(m *cluster.Member) { n.c.Kill(m) })
	return victim.Name, func() { n.goOn(victim) }
}

// killAllNodes kills all nodes at once, but for those that hang or are away.
func (n *nemesis) killAllNodes() (what string, mend func()) {
	victims := slices.DeleteFunc(slices.Clone(n.c.Nodes), func(m *cluster.Member) bool { return n.stopped[m] > 0 })
	n.restart(victims...)
	return names(victims), nil
}

// killProxy kills a proxy. Its successor serves at the same address.
func (n *nemesis) killProxy() (what string, mend func()) {
	victim := n.one(n.c.Proxies)
	if n.stopped[victim] > 0 {
		return "", nil
	}
	n.restart(victim)
	return victim.Name, nil
}

// restart kills processes at once. It leaves the faults of their links as they are.
func (n *nemesis) restart(victims ...*cluster.Member) {
	n.c.Kill(victims...)
	for _, m := range victims {
		m.Start()
	}
	for _, m := range victims {
		m.AwaitAlive()
	}
	n.apply(victims...)
}

func (n *nemesis) hang() (what string, mend func()) {
	victim := n.one(n.everybody())
	n.stop(victim, func(m *cluster.Member) { m.Stop() })
	return victim.Name, func() { n.goOn(victim) }
}

func (n *nemesis) cutOneWay() (what string, mend func()) {
	from, to := n.one(n.everybody()), n.one(n.c.Nodes)
	if n.random.IntN(2) == 0 {
		from, to = to, from
	}
	if from == to {
		return "", nil
	}
	return from.Name + " to " + to.Name, n.cut(link{from, to})
}

// partition cuts the processes in two.
func (n *nemesis) partition() (what string, mend func()) {
	var left, right []*cluster.Member
	for _, m := range n.everybody() {
		if n.random.IntN(2) == 0 {
			left = append(left, m)
		} else {
			right = append(right, m)
		}
	}
	var links []link
	for _, a := range left {
		for _, b := range right {
			links = append(links, link{a, b}, link{b, a})
		}
	}
	return names(left) + " from " + names(right), n.cut(links...)
}

// ringOfMajorities leaves every node with its two neighbours in a random ring.
func (n *nemesis) ringOfMajorities() (what string, mend func()) {
	ring := slices.Clone(n.c.Nodes)
	n.random.Shuffle(len(ring), func(i, j int) { ring[i], ring[j] = ring[j], ring[i] })
	var links []link
	for i, node := range ring {
		for far := 2; far <= len(ring)-2; far++ {
			links = append(links, link{node, ring[(i+far)%len(ring)]})
		}
	}
	return names(ring), n.cut(links...)
}

// nodes are those whose replication can be disturbed: all of them.
func (n *nemesis) nodes() []*cluster.Member { return n.c.Nodes }

// anybody is one process, or all of them.
func (n *nemesis) anybody() []*cluster.Member {
	if n.random.IntN(2) == 0 {
		return []*cluster.Member{n.one(n.everybody())}
	}
	return n.everybody()
}

// noise makes processes treat all that they send by a rule.
func noise(whose func(*nemesis) []*cluster.Member, draw func(*rand.Rand) cluster.Rule) func(*nemesis) (string, func()) {
	return func(n *nemesis) (what string, mend func()) {
		members, rule := whose(n), draw(n.random)
		for _, m := range members {
			n.noise[m] = append(n.noise[m], &rule)
		}
		n.apply(members...)
		return fmt.Sprintf("%s %+v", names(members), rule), func() {
			for _, m := range members {
				n.noise[m] = slices.DeleteFunc(n.noise[m], func(r *cluster.Rule) bool { return r == &rule })
			}
			n.apply(members...)
		}
	}
}

// cut cuts links until it is mended.
func (n *nemesis) cut(links ...link) (mend func()) {
	change := func(by int) {
		var senders []*cluster.Member
		for _, l := range links {
			n.cuts[l] += by
			if !slices.Contains(senders, l.from) {
				senders = append(senders, l.from)
			}
		}
		n.apply(senders...)
	}
	change(1)
	return func() { change(-1) }
}

func names(members []*cluster.Member) string {
	var all []string
	for _, m := range members {
		all = append(all, m.Name)
	}
	return "[" + strings.Join(all, ", ") + "]"
}
