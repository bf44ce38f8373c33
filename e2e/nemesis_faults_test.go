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
	{"node killed", (*nemesis).killNode},
	{"proxy killed", (*nemesis).killProxy},
	{"process hangs", (*nemesis).hang},
	{"one-way cut", (*nemesis).cutOneWay},
	{"partition", (*nemesis).partition},
	{"ring of majorities", (*nemesis).ringOfMajorities},
	{"slow process", noise((*nemesis).anybody, func(r *rand.Rand) cluster.Rule {
		return cluster.Rule{Delay: milliseconds(r.IntN(100)), Jitter: milliseconds(1 + r.IntN(200))}
	})},
	{"frames dropped", noise((*nemesis).anybody, func(r *rand.Rand) cluster.Rule { return cluster.Rule{Drop: 0.05 + 0.3*r.Float64()} })},
	{"frames duplicated", noise((*nemesis).nodes, func(r *rand.Rand) cluster.Rule { return cluster.Rule{Duplicate: 0.1 + 0.5*r.Float64()} })},
	{"frames reordered", noise((*nemesis).nodes, func(r *rand.Rand) cluster.Rule { return cluster.Rule{Reorder: 0.1 + 0.5*r.Float64()} })},
}

func milliseconds(n int) string { return fmt.Sprint(n, "ms") }

// killNode kills a node, which comes back without its state, as one that does not vote.
func (n *nemesis) killNode() (what string, mend func()) {
	victim := n.one(n.c.Nodes)
	if n.kills == 0 || n.stopped[victim] > 0 {
		return "", nil
	}
	n.kills--
	n.restart(victim)
	return victim.Name, nil
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

// restart leaves the faults of the process's links as they are.
func (n *nemesis) restart(m *cluster.Member) {
	m.Kill()
	m.Start()
	m.AwaitAlive()
	n.apply(m)
}

func (n *nemesis) hang() (what string, mend func()) {
	victim := n.one(n.everybody())
	if n.stopped[victim]++; n.stopped[victim] == 1 {
		victim.Stop()
	}
	return victim.Name, func() {
		if n.stopped[victim]--; n.stopped[victim] == 0 {
			victim.Continue()
			n.apply(victim)
		}
	}
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
