package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// How a cluster forms, in two phases.

// form makes the ring effective. It is called once with success.
func (m *Membership) form(cluster ring.Cluster) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.formLocked(cluster)
}

// formLocked begins the document of the ring.
func (m *Membership) formLocked(cluster ring.Cluster) error {
	if m.decided() || m.reforming.Load() {
		return nil
	}
	doc, err := change.FromCluster(cluster)
	if err != nil {
		return err
	}
	if err := m.take(doc, false); err != nil {
		return err
	}
	m.log.Info("the cluster has formed", "epoch", cluster.Epoch, "nodes", len(cluster.Members), "replicas", cluster.Replicas)
	return nil
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
	if me, _ := cluster.ByName(m.opt.Name); me.Generation != m.Self().Generation {
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

// Run forms the cluster, and takes up what is known later of its ring. It runs until ctx ends.
func (m *Membership) Run(ctx context.Context) {
	var wait sync.WaitGroup
	wait.Go(func() { m.runForming(ctx) })
	wait.Go(func() { m.ask(ctx) })
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-m.offered:
			m.takeOffer()
		}
	}
	wait.Wait()
}

// runForming forms the cluster, until a ring is known or ctx ends.
func (m *Membership) runForming(ctx context.Context) {
	ticker := time.NewTicker(formInterval)
	defer ticker.Stop()
	coordinator := len(m.opt.Initial) > 0 && m.opt.Initial[0].Name == m.opt.Name
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
	for _, p := range m.node.Peers() { // who misses it learns it from what follows, or the next handshake
		if _, err := p.Ask(ctx, protocol.MethodCommit, payload); err != nil {
			m.log.Debug("a node did not hear that the cluster has formed", "peer", p.Name(), "err", err)
		}
	}
	m.node.Announce(m.News(), true)
}

// gather puts together what all members say of themselves.
func (m *Membership) gather() (ring.Cluster, bool) {
	cluster := m.initial()
	after := m.opt.Forgotten.Epoch
	for i := range cluster.Members {
		member := &cluster.Members[i]
		if member.Name == m.opt.Name {
			*member = m.Self()
			continue
		}
		p, found := m.peer(member.Name)
		if !found || !p.Up() {
			return cluster, false
		}
		h := p.Properties()
		if h == nil || h.Member == nil || h.Ring.Formation != 0 {
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

// peer returns another node by its name.
func (m *Membership) peer(name string) (Peer, bool) {
	peers := m.node.Peers()
	if i := slices.IndexFunc(peers, func(p Peer) bool { return p.Name() == name }); i >= 0 {
		return peers[i], true
	}
	return nil, false
}
