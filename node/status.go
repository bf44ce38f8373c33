package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
	"github.com/quolldb/quoll/ring/gossip"
)

// A Node is the backend of its admin API.
var _ admin.Backend = (*Node)(nil)

// votes says why the node does not vote, nil if it does.
func (n *Node) votes() error {
	if state, reason := n.state(); state != admin.Voting {
		return fmt.Errorf("node %s does not vote: %s", n.opt.Name, reason)
	}
	return nil
}

// Self describes this node, without asking anybody.
func (n *Node) Self() admin.NodeStatus {
	state, reason := n.state()
	self := n.self()
	s := admin.NodeStatus{Name: n.opt.Name, ID: self.ID, Peer: self.Peer, Rack: n.opt.Rack, Version: n.opt.Version,
		Generation: fmt.Sprintf("%016x", self.Generation), State: state, Reason: reason,
		UptimeSeconds: int64(time.Since(n.started).Seconds()), SeenBy: n.sees()}
	if totals, err := n.engine.Totals(); err == nil {
		s.Keys, s.Tombstones, s.Bytes = totals.Live, totals.Tombstones, totals.Bytes
	}
	s.LeadingSlots = n.slotsLed()
	s.Volatile = n.opt.Identity == nil
	s.Engine, s.Fsync = n.opt.EngineName, n.opt.Fsync
	if u := n.engine.Usage(); u.Disk > 0 {
		s.Disk = &admin.Disk{Bytes: u.Disk, Live: u.Live, Dead: u.Dead, Journal: u.Journal, Free: u.Free}
	}
	if e, ok := n.engine.(engine.Evicting); ok {
		used, limit := e.Memory()
		by := e.Eviction()
		s.Memory = &admin.Memory{Used: used, Limit: limit, Policy: by.Policy.String(), Samples: by.Samples, LogFactor: by.LogFactor, DecayTime: by.DecayTime,
			Evicted: n.Metrics.Evicted.Value()}
	}
	if n.opt.Certificate != nil {
		expires, due := n.opt.Certificate()
		s.CertificateExpires, s.CertificateDue = &expires, due
	}
	s.Slow = n.replicas.Slow()
	s.Behind = n.work.behind.Load()
	s.ClockAheadSeconds = time.Duration(n.clockWrong.Load()).Seconds()
	if short := n.replicas.Space.Short(); short != nil {
		s.Full = short.Error()
	}
	if slots, first := n.rebuilds.Damaged(); first != nil {
		s.DamagedSlots, s.Damage, s.DamagedSlotNumbers = len(slots), first.Error(), slots
	}
	n.repairs.Describe(&s)
	s.Collecting = n.collecting()
	group, err := n.decisions.status()
	if s.Decides = group.Leading; err != nil && !errors.Is(err, errNoGroup) && !errors.Is(err, errNoLog) {
		s.Undecided = err.Error()
	}
	return s
}

func (n *Node) slotsLed() int {
	led := 0
	n.replicas.Each(func(_ uint16, sl *replica.Slot) {
		if sl.Leads() {
			led++
		}
	})
	return led
}

// sees says what this node thinks of the others, by gossip.
func (n *Node) sees() map[string]string {
	seen := map[string]string{}
	if n.gossip == nil {
		return seen
	}
	for _, p := range n.gossip.Members() {
		if p.Name != n.opt.Name {
			seen[p.Name] = p.State.String()
		}
	}
	return seen
}

// State returns what metrics show.
func (n *Node) State() metrics.NodeState {
	s := metrics.NodeState{SlotsLed: n.slotsLed(), Voting: n.votes() == nil, Full: n.replicas.Space.Short() != nil, Behind: n.server.Behind()}
	damaged, _ := n.rebuilds.Damaged()
	s.FailedSlots = len(damaged)
	n.repairs.Measure(&s)
	collected := n.collects.Progress()
	s.CollectSlots, s.CollectKeys, s.CollectAgain, s.CollectBytes = collected.Waiting, uint64(collected.Keys), uint64(collected.Again), uint64(collected.Bytes)
	group, _ := n.decisions.status()
	s.RingLeads, s.RingVotes = group.Leading, slices.Contains(group.Voters, group.ID) && group.ID != 0
	u := n.engine.Usage()
	s.Disk = metrics.Disk{Bytes: u.Disk, Live: u.Live, Dead: u.Dead, Journal: u.Journal, Free: u.Free}
	if totals, err := n.engine.Totals(); err == nil {
		s.Keys, s.Tombstones, s.Bytes = totals.Live, totals.Tombstones, totals.Bytes
	}
	if n.gossip != nil {
		for _, p := range n.gossip.Members() {
			if p.State == gossip.Alive {
				s.GossipAlive++
			}
		}
	}
	return s
}

// Status implements admin.Backend: it asks every node.
func (n *Node) Status(ctx context.Context) (admin.Status, error) {
	status := admin.Status{Cluster: n.opt.ClusterName, Replicas: n.opt.Replicas, Seen: n.opt.Name}
	members := n.initial.Cluster(n.opt.ClusterName, n.opt.Replicas).Members
	if doc := n.Document(); doc != nil {
		status.Replicas, members = doc.Replicas, present(*doc)
	}
	v := n.replicas.View()
	if v != nil {
		status.Epoch, status.Formed = v.Cluster.Epoch, true
	}
	status.Nodes = make([]admin.NodeStatus, len(members))
	var wait sync.WaitGroup
	for i, m := range members {
		if m.Name == n.opt.Name {
			status.Nodes[i] = n.Self()
			continue
		}
		wait.Go(func() { status.Nodes[i] = peerStatus(ctx, n.peers.Of(m.ID), m) })
	}
	wait.Wait()
	var table *ring.Table
	if v != nil {
		table = v.Table
	}
	status.Complete(table)
	if doc := n.Document(); doc != nil {
		status.Describe(*doc)
		status.Decide(n.decisions.deciders(doc))
	}
	return status, nil
}

// present are those of a ring that are not lost, by name.
func present(doc change.Document) (members []ring.Member) {
	for _, l := range doc.Members {
		if l.State != change.Lost {
			members = append(members, l.Member)
		}
	}
	slices.SortFunc(members, func(a, b ring.Member) int { return cmp.Compare(a.Name, b.Name) })
	return members
}

// errLeft is what is known of a member that is no peer any more.
var errLeft = errors.New("it has just left the ring")

// peerStatus asks a peer how it is, nil if it is none yet.
func peerStatus(ctx context.Context, p *peer.Peer, m ring.Member) admin.NodeStatus {
	s := admin.NodeStatus{Name: m.Name, ID: m.ID, Peer: m.Peer, State: admin.Unreachable}
	if p == nil {
		s.Reason = "not connected yet"
		return s
	}
	if h := p.Properties(); h != nil && h.Member != nil {
		s.Rack = h.Member.Rack
	}
	if p.Down() {
		s.Reason = p.Unreachable()
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := p.AskJSON(ctx, protocol.MethodStatus, nil, &s); err != nil {
		s.State, s.Reason = admin.Unreachable, err.Error()
	}
	return s
}

// holding says what this replica holds of a key.
func (n *Node) holding(key []byte) (admin.ReplicaHolding, error) {
	h := admin.ReplicaHolding{Node: n.opt.Name, State: admin.Voting}
	number := ring.SlotOf(key)
	round := n.replicas.Begin()
	defer round.Flush()
	st := n.replicas.Lock(number, round)
	defer st.Unlock()
	sl, err := st.Slot(number)
	if err != nil {
		return h, err
	}
	h.Home = st.Leads(number)
	rec, present, err := sl.Read(key)
	if err != nil {
		return h, err
	}
	h.Present, h.Tombstone = present, present && !rec.State.Live()
	h.Version = versionText(rec.Version)
	if h.Digest, err = digestText(rec.State); err != nil {
		return h, err
	}
	meta := sl.Meta()
	h.Promised, h.Floor = versionText(record.Version{Ballot: meta.Promised}), versionText(meta.Floor)
	h.Type, h.Size = rec.State.Type.String(), rec.State.Size()
	if rec.State.ExpireAt != 0 {
		at := time.UnixMilli(rec.State.ExpireAt).UTC()
		h.ExpireAt = &at
	}
	return h, nil
}

// versionText is empty for no version.
func versionText(v record.Version) string {
	if v.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v.Ballot.Counter, v.Ballot.Member(), v.Seq)
}

// digestText identifies a state, for people and tests who compare replicas.
func digestText(st record.State) (string, error) {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%d %d ", st.Type, st.ExpireAt)
	if _, err := io.Copy(sum, st.Reader()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", sum.Sum64()), nil
}

// Locate implements admin.Backend: it asks every replica.
func (n *Node) Locate(ctx context.Context, number int, key []byte) (admin.Location, error) {
	v := n.replicas.View()
	if v == nil {
		_, reason := n.state()
		return admin.Location{}, fmt.Errorf("no ring yet: %s", reason)
	}
	key = v.Placements.ID(number).Key(key)
	ask := func(ctx context.Context, id uint16) (admin.ReplicaHolding, error) {
		if id == v.Self {
			return n.holding(key)
		}
		var h admin.ReplicaHolding
		p := n.peers.Of(id)
		if p == nil {
			return h, errLeft
		}
		err := p.AskJSON(ctx, protocol.MethodLocate, key, &h)
		return h, err
	}
	return admin.Locate(ctx, v.Lives, v.Table, key, ask), nil
}
