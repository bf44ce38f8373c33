package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/decide"
	"github.com/quolldb/quoll/ring/change"
)

// documents is where this node's ring is, whoever changes it.
type documents interface {
	// Document returns what the node knows, nil before there is a ring. It is not to be changed.
	Document() *change.Document
	// Offer has a later version taken up; what is no news is forgotten. It does not block.
	Offer(doc change.Document)
}

// decisions is this node's part in deciding changes of the ring: its Raft group from when there is a ring until the node ends, and what it does for the changes.
// Commands need none of it.
type decisions struct {
	node     *Node
	ring     documents
	reporter decide.Reporter

	group    atomic.Pointer[consensus.Group]
	founding atomic.Pointer[change.Document] // what this node is to found the group again with
	again    chan struct{}                   // it may be another group that this node has to be in
	failed   atomic.Pointer[error]           // why there is no group, and will be none
	told     atomic.Value                    // why a node was refused last, a string
	attempts atomic.Int64                    // to start a group that failed, and may not the next time
	begun    chan struct{}                   // closed when a group has started, or could not
	begin    sync.Once
	ctx      context.Context
	cancel   context.CancelFunc
	wait     sync.WaitGroup
}

func newDecisions(n *Node, ring documents) *decisions {
	d := &decisions{node: n, ring: ring, begun: make(chan struct{}), again: make(chan struct{}, 1)}
	d.reporter = decide.Reporter{Document: ring.Document, Self: d.self, Propose: d.propose, By: n.opt.Name, Logger: n.log}
	return d
}

// start begins when the node has a ring.
func (d *decisions) start(ctx context.Context) {
	d.ctx, d.cancel = context.WithCancel(ctx)
	d.wait.Go(func() { d.run(d.ctx) })
}

// close ends it, and waits for that. What is being proposed is given up.
func (d *decisions) close() {
	d.cancel()
	d.wait.Wait()
}

// startAgain is how long a node waits before it starts a group again whose log could not be written: the disk may have been full.
const startAgain = 30 * time.Second

func (d *decisions) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-d.node.Formed():
	}
	d.wait.Go(func() { d.reporter.Run(ctx) })
	for {
		err := d.decide(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errAnotherGroup) {
			continue
		}
		if !errors.Is(err, consensus.ErrStorage) {
			d.failed.Store(&err)
			d.begin.Do(func() { close(d.begun) })
			level := slog.LevelError
			if errors.Is(err, errNoLog) { // whoever started it knows
				level = slog.LevelDebug
			}
			d.node.log.Log(ctx, level, "this node takes no part in deciding changes of the ring; commands go on", "component", "consensus", "err", err)
			return
		}
		d.begin.Do(func() { close(d.begun) })
		if d.attempts.Add(1) == 1 {
			d.node.log.Warn("this node takes no part in deciding changes of the ring yet; it tries again", "component", "consensus", "err", err)
		}
		clock.Sleep(ctx, startAgain)
	}
}

// decide runs a group, until it or ctx ends.
func (d *decisions) decide(ctx context.Context) error {
	doc := d.ring.Document()
	storage, err := d.storage()
	if err != nil {
		return err
	}
	machine := decide.NewMachine(d.ring.Offer)
	machine.Refused = d.refused
	cfg := d.config(doc, storage, machine)
	if founded := d.founding.Swap(nil); founded != nil {
		cfg.Refounded, cfg.Initial = founded.Refounded, &consensus.Initial{Voters: []uint64{cfg.ID}, Snapshot: founded.Encode()}
	}
	group, err := consensus.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer group.Close()
	d.group.Store(group)
	d.begin.Do(func() { close(d.begun) })
	for _, p := range d.node.peers.All() {
		if props := p.Properties(); props != nil {
			group.Hear(consensus.Voters(props.Voters))
		}
	}
	for !d.isInAnother(group) {
		select {
		case <-ctx.Done():
			return nil
		case <-group.Done():
			return group.Err()
		case <-d.again:
		}
	}
	return errAnotherGroup
}

// errAnotherGroup ends a node's part in a group that was founded again without it, or that it is to found again.
var errAnotherGroup = errors.New("the group was founded again")

// isInAnother reports whether this node has to be in another group than it is in.
func (d *decisions) isInAnother(g *consensus.Group) bool {
	return d.founding.Load() != nil || d.ring.Document().Refounded > g.Refounded()
}

// look has it found out whether this node is in the group of the ring.
func (d *decisions) look(change.Document) {
	select {
	case d.again <- struct{}{}:
	default:
	}
}

// errNoLog is why a node does not take part that would forget how it voted.
var errNoLog = errors.New("it keeps its data and has nowhere to keep how it voted")

// storage opens what keeps how the node votes.
func (d *decisions) storage() (consensus.Storage, error) {
	opt := &d.node.opt
	switch {
	case opt.OpenLog != nil:
		s, err := opt.OpenLog()
		if err != nil && !errors.Is(err, consensus.ErrLost) && !errors.Is(err, consensus.ErrDamaged) {
			err = fmt.Errorf("%w: %w", consensus.ErrStorage, err)
		}
		return s, err
	case opt.Identity == nil:
		return consensus.Memory(), nil
	}
	return nil, errNoLog
}

func (d *decisions) config(doc *change.Document, storage consensus.Storage, machine *decide.Machine) consensus.Config {
	n := d.node
	cfg := consensus.Default()
	cfg.ID, cfg.Formation, cfg.Refounded, cfg.Logger = d.generation(), doc.Formation, doc.Refounded, n.log
	cfg.Storage, cfg.Machine, cfg.Transport, cfg.Candidates = storage, machine, d, d.candidates
	cfg.Initial = initialGroup(doc, cfg.ID)
	leader := &decide.Leader{Machine: machine, Propose: d.propose, By: n.opt.Name, Logger: n.log, Alive: d.isAlive}
	cfg.Lead = leader.Run
	if n.opt.deciding != nil {
		n.opt.deciding(&cfg)
	}
	return cfg
}

// initialGroup returns what the first voters of a ring begin with, and so does a node of a ring that formed before there was a group; nil for others. A
// node that has never been in the group, and knows a later version of the ring already, is sent what it is to know, also if it is a first voter.
func initialGroup(doc *change.Document, self uint64) *consensus.Initial {
	if !doc.Untouched() {
		return nil
	}
	candidates := make([]consensus.Candidate, len(doc.Members))
	for i, l := range doc.Members {
		candidates[i] = candidate(l, true)
	}
	voters := consensus.Choose(nil, candidates)
	if !slices.Contains(voters, self) {
		return nil
	}
	return &consensus.Initial{Voters: voters, Snapshot: doc.Encode()}
}

func candidate(l change.Life, alive bool) consensus.Candidate {
	return consensus.Candidate{ID: l.Generation, Name: l.Name, Rack: l.Rack, Alive: alive}
}

// candidates are the members that may vote: those that are to stay.
func (d *decisions) candidates() []consensus.Candidate {
	doc := d.ring.Document()
	if doc == nil {
		return nil
	}
	var all []consensus.Candidate
	for _, l := range doc.Members {
		if mayVote(l) {
			all = append(all, candidate(l, d.isThere(l)))
		}
	}
	return all
}

// mayVote reports whether a life is one of a member that is to stay.
func mayVote(l change.Life) bool { return l.State == change.Active || l.State == change.Joining }

// generation is this node's identity in the group.
func (d *decisions) generation() uint64 { return d.node.self().Generation }

// self is which member this node is, 0 for none.
func (d *decisions) self() uint16 {
	doc := d.ring.Document()
	if doc == nil {
		return 0
	}
	l, _ := doc.LifeOf(d.node.opt.Name, d.generation())
	return l.ID
}

// isThere reports whether a life of a member can be reached.
func (d *decisions) isThere(l change.Life) bool {
	if l.Generation == d.generation() {
		return true
	}
	p := d.node.peers.Of(l.ID)
	if p == nil || !p.Up() {
		return false
	}
	props := p.Properties()
	return props != nil && props.Member != nil && props.Member.Generation == l.Generation
}

// isAlive is isThere for a member by its ID.
func (d *decisions) isAlive(id uint16) bool {
	doc := d.ring.Document()
	if doc == nil {
		return false
	}
	l, known := doc.Member(id)
	return known && d.isThere(l)
}

// status is what the group knows of itself, or why there is none.
func (d *decisions) status() (consensus.Status, error) {
	if failed := d.failed.Load(); failed != nil {
		return consensus.Status{}, *failed
	}
	g := d.group.Load()
	if g == nil {
		return consensus.Status{}, errNoGroup
	}
	return g.Status(), g.Err()
}

// deciders are the voters of the group, as far as this node knows, by name: one that is no member, or no more in that life, by its number.
func (d *decisions) deciders(doc *change.Document) (all []admin.RingDecider) {
	all = []admin.RingDecider{}
	g := d.group.Load()
	if g == nil {
		return all
	}
	for _, id := range g.Voters().IDs {
		x := admin.RingDecider{Name: fmt.Sprintf("%x", id)}
		if i := slices.IndexFunc(doc.Members, func(l change.Life) bool { return l.Generation == id }); i >= 0 {
			x.Name, x.Alive = doc.Members[i].Name, doc.Members[i].State != change.Lost && d.isThere(doc.Members[i])
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b admin.RingDecider) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// incomplete says why the group could not do without another voter: some have not been replaced yet that are gone for good, or have not been added. It is nil if it is complete.
func (d *decisions) incomplete(doc *change.Document) error {
	g := d.group.Load()
	if g == nil {
		return errNoGroup
	}
	voters, members := g.Voters().IDs, 0
	for _, l := range doc.Members {
		if mayVote(l) {
			members++
		}
	}
	for _, id := range voters {
		if !slices.ContainsFunc(doc.Members, func(l change.Life) bool { return l.Generation == id && l.State != change.Lost }) {
			return errors.New("the Raft group still counts on a former life of a member")
		}
	}
	if want := min(consensus.MaxVoters, members); len(voters) < want {
		return fmt.Errorf("the Raft group has %d voters so far, and will have %d", len(voters), want)
	}
	return nil
}

// errNoGroup says that this node has no group, or none yet.
var errNoGroup = fmt.Errorf("%w, or has not begun", consensus.ErrClosed)

// current returns the group. A node that has just got its ring is about to start it.
func (d *decisions) current(ctx context.Context) (*consensus.Group, error) {
	select {
	case <-d.node.Formed():
		select {
		case <-d.begun:
		case <-ctx.Done():
		case <-d.ctx.Done():
		}
	default:
	}
	if g := d.group.Load(); g != nil {
		return g, nil
	}
	return nil, errNoGroup
}
