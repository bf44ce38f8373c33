package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// How a cluster forms. Every life of a node's data has a random generation: that of a
// memory node ends with the process, that of a durable one with its data directory. The member with
// the lowest name gathers those of all members of the initial cluster, proposes the resulting
// ring to each of them, and when all have accepted it commits: the ring of epoch 1 names the
// generation of every member. Only a process whose generation is in the ring votes.
//
// A durable node saves the ring before it votes for the first time. When it is
// restarted it takes up that ring at once, whoever else is there (identity.go), and its peers
// know its generation. If it was restarted between proposal and commit it has no ring, has
// not voted, and learns from the next handshake with a member that has formed whether the ring
// names its generation. A coordinator that was restarted before it saved the ring begins
// again; one that was restarted after has formed, and the others learn the ring from it.
//
// A memory node that is restarted, or a durable one that lost its state, has another
// generation. It learns the ring from any node that is part of it, finds itself superseded, and
// does not vote: it would forget what its former life promised (R19). The others go on, as long
// as they are a majority. Should no node have kept a ring, no state is left either, and a new,
// empty cluster forms; as long as some still know the ring, the operator has to say so (reform.go).
//
// A proposal binds a member only until the next one, or until it is restarted: as long as
// some member has not formed, it has not voted, and a member that has formed accepts no
// proposal.

// Errors of formation; they travel to the other side as text.
var (
	errFormed    = errors.New("node: part of a cluster that has formed already")
	errNotBound  = errors.New("node: this is not the ring that was proposed last")
	errNotMyself = errors.New("node: the proposed ring names another generation of this node")
	errFrameType = errors.New("node: unknown frame type")
	errDiffer    = errors.New("the configurations differ")

	errStoreFailed = errors.New("node: the store failed")
)

// hello is what this node says of itself.
func (n *Node) hello() wire.Hello {
	state, reason := n.state()
	p := protocol.Properties{Initial: n.initial.String(), Member: &n.self, Replicas: n.opt.Replicas,
		Voting: state == admin.Voting, State: reason, Version: n.opt.Version, Restored: n.restored(),
		Proxies: n.conns.count(wire.RoleProxy), After: n.opt.Forgotten.Epoch}
	if v := n.view.Load(); v != nil {
		p.Cluster = &v.cluster
	} else if lost := n.superseded.Load(); lost != nil {
		p.Cluster = &lost.cluster
	}
	return p.Encode(wire.Hello{Role: wire.RoleNode, Name: n.opt.Name, Cluster: n.opt.ClusterName})
}

// accept judges a peer that connects.
func (n *Node) accept(h wire.Hello) (wire.Hello, error) {
	props, err := protocol.DecodeProperties(h)
	if err == nil {
		err = n.sameCluster(h, props)
	}
	if err != nil {
		return wire.Hello{}, err
	}
	if h.Role == wire.RoleNode {
		if err := n.acquaint(h, props); err != nil {
			return wire.Hello{}, err
		}
	}
	if n.failed.Load() && h.Properties != nil {
		h.Properties[toldOfFailure] = "true" // Open gets the same hello
	}
	return n.hello(), nil
}

// toldOfFailure marks the hello of a peer that was told that the store has failed.
const toldOfFailure = "told of failure"

// acquaint judges what another node says of itself, and learns from it whether the
// cluster has formed.
func (n *Node) acquaint(h wire.Hello, props protocol.Properties) error {
	if props.Member == nil {
		return fmt.Errorf("node %s does not say who it is", h.Name)
	}
	if props.Member.Name != h.Name {
		return fmt.Errorf("node %s says that it is node %s", h.Name, props.Member.Name)
	}
	known, ok := n.initial.Cluster(n.opt.ClusterName, n.opt.Replicas).ByName(h.Name)
	if !ok {
		return fmt.Errorf("node %s is not in the initial cluster %s", h.Name, n.initial)
	}
	if known.ID != props.Member.ID {
		return fmt.Errorf("node %s has another number here", h.Name)
	}
	return n.meet(props)
}

// sameCluster compares what must be the same everywhere.
func (n *Node) sameCluster(h wire.Hello, props protocol.Properties) error {
	if h.Cluster != n.opt.ClusterName {
		return fmt.Errorf("%w: this is cluster %q, not %q: correct --cluster-name", errDiffer, n.opt.ClusterName, h.Cluster)
	}
	if props.Initial != "" {
		theirs, err := ring.ParseInitial(props.Initial)
		if err != nil {
			return err
		}
		if diff := ring.Diff(n.initial, theirs); diff != "" {
			return fmt.Errorf("%w: --initial-cluster of %s (here) and of %s (there) differ: %s", errDiffer, n.opt.Name, h.Name, diff)
		}
	}
	if h.Role == wire.RoleNode && props.Restored != n.restored() && props.Cluster == nil && n.view.Load() == nil {
		return fmt.Errorf("%w: the data of %s and of %s did not begin with the same backups: restore the same ones on every node", errDiffer, n.opt.Name, h.Name)
	}
	if h.Role == wire.RoleNode {
		return n.compareReplicas(h, props)
	}
	return nil
}

// meet learns from another node whether the cluster has formed.
func (n *Node) meet(props protocol.Properties) error {
	if props.Cluster == nil || n.view.Load() != nil || n.superseded.Load() != nil {
		return nil // whatever generation it has: what has lost its state votes in no ring that knows it
	}
	if n.opt.Forgotten.has(props.Cluster.Digest()) {
		return nil // that node has not given it up yet
	}
	me, ok := props.Cluster.ByName(n.opt.Name)
	if !ok {
		return fmt.Errorf("the ring of %s has no node %s", props.Member.Name, n.opt.Name)
	}
	if me.Generation == n.self.Generation {
		return n.form(*props.Cluster) // the commit was lost on its way to this node
	}
	n.loseState(*props.Cluster, n.lostHow())
	return nil
}

// superseded is why a node does not vote: cluster names a former life of it.
type superseded struct {
	cluster ring.Cluster
	reason  string
}

// loseState notes that the ring knows a former life of this node.
func (n *Node) loseState(cluster ring.Cluster, reason string) {
	if n.superseded.CompareAndSwap(nil, &superseded{cluster, reason}) {
		n.log.Error("this node has lost its state and does not vote: it has forgotten what it promised, and its vote could lose acknowledged writes", "reason", reason, "what to do", n.wayOut())
	}
}

// lostHow says why this node has none of the state that the ring of others knows.
func (n *Node) lostHow() string {
	if n.opt.Identity == nil {
		return "restarted without its state, which was in memory"
	}
	return fmt.Sprintf("restarted without its state: its data directory %s was empty, or was never part of this cluster", n.opt.Data)
}

// wayOut is one that works, of a node that has lost its state.
func (n *Node) wayOut() string {
	switch id := n.opt.Identity; {
	case id == nil:
		return "if the others are no majority, let all nodes form an empty cluster: quoll ring reform"
	case id.Ring() == nil:
		return fmt.Sprintf("if its data is elsewhere (is the volume mounted?), stop this node and start it with it at %s; "+
			"if it is gone, restore a backup of another node on every node: quoll node backup, quoll node restore", n.opt.Data)
	}
	return "restore a backup of another node on every node, into new directories: quoll node backup, quoll node restore; what is in " + n.opt.Data + " may be too old"
}

// form makes the ring effective. It is called once with success.
func (n *Node) form(cluster ring.Cluster) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.formLocked(cluster)
}

// formLocked saves the ring, and then enters it: a node that has voted knows for
// which ring when it is restarted.
func (n *Node) formLocked(cluster ring.Cluster) error {
	if n.view.Load() != nil || n.superseded.Load() != nil || n.reforming.Load() {
		return nil
	}
	if n.failed.Load() {
		return errStoreFailed
	}
	v, err := newView(cluster, n.opt.Name)
	if err != nil {
		return err
	}
	if id := n.opt.Identity; id != nil {
		if err := id.SaveRing(cluster); err != nil {
			n.storageFailed(err)
			return err
		}
	}
	n.enter(v)
	n.log.Info("the cluster has formed", "epoch", cluster.Epoch, "nodes", len(cluster.Members), "replicas", cluster.Replicas)
	return nil
}

// enter lets the node vote in a ring. n.mu is locked.
func (n *Node) enter(v *view) {
	n.openHints(v)
	n.view.Store(v)
	for _, p := range n.peers {
		p.member.Store(p.inRing())
	}
	close(n.formed)
}

// propose is the first phase at a member: it binds it to the ring until the next proposal.
func (n *Node) propose(payload []byte) error {
	cluster, err := decodeCluster(payload)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.view.Load() != nil || n.superseded.Load() != nil || n.reforming.Load() {
		return errFormed
	}
	if me, _ := cluster.ByName(n.opt.Name); me.Generation != n.self.Generation {
		return errNotMyself
	}
	n.bound = cluster.Digest()
	return nil
}

// commit is the second phase. No other proposal gets between the check and the deed.
func (n *Node) commit(payload []byte) error {
	cluster, err := decodeCluster(payload)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.bound != cluster.Digest() {
		return errNotBound
	}
	return n.formLocked(cluster)
}

func decodeCluster(payload []byte) (ring.Cluster, error) {
	var cluster ring.Cluster
	if err := json.Unmarshal(payload, &cluster); err != nil {
		return cluster, fmt.Errorf("node: ring: %w", err)
	}
	return cluster, cluster.Validate()
}

// formInterval is the time between attempts to form the cluster.
const formInterval = 100 * time.Millisecond

// A node says what it waits for after tellAfter, when it waits for others than before, and each tellInterval.
const (
	tellAfter    = 5 * time.Second
	tellInterval = time.Minute
)

// formCluster runs until the cluster has formed or ctx ends.
func (n *Node) formCluster(ctx context.Context) {
	ticker := time.NewTicker(formInterval)
	defer ticker.Stop()
	coordinator := n.initial[0].Name == n.opt.Name
	told, of := time.Now().Add(tellAfter-tellInterval), ""
	for n.view.Load() == nil && n.superseded.Load() == nil && !n.failed.Load() {
		if coordinator {
			n.tryToForm(ctx)
		}
		missing := strings.Join(n.missing(), " ")
		if since := time.Since(told); since > tellInterval || of != "" && missing != of && since > tellAfter {
			told, of = time.Now(), missing
			_, reason := n.state()
			n.log.Warn("the cluster has not formed yet, which needs every node once", "reason", reason)
		}
		select {
		case <-ctx.Done():
			return
		case <-n.formed:
		case <-ticker.C:
		}
	}
}

// tryToForm runs both phases, if all members are there.
func (n *Node) tryToForm(ctx context.Context) {
	cluster, ok := n.gather()
	if !ok {
		return
	}
	payload, err := json.Marshal(cluster)
	if err != nil {
		return
	}
	if err := n.propose(payload); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*formInterval)
	defer cancel()
	for _, p := range n.peers {
		if _, err := p.caller.Call(ctx, protocol.MethodPropose, payload); err != nil {
			n.log.Debug("a node does not accept the ring", "peer", p.name, "err", err)
			return
		}
	}
	if err := n.form(cluster); err != nil {
		n.log.Error("the ring cannot be formed", "err", err)
		return
	}
	for _, p := range n.peers { // who misses it learns it from the next handshake
		if _, err := p.caller.Call(ctx, protocol.MethodCommit, payload); err != nil {
			n.log.Debug("a node did not hear that the cluster has formed", "peer", p.name, "err", err)
		}
	}
}

// gather puts together what all members say of themselves.
func (n *Node) gather() (ring.Cluster, bool) {
	cluster := n.initial.Cluster(n.opt.ClusterName, n.opt.Replicas)
	after := n.opt.Forgotten.Epoch
	for i := range cluster.Members {
		m := &cluster.Members[i]
		if m.Name == n.opt.Name {
			*m = n.self
			continue
		}
		p := n.peerOf(m.ID)
		h := p.hello.Load()
		if p.link.State() != wire.Up || h == nil || h.Member == nil || h.Cluster != nil {
			return cluster, false
		}
		*m = *h.Member
		after = max(after, h.After)
	}
	cluster.Epoch = after + 1 // 1, unless rings were given up
	return cluster, true
}

// state says whether the node votes and, if not, why.
func (n *Node) state() (admin.State, string) {
	switch {
	case n.end.Load() != nil:
		return admin.Failed, (*n.end.Load()).Error()
	case n.failed.Load():
		return admin.Failed, fmt.Sprintf("its store failed: %v", *n.failure.Load())
	case n.superseded.Load() != nil:
		return admin.LostState, n.superseded.Load().reason + "; it does not vote, for it has forgotten what it promised; " + n.wayOut()
	case n.view.Load() != nil:
		return admin.Voting, ""
	}
	var missing []string
	for _, p := range n.peers {
		if p.link.State() != wire.Up {
			missing = append(missing, fmt.Sprintf("%s at %s (%s)", p.name, p.address, p.unreachable()))
		}
	}
	if len(missing) == 0 {
		return admin.Forming, "the nodes are agreeing on the ring"
	}
	return admin.Forming, "waits for " + strings.Join(missing, ", ")
}

// missing returns the names of the nodes that do not answer.
func (n *Node) missing() (names []string) {
	for _, p := range n.peers {
		if p.link.State() != wire.Up {
			names = append(names, p.name)
		}
	}
	return names
}
