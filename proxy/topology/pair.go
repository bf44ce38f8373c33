package topology

// Pair gives each node that has a replica port, and answers, its Master: one of whose slots the node holds all. As far as that leaves a choice each master has as many replicas as the others, and a node's
// master is the next one in the order of the ring. Whoever knows the same placement finds the same.
func (p *Placement) Pair() {
	some := false
	for i := range p.Nodes {
		p.Nodes[i].Master = -1
		some = some || p.Nodes[i].pairs()
	}
	if !some {
		return
	}
	m := matching{nodes: p.Nodes, holds: p.holders(), load: make([]int, len(p.Nodes))}
	for m.most = 1; m.most <= len(p.Nodes); m.most++ {
		for i := range p.Nodes {
			if p.Nodes[i].pairs() && p.Nodes[i].Master < 0 {
				m.place(i, make([]bool, len(p.Nodes)))
			}
		}
	}
}

// pairs reports whether the node can be shown as a replica.
func (n *Node) pairs() bool { return n.Alive && n.Replica != "" }

// holders returns for each node, as a master, which others hold all of its slots. A master has slots.
func (p *Placement) holders() func(master, node int) bool {
	n := len(p.Nodes)
	slots, held := make([]int, n), make([]int, n*n)
	for slot, home := range p.Homes {
		if home < 0 {
			continue
		}
		slots[home]++
		for _, r := range p.Replicas[slot] {
			held[int(home)*n+int(r)]++
		}
	}
	return func(master, node int) bool { return slots[master] > 0 && held[master*n+node] == slots[master] }
}

// matching gives nodes masters, each master at most so many.
type matching struct {
	nodes []Node
	holds func(master, node int) bool
	load  []int // of each node as a master
	most  int
}

// place gives a node a master, if there is room at one or another node makes it by going on to one of its other masters. seen are those that have been asked.
func (m *matching) place(node int, seen []bool) bool {
	for step := 1; step < len(m.nodes); step++ {
		master := (node + step) % len(m.nodes)
		if seen[master] || !m.holds(master, node) {
			continue
		}
		seen[master] = true
		if m.load[master] == m.most && !m.makeRoom(master, seen) {
			continue
		}
		m.load[master]++
		m.nodes[node].Master = int16(master)
		return true
	}
	return false
}

// makeRoom has one of a master's replicas go on to another one.
func (m *matching) makeRoom(master int, seen []bool) bool {
	for other := range m.nodes {
		if m.nodes[other].Master == int16(master) && m.place(other, seen) {
			m.load[master]--
			return true
		}
	}
	return false
}
