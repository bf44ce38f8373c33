package node

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

// resume takes up the ring that the node was part of before it was restarted, if it
// has it and the state that belongs to it. It has to hear from nobody for that.
func (n *Node) resume() error {
	id := n.opt.Identity
	if id == nil {
		return nil
	}
	n.self.Generation = id.Generation()
	saved := id.Ring()
	if saved == nil { // it has never voted, and so has forgotten nothing, whatever was lost
		return nil
	}
	cluster, err := n.patched(*saved)
	if err != nil {
		return err
	}
	lost := id.LostState()
	if me, _ := cluster.ByName(n.opt.Name); lost == "" && me.Generation != n.self.Generation {
		lost = "it was started without the state of its former life: its data directory " + n.opt.Data + " is another one"
	}
	if lost != "" {
		n.loseState(cluster, lost)
		return nil
	}
	v, err := newView(cluster, n.opt.Name)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.enter(v)
	n.resumed = true
	n.log.Info("part of the ring again", "epoch", cluster.Epoch, "nodes", len(cluster.Members), "replicas", cluster.Replicas)
	return nil
}

// restored identifies the backups that this node's data began with.
func (n *Node) restored() string {
	if n.opt.Identity == nil {
		return ""
	}
	return n.opt.Identity.Restored()
}

// patched returns a saved ring with the addresses of the initial cluster: machines may get
// others. Everything else is as it was when the ring was formed.
func (n *Node) patched(saved ring.Cluster) (ring.Cluster, error) {
	given := n.initial.Cluster(n.opt.ClusterName, n.opt.Replicas)
	if saved.Name != given.Name || saved.Replicas != given.Replicas {
		return saved, fmt.Errorf("node %s is part of cluster %q with %d replicas of each key, but is started for %q with %d: correct --cluster-name and --replicas, or --data",
			n.opt.Name, saved.Name, saved.Replicas, given.Name, given.Replicas)
	}
	cluster := saved
	cluster.Members = slices.Clone(saved.Members)
	var members ring.Initial
	for i := range cluster.Members {
		m := &cluster.Members[i]
		if now, ok := given.ByName(m.Name); ok && now.ID == m.ID {
			m.Peer = now.Peer
		}
		members = append(members, ring.InitialMember{Name: m.Name, Peer: m.Peer})
	}
	slices.SortFunc(members, func(a, b ring.InitialMember) int { return cmp.Compare(a.Name, b.Name) })
	if diff := ring.Diff(n.initial, members); diff != "" {
		return saved, fmt.Errorf("--initial-cluster (here) and the ring that node %s is part of (there) differ: %s: correct --initial-cluster; only addresses may change",
			n.opt.Name, diff)
	}
	return cluster, nil
}
