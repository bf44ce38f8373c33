package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/decide"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// Changes of the ring: how they are proposed here, and for other nodes.

// Propose has a change of the ring decided. It returns when this node knows the ring after it, if that does not take long. Errors wrap one of package change and
// consensus.ErrRefused if the change was refused, and consensus.ErrUnknown if nobody can tell whether it was made; after any other it was not.
func (n *Node) Propose(ctx context.Context, e change.Entry) error {
	version, err := n.decisions.proposeAnywhere(ctx, e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hearTime)
	defer cancel()
	clock.Await(ctx, func() bool {
		doc := n.Document()
		return doc != nil && doc.Version >= version
	})
	return nil
}

// hearTime is how long Propose waits until what was decided is known here.
const hearTime = 2 * time.Second

// propose has a change decided by this node's group.
func (d *decisions) propose(ctx context.Context, e change.Entry) error {
	_, err := d.proposeHere(ctx, e)
	return err
}

func (d *decisions) proposeHere(ctx context.Context, e change.Entry) (version uint64, err error) {
	g, err := d.current(ctx)
	if err != nil {
		return 0, err
	}
	return decide.Propose(ctx, g, d.node.now(), e)
}

// proposeAnywhere has a change decided by this node's group or, where there is none, has another node propose it.
func (d *decisions) proposeAnywhere(ctx context.Context, e change.Entry) (version uint64, err error) {
	if e.By == "" {
		e.By = d.node.opt.Name
	}
	self := d.node.self()
	if err := d.check(&self, e); err != nil {
		return 0, err
	}
	version, err = d.proposeHere(ctx, e)
	if errors.Is(err, consensus.ErrClosed) && !errors.Is(err, consensus.ErrUnknown) && ctx.Err() == nil && d.ctx.Err() == nil {
		return d.proposeThrough(ctx, e)
	}
	return version, err
}

// proposeThrough has other nodes propose a change, one after the other until one of them can say what became of it.
func (d *decisions) proposeThrough(ctx context.Context, e change.Entry) (version uint64, err error) {
	payload, err := e.Encode()
	if err != nil {
		return 0, err
	}
	err = fmt.Errorf("%w: no other node answers", consensus.ErrNoLeader)
	for _, p := range slices.DeleteFunc(slices.Clone(d.node.peers.All()), func(p *peer.Peer) bool { return !p.Up() }) {
		reply, asked := p.Ask(ctx, protocol.MethodChange, payload)
		switch {
		case errors.Is(asked, protocol.ErrCall), errors.Is(asked, wire.ErrDown):
			err = fmt.Errorf("%w: node %s: %w", consensus.ErrNoLeader, p.Name(), asked)
			continue
		case asked != nil:
			return 0, fmt.Errorf("%w: node %s did not answer: %w", consensus.ErrUnknown, p.Name(), asked)
		}
		if version, err = decide.Answered(reply); err == nil || !errors.Is(err, consensus.ErrClosed) && !errors.Is(err, consensus.ErrNoLeader) {
			return version, err
		}
	}
	return 0, err
}

// answerChange proposes a change for another node, and returns what became of it.
func (d *decisions) answerChange(s *session, payload []byte) ([]byte, error) {
	member := s.member()
	if member == nil {
		return nil, errors.New("node: only nodes have others propose changes of the ring")
	}
	e, err := change.DecodeEntry(payload)
	if err == nil {
		err = d.check(member, e)
	}
	if err != nil {
		return decide.Answer(0, err), nil
	}
	ctx, cancel := context.WithTimeout(d.node.life, answerChangeTime)
	defer cancel()
	return decide.Answer(d.proposeHere(ctx, e)), nil
}

// answerChangeTime bounds what a node does for another one that may not wait any longer.
const answerChangeTime = 15 * time.Second

// The errors of changes that their proposer may not make.
var (
	errNotItself  = fmt.Errorf("%w: a node proposes only for itself that it joins, comes back, or has collected slots", change.ErrImpossible)
	errNameRuns   = fmt.Errorf("%w: a node of that name is running, and has its state: choose another name", change.ErrNameTaken)
	errIsReached  = fmt.Errorf("%w: it is reached there, or is not known to be elsewhere", change.ErrAddressTaken)
	errStillThere = fmt.Errorf("%w: a member that is said to be gone for good answers: stop its process first", change.ErrImpossible)
)

// check says why a node may not propose a change: what it says of itself others believe.
func (d *decisions) check(by *ring.Member, e change.Entry) error {
	doc := d.ring.Document()
	switch {
	case e.Join != nil && (e.Join.Name != by.Name || e.Join.Generation != by.Generation):
		return errNotItself
	case e.Rejoin != nil && (e.Rejoin.Name != by.Name || e.Rejoin.Generation != by.Generation):
		return errNotItself
	case e.Join != nil && d.isReachedAt(doc, by, e.Join.Peer):
		return errIsReached
	case e.Rejoin != nil && d.runs(doc, e.Rejoin.Name, e.Rejoin.Was):
		return errNameRuns
	case e.Complete != nil:
		if doc == nil {
			return errNotItself
		}
		if l, known := doc.LifeOf(by.Name, by.Generation); !known || l.ID != e.Complete.Member {
			return errNotItself
		}
	case e.Accept != nil && slices.ContainsFunc(e.Accept.Gone, d.isAlive):
		return errStillThere
	}
	return nil
}

// refused says to the operators of the cluster, too, why a node did not come to the ring: that node has been told, and tries again all the time.
func (d *decisions) refused(e change.Entry, err error) {
	name := ""
	switch {
	case errors.Is(err, change.ErrNothing):
	case e.Join != nil:
		name = e.Join.Name
	case e.Rejoin != nil:
		name = e.Rejoin.Name
	}
	g := d.group.Load()
	if name == "" || g == nil || !g.Status().Leading || d.told.Swap(err.Error()) == err.Error() {
		return
	}
	d.node.log.Warn("a node that wants to come to the ring was refused", "component", "consensus", "peer", name, "err", err)
}

// isReachedAt reports whether another one may be where a member says that it is. One that has changed places with it is reached elsewhere.
func (d *decisions) isReachedAt(doc *change.Document, by *ring.Member, address string) bool {
	if doc == nil {
		return false
	}
	if _, known := doc.LifeOf(by.Name, by.Generation); !known {
		return false // the ring refuses it an address that is taken
	}
	return slices.ContainsFunc(doc.Members, func(l change.Life) bool {
		if l.Name == by.Name || l.State == change.Lost || l.Peer != address {
			return false
		}
		p := d.node.peers.Of(l.ID)
		return p == nil || !p.Up() || p.Address() == address
	})
}

// runs reports whether a member's life has not ended: the process with its state can be reached.
func (d *decisions) runs(doc *change.Document, name string, generation uint64) bool {
	if doc == nil {
		return false
	}
	l, known := doc.LifeOf(name, generation)
	return known && d.isThere(l)
}
