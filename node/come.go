package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring/change"
)

// How a node comes to a ring that does not name this life of it: as a new member (Options.Join), or in its own place again when it has lost its state. Then it
// is an ordinary member of the ring, which holds nothing before a plan gives it something.

// comer is a node on its way to a ring.
type comer struct {
	node *Node
	why  atomic.Pointer[error] // that it is not there yet
	told string

	again   atomic.Bool // it has lost its state, and asked for its place again
	settled atomic.Bool // it has its place, and nobody counts on its former life any more

	mu     sync.Mutex
	dialed []string // where nodes are that know the ring, and have connected with this one, the latest last
}

// maxDialed is how many of them are asked.
const maxDialed = 8

// met notes that a node that knows the ring has connected with this one: it knows where this one is to be, and may be the only one whose address is right.
func (c *comer) met(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialed = append(slices.DeleteFunc(c.dialed, func(a string) bool { return a == address }), address)
	c.dialed = c.dialed[max(0, len(c.dialed)-maxDialed):]
}

// places are where the ring may be asked for.
func (c *comer) places() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Concat(c.node.opt.Join, slices.DeleteFunc(slices.Clone(c.dialed), func(a string) bool { return slices.Contains(c.node.opt.Join, a) }))
}

// comeAgain is how long a comer waits before it tries again.
const comeAgain = 250 * time.Millisecond

// run comes to the ring, until it names this node or ctx ends.
func (c *comer) run(ctx context.Context) {
	for ctx.Err() == nil && !c.node.resumed {
		arrived, err := c.step(ctx)
		switch {
		case arrived:
			c.why.Store(nil)
			return
		case err != nil && ctx.Err() == nil:
			c.why.Store(&err)
			if err.Error() != c.told {
				c.told = err.Error()
				c.node.log.Warn("this node is not part of the ring yet; it tries again", "err", err)
			}
		}
		clock.Sleep(ctx, comeAgain)
	}
}

// reason says why the node is not there yet, empty if there is none.
func (c *comer) reason() string {
	if why := c.why.Load(); why != nil {
		return (*why).Error()
	}
	return ""
}

// step does what is next, and reports whether there is nothing any more.
func (c *comer) step(ctx context.Context) (arrived bool, err error) {
	n := c.node
	doc := n.Document()
	if doc == nil {
		return false, c.seek(ctx)
	}
	self := n.self()
	if life, named := doc.LifeOf(self.Name, self.Generation); named {
		if life.State == change.Waiting && n.opt.AutoJoin {
			return false, c.autoJoin(ctx, doc)
		}
		return true, nil
	}
	if err := c.compareClocks(); err != nil {
		return false, err
	}
	if other, taken := doc.ByName(self.Name); taken && other.State != change.Waiting {
		c.again.Store(true)
		return false, c.propose(ctx, change.Entry{Rejoin: &change.Rejoin{Name: self.Name, Generation: self.Generation, Was: other.Generation, Peer: self.Peer, Gossip: self.Gossip}})
	}
	if len(n.opt.Join) == 0 {
		return true, nil // it has left, or was never asked for
	}
	return false, c.propose(ctx, change.Entry{Join: &change.Join{Member: self}})
}

// compareClocks says why this machine's clock does not allow to join: it is wrong, or it is not known yet whether it is.
func (c *comer) compareClocks() error {
	n := c.node
	var theirs []int64
	for _, p := range n.peers.All() {
		if system, known := p.ClockOnce(n.mono()); known && p.Up() {
			theirs = append(theirs, system)
		}
	}
	wrong, known := clock.Differs(n.system(), theirs)
	switch {
	case !known:
		return fmt.Errorf("it has to know first what time it is by most of the %d members that it has heard", len(theirs))
	case wrong != 0:
		return fmt.Errorf("the clock of this machine is wrong by %s: correct it, then this node joins", wrong.Round(time.Millisecond))
	}
	return nil
}

// propose has the ring changed for this node.
func (c *comer) propose(ctx context.Context, e change.Entry) error {
	err := c.node.Propose(ctx, e)
	if errors.Is(err, change.ErrNothing) { // it is known by now
		return nil
	}
	return err
}

// seek finds the ring that this node is to join, or has been in: it asks those that it was told of, and who connects with it. A node that forms one waits for that.
func (c *comer) seek(ctx context.Context) error {
	var why []error
	for _, address := range c.places() {
		doc, err := c.node.fetchRing(ctx, address)
		if err == nil {
			c.node.members.Offer(doc)
			return nil
		}
		why = append(why, fmt.Errorf("%s: %w", address, err))
	}
	return errors.Join(why...)
}

// fetchTime is how long one node may take to say what the ring is; whether it has refused is looked at after lookAtLink.
const (
	fetchTime  = 5 * time.Second
	lookAtLink = 50 * time.Millisecond
)

// fetchRing asks a node of which nothing is known but where it listens for the ring.
func (n *Node) fetchRing(ctx context.Context, address string) (doc change.Document, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	up := make(chan struct{}, 1)
	var caller *protocol.Caller
	link := wire.NewLink(wire.LinkConfig{Options: n.wireOptions(), Address: address, Dial: n.opt.Dial, Hello: n.members.Hello,
		Check: func(h wire.Hello) error {
			props, err := protocol.DecodeProperties(h)
			if err != nil {
				return err
			}
			return n.members.Judge(h, props)
		},
		OnUp: func(uint64, wire.Hello) {
			select {
			case up <- struct{}{}:
			default:
			}
		},
		OnFrame: func(typ wire.FrameType, body []byte, _ time.Duration) {
			if typ == protocol.FrameCallReply {
				caller.HandleReply(body, nil)
			}
		},
		OnDown: func(_ uint64, err error) { caller.Down(err) }})
	caller = protocol.NewCaller(link)
	link.Start(ctx)
	defer link.Close()
	for connected := false; !connected; {
		select {
		case <-up:
			connected = true
		case <-ctx.Done():
			return doc, ctx.Err()
		case <-time.After(lookAtLink):
			if refused := link.Err(); refused != nil {
				return doc, refused
			}
		}
	}
	doc, _, err = protocol.FetchRing(doc, func(method protocol.Method, payload []byte) ([]byte, error) { return caller.Call(ctx, method, payload) })
	return doc, err
}

// autoJoin plans that this node becomes a member, and commits that; what else is staged it leaves to who has staged it, unless these are nodes that join, too.
func (c *comer) autoJoin(ctx context.Context, doc *change.Document) error {
	n := c.node
	staged := change.Staged{Kind: change.JoinMember, Name: n.opt.Name}
	if !slices.Contains(doc.Staged, staged) {
		return n.Propose(ctx, change.Entry{Stage: &staged})
	}
	if slices.ContainsFunc(doc.Staged, func(s change.Staged) bool { return s.Kind != change.JoinMember }) {
		return errors.New("this node is planned to join, together with other changes that are staged: commit them (quoll ring commit), or drop them (quoll ring plan clear)")
	}
	commit, err := change.Propose(*doc)
	if err != nil {
		return err
	}
	return n.Propose(ctx, change.Entry{Commit: commit})
}

// settling says what a node that has lost its state waits for before another one may lose its own, nil if for nothing (any more): whoever restarts one node after the
// other, as soon as the last one is ready, would else take the majority from slots that it does not hold yet, or from the Raft group. It waits in its next processes, too.
func (c *comer) settling() error {
	if c.settled.Load() {
		return nil
	}
	n, doc := c.node, c.node.Document()
	life, named := doc.LifeOf(n.opt.Name, n.self().Generation)
	if !named {
		return fmt.Errorf("node %s has lost its state, and asks for its place in the ring again", n.opt.Name)
	}
	if left := leftBy(doc, life); left > 0 {
		c.again.Store(true)
		return fmt.Errorf("node %s has lost its state, and still has to collect %d slots from the others", n.opt.Name, left)
	}
	if c.again.Load() {
		if err := n.decisions.incomplete(doc); err != nil {
			return fmt.Errorf("node %s has lost its state: %w", n.opt.Name, err)
		}
	}
	c.settled.Store(true)
	return nil
}

// leftBy is how many slots a former life of a member still holds that this one is to hold.
func leftBy(doc *change.Document, life change.Life) (left int) {
	var former []uint16
	for _, l := range doc.Members {
		if l.Name == life.Name && l.State == change.Lost {
			former = append(former, l.ID)
		}
	}
	if former == nil {
		return 0
	}
	for _, m := range doc.Left() {
		if slices.Contains(m.To, life.ID) && slices.ContainsFunc(m.From, func(id uint16) bool { return slices.Contains(former, id) }) {
			left++
		}
	}
	return left
}
