//go:build unix

package e2e

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/quolldb/quoll/e2e/cluster"
)

// nemesis breaks a cluster at random, in ways that overlap, and mends it. The seed
// decides what it does and for how long; how the processes run beside it nobody decides.
type nemesis struct {
	c      *cluster.Cluster
	l      *load
	random *rand.Rand
	kills  int            // how many nodes may still die: one without its state does not vote; many if they keep it
	kinds  []fault        // what it does
	came   int            // nodes that were started to join
	done   map[string]int // faults by kind
	beside func()         // is called again and again between faults, if it is not nil

	// What is wrong now. Several faults may concern one process. One that is stopped hangs,
	// or is dead.
	stopped map[*cluster.Member]int
	cuts    map[link]int
	noise   map[*cluster.Member][]*cluster.Rule
}

// link is one direction between two processes.
type link struct{ from, to *cluster.Member }

// fault is a kind of fault. begin draws one and returns what it is, for people, and
// how it is mended, nil if there is nothing to mend. Nothing is done if what is empty.
type fault struct {
	name  string
	begin func(*nemesis) (what string, mend func())
	// needs is how many nodes must be allowed to die.
	needs int
}

// many nodes may die if they keep their state.
const many = 1 << 30

func newNemesis(c *cluster.Cluster, l *load, random *rand.Rand, kills int) *nemesis {
	return &nemesis{c: c, l: l, random: random, kills: kills, kinds: faults, done: map[string]int{},
		stopped: map[*cluster.Member]int{}, cuts: map[link]int{}, noise: map[*cluster.Member][]*cluster.Rule{}}
}

// work breaks things for a while, the kinds of faults in turn in random orders, and
// then mends all of them.
func (n *nemesis) work(d time.Duration) {
	type begun struct {
		what string
		over time.Time
		mend func()
	}
	var active []begun
	var order []int
	for end := time.Now().Add(d); len(order) > 0 || time.Now().Before(end); { // no kind is left out
		if len(order) == 0 {
			order = n.random.Perm(len(n.kinds))
		}
		f := n.kinds[order[0]]
		order = order[1:]
		if n.kills < f.needs {
			continue
		}
		if what, mend := f.begin(n); what != "" {
			n.done[f.name]++
			n.l.note("%s: %s", f.name, what)
			if mend != nil {
				active = append(active, begun{f.name + ": " + what, time.Now().Add(n.duration()), mend})
			}
		}
		time.Sleep(time.Duration(n.random.Int64N(int64(d / time.Duration(len(n.kinds)))))) // faults have their time
		if n.beside != nil {
			n.beside()
		}
		active = slices.DeleteFunc(active, func(b begun) bool {
			if time.Now().Before(b.over) {
				return false
			}
			b.mend()
			n.l.note("over: %s", b.what)
			return true
		})
	}
	for _, b := range active {
		b.mend()
	}
	n.l.note("all is mended")
}

// duration is how long a fault lasts: often shorter than what anybody notices,
// sometimes so long that everybody gives up.
func (n *nemesis) duration() time.Duration {
	const shortest = 200 * time.Millisecond
	longest := 1500 * time.Millisecond
	if n.random.IntN(8) == 0 {
		longest = 8 * time.Second
	}
	return shortest + time.Duration(n.random.Int64N(int64(longest)))
}

// apply gives the processes the rules that now hold for what they send. A process that
// hangs gets them when it goes on.
func (n *nemesis) apply(members ...*cluster.Member) {
	for _, m := range members {
		if n.stopped[m] > 0 {
			continue
		}
		var rules []cluster.Rule
		for _, to := range n.everybody() {
			if n.cuts[link{m, to}] > 0 {
				rules = append(rules, cluster.CutTo(to))
			}
		}
		if len(n.noise[m]) > 0 {
			rules = append(rules, together(n.noise[m]))
		}
		n.c.SetFaults(m, n.random.Uint64(), rules...)
	}
}

// together is one rule with the faults of several.
func together(rules []*cluster.Rule) cluster.Rule {
	all := cluster.Rule{Peer: "*"}
	for _, r := range rules {
		all.Delay, all.Jitter = cmp.Or(r.Delay, all.Delay), cmp.Or(r.Jitter, all.Jitter)
		all.Drop, all.Duplicate, all.Reorder = cmp.Or(r.Drop, all.Drop), cmp.Or(r.Duplicate, all.Duplicate), cmp.Or(r.Reorder, all.Reorder)
	}
	return all
}

func (n *nemesis) everybody() []*cluster.Member {
	return append(slices.Clone(n.c.Nodes), n.c.Proxies...)
}

// stop notes that a process does nothing any more, and goOn that one of the reasons
// is gone: after the last one it works again, with the faults of its links.
func (n *nemesis) stop(m *cluster.Member, how func(*cluster.Member)) {
	if n.stopped[m]++; n.stopped[m] == 1 {
		how(m)
	}
}

func (n *nemesis) goOn(m *cluster.Member) {
	if n.stopped[m]--; n.stopped[m] > 0 {
		return
	}
	if m.Running() {
		m.Continue()
	} else {
		m.Start()
		m.AwaitAlive()
	}
	n.apply(m)
}

// one draws a process.
func (n *nemesis) one(of []*cluster.Member) *cluster.Member { return of[n.random.IntN(len(of))] }
