package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// How a cluster forms, in two phases.

// form makes the ring effective. It is called once with success.
func (m *Membership) form(cluster ring.Cluster) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.formLocked(cluster)
}

// formLocked saves the ring, and then enters it: a node that has voted knows for
// which ring when it is restarted.
func (m *Membership) formLocked(cluster ring.Cluster) error {
	if m.decided() || m.reforming.Load() {
		return nil
	}
	if m.node.Failed() {
		return errStoreFailed
	}
	enter, err := m.node.Prepare(cluster)
	if err != nil {
		return err
	}
	if id := m.opt.Identity; id != nil {
		if err := id.SaveRing(cluster); err != nil {
			m.node.StorageFailed(err)
			return err
		}
	}
	m.enter(cluster, enter)
	m.log.Info("the cluster has formed", "epoch", cluster.Epoch, "nodes", len(cluster.Members), "replicas", cluster.Replicas)
	return nil
}

// enter lets the node vote in a ring that it is prepared for. m.mu is locked.
func (m *Membership) enter(cluster ring.Cluster, enter func()) {
	enter()
	m.ring.Store(&cluster)
	close(m.formed)
}

// AnswerPropose is the first phase at a member, a MethodPropose call: it binds it to the ring until the next proposal.
func (m *Membership) AnswerPropose(payload []byte) error {
	cluster, err := decodeCluster(payload)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.decided() || m.reforming.Load() {
		return errFormed
	}
	if me, _ := cluster.ByName(m.opt.Name); me.Generation != m.self.Generation {
		return errNotMyself
	}
	m.bound = cluster.Digest()
	return nil
}

// AnswerCommit is the second phase, a MethodCommit call. No other proposal gets between the check and the deed.
func (m *Membership) AnswerCommit(payload []byte) error {
	cluster, err := decodeCluster(payload)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bound != cluster.Digest() {
		return errNotBound
	}
	return m.formLocked(cluster)
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

// Run forms the cluster. It runs until the cluster has formed or ctx ends.
func (m *Membership) Run(ctx context.Context) {
	ticker := time.NewTicker(formInterval)
	defer ticker.Stop()
	coordinator := m.opt.Initial[0].Name == m.opt.Name
	told, of := time.Now().Add(tellAfter-tellInterval), ""
	for !m.decided() && !m.node.Failed() {
		if coordinator {
			m.tryToForm(ctx)
		}
		missing := strings.Join(m.missing(), " ")
		if since := time.Since(told); since > tellInterval || of != "" && missing != of && since > tellAfter {
			told, of = time.Now(), missing
			_, reason := m.node.State()
			m.log.Warn("the cluster has not formed yet, which needs every node once", "reason", reason)
		}
		select {
		case <-ctx.Done():
			return
		case <-m.formed:
		case <-ticker.C:
		}
	}
}

// tryToForm runs both phases, if all members are there.
func (m *Membership) tryToForm(ctx context.Context) {
	cluster, ok := m.gather()
	if !ok {
		return
	}
	payload, err := json.Marshal(cluster)
	if err != nil {
		return
	}
	if err := m.AnswerPropose(payload); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*formInterval)
	defer cancel()
	for _, p := range m.node.Peers() {
		if _, err := p.Ask(ctx, protocol.MethodPropose, payload); err != nil {
			m.log.Debug("a node does not accept the ring", "peer", p.Name(), "err", err)
			return
		}
	}
	if err := m.form(cluster); err != nil {
		m.log.Error("the ring cannot be formed", "err", err)
		return
	}
	for _, p := range m.node.Peers() { // who misses it learns it from the next handshake
		if _, err := p.Ask(ctx, protocol.MethodCommit, payload); err != nil {
			m.log.Debug("a node did not hear that the cluster has formed", "peer", p.Name(), "err", err)
		}
	}
}

// gather puts together what all members say of themselves.
func (m *Membership) gather() (ring.Cluster, bool) {
	cluster := m.initial()
	after := m.opt.Forgotten.Epoch
	for i := range cluster.Members {
		member := &cluster.Members[i]
		if member.Name == m.opt.Name {
			*member = m.self
			continue
		}
		p := m.peer(member.Name)
		h := p.Properties()
		if !p.Up() || h == nil || h.Member == nil || h.Cluster != nil {
			return cluster, false
		}
		*member = *h.Member
		after = max(after, h.After)
	}
	cluster.Epoch = after + 1 // 1, unless rings were given up
	return cluster, true
}

// missing returns the names of the nodes that do not answer.
func (m *Membership) missing() (names []string) {
	for _, p := range m.node.Peers() {
		if !p.Up() {
			names = append(names, p.Name())
		}
	}
	return names
}

// peer returns another node of the initial cluster.
func (m *Membership) peer(name string) Peer {
	peers := m.node.Peers()
	return peers[slices.IndexFunc(peers, func(p Peer) bool { return p.Name() == name })]
}
