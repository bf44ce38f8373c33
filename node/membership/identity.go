package membership

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// Identity is what a node on a durable engine keeps of itself over restarts (package
// datadir). Its methods are called by one goroutine at a time.
type Identity interface {
	// Generation is the number of the data's life. It does not change while the
	// process runs, and not over restarts either, unless the state was lost.
	Generation() uint64
	// Ring returns the document of the ring that was saved last, nil if the node was never part of one.
	Ring() *change.Document
	// SaveRing is to return when the document is durable. It may take some fsyncs.
	SaveRing(change.Document) error
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
	m.describe(func(self *ring.Member) { self.Generation = id.Generation() })
	doc := id.Ring()
	if doc == nil { // it has never voted, and so has forgotten nothing, whatever was lost
		return false, nil
	}
	if err := m.checkSaved(*doc); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.newKnown(*doc)
	lost := id.LostState()
	if me, found := doc.ByName(m.opt.Name); lost == "" && found && me.Generation != id.Generation() {
		lost = "it was started without the state of its former life: its data directory " + m.opt.Data + " is another one"
	}
	if lost != "" {
		m.meetMembers(k)
		m.loseState(lost)
		return false, nil
	}
	enter, err := m.node.Prepare(protocol.Relocate(*doc, k.moved))
	if err != nil {
		return false, err
	}
	life, _ := doc.LifeOf(m.opt.Name, id.Generation()) // none if it has left
	m.enter(k, life, enter)
	m.log.Info("part of the ring again", "version", doc.Version, "nodes", len(doc.Members), "replicas", doc.Replicas)
	if m.opt.Changed != nil {
		m.opt.Changed(*doc)
	}
	return true, nil
}

// restored identifies the backups that this node's data began with.
func (m *Membership) restored() string {
	if m.opt.Identity == nil {
		return ""
	}
	return m.opt.Identity.Restored()
}

// checkSaved says what of this node's settings contradicts the ring that it was part of. Of the members' addresses those of the initial cluster count: machines
// may get others. What else has changed since the ring formed, the ring knows better.
func (m *Membership) checkSaved(doc change.Document) error {
	if doc.Cluster != m.opt.ClusterName || doc.Untouched() && doc.Replicas != m.opt.Replicas {
		return fmt.Errorf("node %s is part of cluster %q with %d replicas of each key, but is started for %q with %d: correct --cluster-name and --replicas, or --data",
			m.opt.Name, doc.Cluster, doc.Replicas, m.opt.ClusterName, m.opt.Replicas)
	}
	if !doc.Untouched() {
		return nil
	}
	var members ring.Initial
	for _, l := range protocol.Relocate(doc, addresses(m.relocations(doc))).Members {
		members = append(members, ring.InitialMember{Name: l.Name, Peer: l.Peer})
	}
	slices.SortFunc(members, func(a, b ring.InitialMember) int { return cmp.Compare(a.Name, b.Name) })
	if diff := ring.Diff(m.opt.Initial, members); diff != "" {
		return fmt.Errorf("--initial-cluster (here) and the ring that node %s is part of (there) differ: %s: correct --initial-cluster; only addresses may change",
			m.opt.Name, diff)
	}
	return nil
}
