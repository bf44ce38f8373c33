package node

import (
	"context"
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/collect"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring/change"
)

// What package collect sees of a node.

func newCollector(n *Node) *collect.Collector {
	return collect.New(collected{n}, collect.Options{Done: n.hasCollected, Logger: n.log, Metrics: &n.Metrics})
}

// hasCollected is told of slots that this node has collected: it proposes that they are.
func (n *Node) hasCollected(slots []change.SlotEpoch) { n.decisions.reporter.Done(slots) }

// collect has the node collect what a version of the ring says.
func (n *Node) collect(doc change.Document) {
	self := n.self()
	life, _ := doc.LifeOf(self.Name, self.Generation)
	var slots []change.SlotEpoch
	for _, p := range doc.Joint {
		if slices.Contains(p.Waiting, life.ID) {
			slots = append(slots, change.SlotEpoch{Slot: p.Slot, Epoch: doc.Slots[p.Slot].Epoch})
		}
	}
	n.collects.Update(slots, doc.Rate)
}

// collecting says how far the node is with what it collects, nil if that is nothing.
func (n *Node) collecting() *admin.Collecting {
	p := n.collects.Progress()
	if p.Waiting == 0 {
		return nil
	}
	c := &admin.Collecting{Slots: p.Waiting, Keys: p.Keys, Rewritten: p.Again, Bytes: p.Bytes, BytesPerSecond: p.Rate}
	if p.Held != nil {
		c.Held = p.Held.Error()
	}
	return c
}

// answerCollector answers a member of a slot that collects it.
func (n *Node) answerCollector(method protocol.Method, payload []byte, answer *transfer.Answer) ([]byte, error) {
	switch method {
	case protocol.MethodShow:
		return n.collects.AnswerShow(payload)
	case protocol.MethodFetch:
		return n.collects.AnswerFetch(payload, answer.Ahead)
	}
	return n.collects.AnswerAgain(n.life, payload)
}

// collected is a node that slots come to.
type collected struct{ node *Node }

// Self implements collect.Node.
func (c collected) Self() uint16 {
	if v := c.node.replicas.View(); v != nil {
		return v.Self
	}
	return 0
}

// Peer implements collect.Node.
func (c collected) Peer(member uint16) collect.Peer {
	if p := c.node.peers.Of(member); p != nil {
		return p
	}
	return nil
}

// Lock implements collect.Node.
func (c collected) Lock(slot uint16) collect.Slot {
	return &collectedSlot{publicStripe: publicStripe{c.node.replicas.Lock(slot, c.node.replicas.Begin())}, number: slot}
}

// Committed implements collect.Node.
func (c collected) Committed(ctx context.Context) error { return c.node.committed(ctx) }

// Busy implements collect.Node.
func (c collected) Busy() bool { return c.node.exec.Busy() }

// Room implements collect.Node.
func (c collected) Room() error { return c.node.replicas.Space.Short() }

// Failed implements collect.Node.
func (c collected) Failed() bool { return c.node.replicas.Failed() }

// collectedSlot is a slot whose stripe is locked.
type collectedSlot struct {
	publicStripe
	number uint16
	slot   *replica.Slot // nil until Joint
}

// Joint implements collect.Slot.
func (s *collectedSlot) Joint(epoch uint64) (*register.Config, error) {
	var err error
	s.slot, err = s.Stripe.Joint(s.number, epoch)
	if errors.Is(err, replica.ErrNotReplica) || errors.Is(err, replica.ErrOtherEpoch) {
		return nil, collect.ErrOtherEpoch
	}
	if err != nil {
		return nil, err
	}
	return s.slot.Config(), nil
}

// Acceptor implements collect.Slot.
func (s *collectedSlot) Acceptor() *register.Acceptor { return s.slot.Acceptor() }

// Wrote implements collect.Slot.
func (s *collectedSlot) Wrote(w *register.Write) error { return s.Stripe.Wrote(s.slot, w) }

// Scan implements collect.Slot.
func (s *collectedSlot) Scan(from, end engine.Position, enough func() bool,
	visit func(pos engine.Position, key []byte, rec record.Record)) (engine.Position, error) {
	return s.Stripe.Scan(s.number, from, end, enough, visit)
}

// Fail implements collect.Slot. That a slot is damaged that could not be opened is known.
func (s *collectedSlot) Fail(err error) {
	if s.slot != nil {
		s.Stripe.Fail(s.number, s.slot, err)
	}
}

// Leader implements collect.Slot.
func (s *collectedSlot) Leader() uint16 { return s.Stripe.Leader(s.slot) }

// Again implements collect.Slot.
func (s *collectedSlot) Again(key []byte, answered func(done bool)) {
	s.Background(s.number, replica.OpRepair, key, answered)
}
