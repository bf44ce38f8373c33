package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/decide"
	"github.com/quolldb/quoll/ring/change"
)

// The group that decides on the ring is founded again, because a majority of it is gone for good: see package consensus for why that contradicts nothing.

var _ admin.RingRecoverer = (*Node)(nil)

// RecoverRing implements admin.RingRecoverer.
func (n *Node) RecoverRing(ctx context.Context, r admin.RecoverRequest) (admin.RingRecovery, error) {
	f, err := n.decisions.survey(ctx)
	if err != nil {
		return admin.RingRecovery{}, err
	}
	report := f.report()
	switch {
	case r.AcceptLoss != "" && r.AcceptLoss != f.doc.Cluster:
		return report, admin.Conflict(fmt.Sprintf("this cluster is not %q: nothing was done; to go on without those that are gone give its name, quoll ring status shows it", r.AcceptLoss))
	case r.AcceptLoss == "" || r.DryRun:
		return report, nil
	}
	founded, err := change.Refound(f.doc, rand.Uint32(), r.By, n.now(), report.Gone)
	if err != nil {
		return report, err
	}
	n.log.Warn("this node founds the group again that decides on the ring, as it was told: those that do not answer are gone for good", "gone", report.Gone,
		"version", founded.Version, "by", r.By)
	if err := n.decisions.found(ctx, founded); err != nil {
		return report, err
	}
	report.Done, report.Version = true, founded.Version
	return report, nil
}

// founder is what a node knows that is to found the group again.
type founder struct {
	d        *decisions
	doc      change.Document // the latest ring
	deciders []uint64
}

// survey asks all members that answer what they know. The errors say why this node should not found the group.
func (d *decisions) survey(ctx context.Context) (*founder, error) {
	n := d.node
	if state, reason := n.state(); state != admin.Voting {
		return nil, admin.Conflict(fmt.Sprintf("node %s does not vote (%s): ask another one", n.opt.Name, reason))
	}
	doc := n.Document()
	if _, member := doc.LifeOf(n.opt.Name, d.generation()); !member {
		return nil, admin.Conflict(fmt.Sprintf("node %s is no member of the ring: ask one that is", n.opt.Name))
	}
	g := d.group.Load()
	if _, err := d.status(); err != nil {
		return nil, admin.Conflict(fmt.Sprintf("node %s takes no part in deciding: %v: ask another one", n.opt.Name, err))
	}
	f := &founder{d: d, doc: *doc, deciders: g.Voters().IDs}
	if err := f.lacksMajority(g.Status()); err != nil {
		return nil, err
	}
	own, mine, err := d.ownState(ctx)
	if err != nil {
		return nil, err
	}
	return f, f.compare(ctx, own, mine)
}

// lacksMajority is nil if nobody can decide.
func (f *founder) lacksMajority(s consensus.Status) error {
	alive := 0
	for _, x := range f.report().Deciders {
		if x.Alive {
			alive++
		}
	}
	switch stuck := s.Leader == 0 && len(s.Leaving) > 0; { // between two sets of voters both majorities are needed
	case len(f.deciders) == 0:
		return admin.Conflict("node " + f.d.node.opt.Name + " does not know who decides on the ring: ask another one")
	case alive > len(f.deciders)/2 && !stuck:
		return admin.Conflict(fmt.Sprintf("%d of the %d that decide on the ring answer, and they are a majority: there is nothing to be recovered", alive, len(f.deciders)))
	}
	return nil
}

// compare finds the latest ring, and makes sure that nobody who answers knows more of what was decided than this node.
func (f *founder) compare(ctx context.Context, own protocol.GroupState, mine []change.Document) error {
	d, latest := f.d, (*change.Life)(nil)
	version, ownLog := f.doc.Version, consensus.Position{Term: own.Term, Index: own.Index}
	for _, l := range f.doc.Members {
		if l.Generation == d.generation() || !d.isThere(l) {
			continue
		}
		s, err := d.askGroup(ctx, l)
		if err != nil {
			return admin.Conflict(fmt.Sprintf("node %s is alive, and does not say what it knows (%v): nothing was done; repeat this, or stop that node", l.Name, err))
		}
		switch {
		case s.Refounded > f.doc.Refounded:
			return admin.Conflict(fmt.Sprintf("node %s is in a group that was founded again already: wait a moment, and look at the ring again", l.Name))
		case consensus.Position{Term: s.Term, Index: s.Index}.Compare(ownLog) > 0:
			return admin.Conflict(fmt.Sprintf("node %s knows more of what was decided than node %s: ask it (--admin)", l.Name, d.node.opt.Name))
		case s.Version > version:
			version, latest = s.Version, &l
		}
	}
	if latest != nil {
		p := d.peer(latest.Generation)
		if p == nil {
			return admin.Conflict(fmt.Sprintf("node %s knows a later ring, and does not answer any more: repeat this", latest.Name))
		}
		doc, _, err := protocol.FetchRing(f.doc, func(m protocol.Method, payload []byte) ([]byte, error) { return p.Ask(ctx, m, payload) })
		if err != nil {
			return err
		}
		f.doc = doc
	}
	f.doc = furthest(f.doc, mine)
	return nil
}

// furthest returns the end of what a log says, if it leads to a ring that is known to be decided. One that does not has another past. What it begins with is decided.
func furthest(decided change.Document, log []change.Document) change.Document {
	if len(log) > 0 && log[0].Version > decided.Version {
		return log[len(log)-1]
	}
	at := slices.IndexFunc(log, func(doc change.Document) bool { return doc.Version == decided.Version })
	if at >= 0 && log[at].Digest() == decided.Digest() {
		return log[len(log)-1]
	}
	return decided
}

// ownState is what this node tells others, and the rings that its log leads to, one after the other.
func (d *decisions) ownState(ctx context.Context) (s protocol.GroupState, rings []change.Document, err error) {
	if _, err := d.status(); err != nil {
		return s, nil, err
	}
	g := d.group.Load()
	at, err := g.Replay(ctx, decide.NewMachine(func(doc change.Document) { rings = append(rings, doc) }))
	if err != nil {
		return s, nil, err
	}
	s.Refounded, s.Term, s.Index = g.Refounded(), at.Term, at.Index
	if doc := d.ring.Document(); doc != nil {
		s.Version = doc.Version
	}
	return s, rings, nil
}

// answerGroup tells another node what this one knows of what was decided.
func (d *decisions) answerGroup(s *session) ([]byte, error) {
	if s.member() == nil {
		return nil, errors.New("node: only nodes ask who decides")
	}
	ctx, cancel := context.WithTimeout(d.node.life, answerChangeTime)
	defer cancel()
	state, _, err := d.ownState(ctx)
	if err != nil { // it has no part in it, but may know the ring
		state = protocol.GroupState{Problem: err.Error()}
		if doc := d.ring.Document(); doc != nil {
			state.Version, state.Refounded = doc.Version, doc.Refounded
		}
	}
	return json.Marshal(state)
}

// askGroup asks a member for the same.
func (d *decisions) askGroup(ctx context.Context, l change.Life) (s protocol.GroupState, err error) {
	p := d.peer(l.Generation)
	if p == nil {
		return s, errors.New("it is not connected")
	}
	reply, err := p.Ask(ctx, protocol.MethodGroup, nil)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(reply, &s)
}

// found has this node's part in the group end, and another group begin with a document and this node.
func (d *decisions) found(ctx context.Context, doc change.Document) error {
	d.founding.Store(&doc)
	d.look(doc)
	clock.Await(ctx, func() bool {
		g, known := d.group.Load(), d.ring.Document()
		return g.Refounded() == doc.Refounded && g.Status().Leading && known.Refounded == doc.Refounded
	})
	if g := d.group.Load(); g.Refounded() != doc.Refounded {
		return errors.New("the group could not be founded again yet: see the log of this node, and look at the ring before this is repeated")
	}
	return nil
}

// report says what it means to found the group again.
func (f *founder) report() admin.RingRecovery {
	d := f.d
	r := admin.RingRecovery{Cluster: f.doc.Cluster, Node: d.node.opt.Name, Version: f.doc.Version, Gone: []string{}, Deciders: d.deciders(&f.doc)}
	for _, l := range f.doc.Members {
		if l.State != change.Lost && l.State != change.Waiting && !d.isThere(l) {
			r.Gone = append(r.Gone, l.Name)
		}
	}
	lost := f.doc.Losses(d.isAlive)
	r.SlotsMinority, r.SlotsGone = len(lost.Minority), len(lost.Gone)
	keys := d.node.slotKeys()
	for _, slot := range slices.Concat(lost.Minority, lost.Gone) {
		r.Keys += keys(slot)
	}
	return r
}
