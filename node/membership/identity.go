package membership

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Identity is what a node on a durable engine keeps of itself over restarts (package
// datadir). Its methods are called by one goroutine at a time.
type Identity interface {
	// Generation is the number of the data's life. It does not change while the
	// process runs, and not over restarts either, unless the state was lost.
	Generation() uint64
	// Ring returns the ring that was saved last, nil if the node was never part of one.
	Ring() *ring.Cluster
	// SaveRing is to return when the ring is durable. It may take some fsyncs.
	SaveRing(ring.Cluster) error
	// LostState is empty, or says why this process has not got the state of its former
	// life.
	LostState() string
	// Restored identifies the backups that the data began with, "" if it began empty. It has
	// to be the same on all nodes that form a ring: where only some have a record, a
	// majority may miss it, and one that finds it later may take it for the newest.
	Restored() string
	// Present reports whether what it keeps is still there, and an error that says what is not.
	Present() error
}

// Resume takes up the ring that the node was part of before it was restarted, if it
// has it and the state that belongs to it, and reports whether it has. It has to hear from nobody for that.
func (m *Membership) Resume() (resumed bool, err error) {
	id := m.opt.Identity
	if id == nil {
		return false, nil
	}
	m.self.Generation = id.Generation()
	saved := id.Ring()
	if saved == nil { // it has never voted, and so has forgotten nothing, whatever was lost
		return false, nil
	}
	cluster, err := m.patched(*saved)
	if err != nil {
		return false, err
	}
	lost := id.LostState()
	if me, _ := cluster.ByName(m.opt.Name); lost == "" && me.Generation != m.self.Generation {
		lost = "it was started without the state of its former life: its data directory " + m.opt.Data + " is another one"
	}
	if lost != "" {
		m.loseState(cluster, lost)
		return false, nil
	}
	enter, err := m.node.Prepare(cluster)
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enter(cluster, enter)
	m.log.Info("part of the ring again", "epoch", cluster.Epoch, "nodes", len(cluster.Members), "replicas", cluster.Replicas)
	return true, nil
}

// restored identifies the backups that this node's data began with.
func (m *Membership) restored() string {
	if m.opt.Identity == nil {
		return ""
	}
	return m.opt.Identity.Restored()
}

// patched returns a saved ring with the addresses of the initial cluster: machines may get
// others. Everything else is as it was when the ring was formed.
func (m *Membership) patched(saved ring.Cluster) (ring.Cluster, error) {
	given := m.initial()
	if saved.Name != given.Name || saved.Replicas != given.Replicas {
		return saved, fmt.Errorf("node %s is part of cluster %q with %d replicas of each key, but is started for %q with %d: correct --cluster-name and --replicas, or --data",
			m.opt.Name, saved.Name, saved.Replicas, given.Name, given.Replicas)
	}
	cluster := saved
	cluster.Members = slices.Clone(saved.Members)
	var members ring.Initial
	for i := range cluster.Members {
		member := &cluster.Members[i]
		if now, ok := given.ByName(member.Name); ok && now.ID == member.ID {
			member.Peer = now.Peer
		}
		members = append(members, ring.InitialMember{Name: member.Name, Peer: member.Peer})
	}
	slices.SortFunc(members, func(a, b ring.InitialMember) int { return cmp.Compare(a.Name, b.Name) })
	if diff := ring.Diff(m.opt.Initial, members); diff != "" {
		return saved, fmt.Errorf("--initial-cluster (here) and the ring that node %s is part of (there) differ: %s: correct --initial-cluster; only addresses may change",
			m.opt.Name, diff)
	}
	return cluster, nil
}
