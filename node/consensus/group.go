package consensus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/raft/v3"
)

// Group is this node's part in the Raft group, from Start to Close. Its methods may be called concurrently.
type Group struct {
	cfg    Config
	core   *core
	ctx    context.Context
	cancel context.CancelFunc

	messages chan []byte
	calls    chan func() error
	status   atomic.Pointer[Status]
	voters   atomic.Pointer[Voters] // the newest that the loop knows,
	heard    atomic.Pointer[Voters] // and the newest that it has not looked at yet

	ended chan struct{} // closed when the loop has ended: who asks is told so, also a call of cfg.Lead
	err   error         // why, from then on
	leads sync.WaitGroup
	done  chan struct{} // closed when all has ended
	// Of the loop: how to end the present call of cfg.Lead, and what is closed when it has ended.
	deposed context.CancelFunc
	left    chan struct{}
}

// Status is what a group knows of itself.
type Status struct {
	ID      uint64
	Leader  uint64 // 0 if this node knows none; a node that is no member never does
	Leading bool
	Term    uint64
	Applied uint64 // the index up to which the machine has the log
	// Voters are those who decide, Leaving those who still do while they are replaced, CatchingUp those who are to be voters.
	Voters, Leaving, CatchingUp []uint64
}

// maxMessages is how many messages may wait; more are lost, and repeated by whoever sent them.
const maxMessages = 256

// Start begins with what is stored. It restores the machine before it returns, and blocks no longer than the storage takes. The group owns
// the storage from now on, also if Start fails, and runs until ctx ends, Close is called or it cannot go on: Done and Err say so.
func Start(ctx context.Context, cfg Config) (*Group, error) {
	if err := cfg.Validate(); err != nil {
		if cfg.Storage != nil {
			cfg.Storage.close()
		}
		return nil, err
	}
	core, err := begin(cfg)
	if err != nil {
		cfg.Storage.close()
		return nil, err
	}
	g := &Group{cfg: cfg, core: core, messages: make(chan []byte, maxMessages), calls: make(chan func() error),
		ended: make(chan struct{}), done: make(chan struct{})}
	g.ctx, g.cancel = context.WithCancel(ctx)
	core.lead = g.lead
	g.publish()
	go g.run()
	return g, nil
}

// begin is newCore, which may panic at what it finds.
func begin(cfg Config) (c *core, err error) {
	err = recovered(func() (err error) {
		c, err = newCore(cfg, time.Now())
		return err
	})
	return c, err
}

// recovered calls a function of the core. The library panics when it finds what cannot be, and so may a machine: that ends the group, which is not on the path
// of any command, and not the process.
func recovered(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Raft group of this node has found what cannot be: %v", p)
		}
	}()
	return call()
}

func (g *Group) run() {
	g.err = g.loop()
	g.cancel()
	g.core.end()
	g.lead(false)
	close(g.ended)
	g.leads.Wait()
	g.cfg.Storage.close()
	if g.err != nil {
		g.core.log.Error("the Raft group of this node has ended; commands go on, but it decides nothing until it is started again", "err", g.err)
	}
	close(g.done)
}

func (g *Group) loop() error {
	ticker := time.NewTicker(g.cfg.Tick)
	defer ticker.Stop()
	for {
		var call func() error
		select {
		case <-g.ctx.Done():
			return nil
		case <-ticker.C:
			if heard := g.heard.Swap(nil); heard != nil {
				g.core.hear(*heard)
			}
			call = func() error { return g.core.tick(time.Now()) }
		case m := <-g.messages:
			call = func() error { return g.core.receive(time.Now(), m) }
		case call = <-g.calls:
		}
		if err := recovered(call); err != nil {
			return err
		}
		g.publish()
	}
}

// Receive takes a message that another node's Transport was given for this one. It does not block, and may lose the message. The bytes are the group's.
func (g *Group) Receive(message []byte) {
	select {
	case g.messages <- message:
	default:
	}
}

// Propose has an entry decided, and applied once, whoever leads, and returns what the Machine said of it. It blocks until then, until ctx ends, or
// Config.Patience is over. The entry's bytes must not change any more. Errors wrap ErrRefused, ErrNoLeader, ErrTooLarge, ErrBusy or ErrClosed, after which
// the entry had no effect, or ErrUnknown.
//
// The entry may be applied on this node later than Propose returns, or never, if it is no member.
func (g *Group) Propose(ctx context.Context, entry []byte) (Result, error) {
	type answer struct {
		Result
		error
	}
	answers := make(chan answer, 1)
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Patience)
	defer cancel()
	var seq uint64
	begun := g.call(ctx, func() (err error) {
		seq, err = g.core.propose(time.Now(), entry, func(r Result, err error) { answers <- answer{r, err} })
		return err
	})
	if begun != nil {
		return Result{}, begun
	}
	select {
	case a := <-answers:
		return a.Result, a.error
	case <-ctx.Done():
	case <-g.ended:
	}
	_ = g.call(context.Background(), func() error { // otherwise the group has ended, and the proposal with it
		g.core.giveUp(time.Now(), seq)
		return nil
	})
	a := <-answers
	return a.Result, a.error
}

// call has the loop call a function.
func (g *Group) call(ctx context.Context, f func() error) error {
	called := make(chan struct{})
	select {
	case g.calls <- func() error { defer close(called); return f() }:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNoLeader, ctx.Err())
	case <-g.ended:
		return g.closed()
	}
	<-called // the loop finishes what it has begun
	return nil
}

func (g *Group) closed() error { return errors.Join(ErrClosed, g.err) }

// Status returns what the group knows of itself, as of a moment ago.
func (g *Group) Status() Status { return *g.status.Load() }

// Voters returns the newest voters that this node knew a moment ago, none if it has heard of none. It does not block, so that nobody who connects
// waits for the storage.
func (g *Group) Voters() Voters {
	v := *g.voters.Load()
	v.IDs = slices.Clone(v.IDs)
	return v
}

// Hear tells the group who votes, as another node's Voters said. What is older than what it knows, or of another formation, is ignored. It does not block; the
// group looks at it within a Tick.
func (g *Group) Hear(v Voters) {
	if v.Formation != g.core.formation() { // which does not change
		return
	}
	v.IDs = slices.Clone(v.IDs)
	for {
		old := g.heard.Load()
		if old != nil && old.Index >= v.Index || g.heard.CompareAndSwap(old, &v) {
			return
		}
	}
}

// publish makes what Status and Voters return. It is called by the loop.
func (g *Group) publish() {
	c := g.core
	voters := c.voters()
	g.voters.Store(&voters)
	s := c.node.BasicStatus()
	g.status.Store(&Status{
		ID: c.cfg.ID, Leader: s.Lead, Leading: c.leading, Term: s.GetTerm(), Applied: c.applied,
		Voters: slices.Clone(c.conf.Voters), Leaving: without(c.conf.VotersOutgoing, c.conf.Voters), CatchingUp: slices.Clone(c.conf.Learners),
	})
}

// lead begins and ends calls of cfg.Lead, one after the other. It is called by the loop.
func (g *Group) lead(leading bool) {
	if g.deposed != nil {
		g.deposed()
		g.deposed = nil
	}
	if !leading || g.cfg.Lead == nil {
		return
	}
	ctx, cancel := context.WithCancel(g.ctx)
	before, left := g.left, make(chan struct{})
	g.deposed, g.left = cancel, left
	g.leads.Go(func() {
		defer close(left)
		defer cancel()
		if before != nil {
			<-before
		}
		if ctx.Err() == nil {
			g.cfg.Lead(ctx)
		}
	})
}

// Done is closed when the group has ended.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err returns why the group has ended by itself, nil if it was told to, or has not ended. Errors wrap ErrStorage if it could not make something durable, and
// ErrUnknownEntry if this version is too old.
func (g *Group) Err() error {
	select {
	case <-g.done:
		return g.err
	default:
		return nil
	}
}

// Close ends the group, and waits for its goroutines, a call of Config.Lead included. It may be called again.
func (g *Group) Close() {
	g.cancel()
	<-g.done
}

var _ raft.Logger = libraryLog{}
