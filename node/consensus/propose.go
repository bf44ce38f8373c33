package consensus

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.etcd.io/raft/v3"
)

// The errors of Propose.
var (
	// ErrNoLeader says that nobody could decide. The proposal had no effect, and will have none.
	ErrNoLeader = errors.New("the ring cannot be changed now")
	// ErrUnknown says that a proposal was sent, and that its outcome is not known: it may have been applied, or be applied yet, once.
	ErrUnknown = errors.New("it is not known whether the ring was changed")
	// ErrRefused says that the machine has refused the entry. It had no effect.
	ErrRefused = errors.New("refused")
	// ErrTooLarge says that an entry is longer than Config.MaxEntry. It had no effect.
	ErrTooLarge = errors.New("a change of the ring is too large")
	// ErrBusy says that too many proposals are under way. This one had no effect.
	ErrBusy = errors.New("too many changes of the ring are under way")
	// ErrClosed says that the group has ended. A proposal had no effect.
	ErrClosed = errors.New("the Raft group of this node has ended")
)

// Result is what became of a proposal.
type Result struct {
	// Index is that of its entry: a Machine that has applied it has executed the proposal.
	Index uint64
	// Value is what Machine.Apply returned.
	Value []byte
}

// maxOpen is how many proposals of a node may be under way, maxWaiting how many a leader takes.
const (
	maxOpen    = 256
	maxWaiting = 4096
)

// proposing is what a node knows of its own proposals, and of whom to send them to.
type proposing struct {
	session uint64
	seq     uint64
	open    map[uint64]*proposal

	asked    time.Time // when the voters were asked last who leads
	rotation int       // which candidates are asked as well
	leader   uint64    // who said so itself, until a proposal gets no answer; 0
	toldAt   time.Time // when it said so
	commit   uint64    // what it had applied then
}

// proposal is one under way.
type proposal struct {
	envelope
	sent  bool
	again time.Time // when it is sent again
	done  func(Result, error)
}

// propose begins a proposal. done is called once, possibly at once. It returns what identifies the proposal in giveUp.
func (c *core) propose(now time.Time, entry []byte, done func(Result, error)) (uint64, error) {
	c.now = now
	switch {
	case len(entry) > c.cfg.MaxEntry:
		done(Result{}, fmt.Errorf("%w: %d bytes, %d are permitted", ErrTooLarge, len(entry), c.cfg.MaxEntry))
		return 0, nil
	case len(c.open) >= maxOpen:
		done(Result{}, fmt.Errorf("%w: %d; wait for one of them", ErrBusy, maxOpen))
		return 0, nil
	}
	c.seq++
	c.open[c.seq] = &proposal{envelope: envelope{request: request{c.session, c.seq}, entry: entry}, done: done}
	seq := c.seq
	c.drive()
	return seq, c.work()
}

// drive sends what is to be sent, in the order of the proposals.
func (c *core) drive() {
	for _, seq := range slices.Sorted(maps.Keys(c.open)) {
		p := c.open[seq]
		if p == nil || c.now.Before(p.again) { // nil: the one before has done it
			continue
		}
		switch {
		case c.leading:
			c.leader, c.commit = c.cfg.ID, c.applied
		case p.sent, c.leader == c.cfg.ID: // it did not answer in time
			c.leader = 0
		case c.now.Sub(c.toldAt) > c.cfg.Retry: // the log may have become much longer, and the proposal would come too late
			c.leader = 0
		}
		if c.leader == 0 {
			c.ask()
			continue
		}
		c.submit(p)
	}
}

// ask asks the voters, and some candidates in turn, who leads.
func (c *core) ask() {
	if !c.asked.IsZero() && c.now.Sub(c.asked) < c.cfg.Retry {
		return
	}
	c.asked = c.now
	ids := slices.Clone(c.voters().IDs)
	candidates := slices.DeleteFunc(slices.Clone(c.cfg.Candidates()), func(x Candidate) bool { return !x.Alive })
	for range min(2, len(candidates)) { // those that were voters may have changed all
		ids = append(ids, candidates[c.rotation%len(candidates)].ID)
		c.rotation++
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if id != c.cfg.ID {
			c.send(kindAsk, id, nil)
		}
	}
}

// told takes the answer.
func (c *core) told(from uint64, t told) {
	c.hear(t.voters)
	if !t.leading {
		if c.leader == from {
			c.leader = 0
		}
		return
	}
	c.leader, c.toldAt, c.commit = from, c.now, t.commit
	for _, seq := range slices.Sorted(maps.Keys(c.open)) {
		c.submit(c.open[seq])
	}
}

// submit sends a proposal to the leader.
func (c *core) submit(p *proposal) {
	if p.until == 0 {
		p.until = c.commit + window
	}
	p.sent, p.again = true, c.now.Add(c.cfg.Retry)
	if c.leader == c.cfg.ID {
		c.accept(c.cfg.ID, p.encode())
		return
	}
	c.send(kindPropose, c.leader, p.encode())
}

// accept takes a proposal on the leader. The one who proposed it is told when it is applied.
func (c *core) accept(from uint64, body []byte) {
	e, err := decodeEnvelope(body)
	if err != nil || len(e.entry) > c.cfg.MaxEntry {
		return
	}
	if r, ok := c.recent.find(e.request); ok {
		c.answer(from, r)
		return
	}
	if _, ok := c.waiting[e.request]; ok {
		c.waiting[e.request] = from
		return
	}
	if !c.leading || len(c.waiting) >= maxWaiting || c.node.Propose(body) != nil {
		c.answer(from, result{request: e.request, outcome: later})
		return
	}
	c.waiting[e.request] = from
}

// answer tells a node what became of its proposal.
func (c *core) answer(to uint64, r result) {
	if to == c.cfg.ID {
		c.resolve(r)
		return
	}
	c.send(kindResult, to, r.append(nil))
}

// resolve ends a proposal of this node's.
func (c *core) resolve(r result) {
	p := c.open[r.seq]
	if r.session != c.session || p == nil {
		return
	}
	var err error
	switch r.outcome {
	case later:
		c.leader = 0 // and it is asked for when the proposal is due again
		return
	case refused:
		err = fmt.Errorf("%w: %s", ErrRefused, r.value)
	case expired:
		err = fmt.Errorf("%w: %d other changes came first; look at the ring", ErrUnknown, window)
	}
	delete(c.open, r.seq)
	if err != nil {
		p.done(Result{}, err)
		return
	}
	p.done(Result{Index: r.index, Value: r.value}, nil)
}

// giveUp ends a proposal for which nobody waits any longer, and says why it has no result.
func (c *core) giveUp(now time.Time, seq uint64) {
	c.now = now
	p := c.open[seq]
	if p == nil {
		return
	}
	delete(c.open, seq)
	err, advice := ErrNoLeader, ""
	if p.sent {
		err, advice = ErrUnknown, "; look at the ring before you try again"
	}
	p.done(Result{}, fmt.Errorf("%w: %s%s", err, c.diagnosis(), advice))
}

// end ends all proposals, when the group does.
func (c *core) end() {
	for seq, p := range c.open {
		delete(c.open, seq)
		err := ErrClosed
		if p.sent {
			err = fmt.Errorf("%w: the Raft group of this node has ended", ErrUnknown)
		}
		p.done(Result{}, err)
	}
}

// diagnosis says why there is no leader.
func (c *core) diagnosis() string {
	voters := c.voters().IDs
	if len(voters) == 0 {
		return "this node does not know the Raft group yet, and none of the ring's members that it can reach does"
	}
	silent := slices.DeleteFunc(slices.Clone(voters), func(id uint64) bool {
		heard, ok := c.lastHeard[id]
		return id == c.cfg.ID || ok && c.now.Sub(heard) < 2*c.cfg.Retry+c.cfg.election()
	})
	switch {
	case len(silent) == 0:
		return fmt.Sprintf("the Raft group %s has no leader at the moment, though all of it answer", c.names(voters))
	case len(silent) == 1:
		return fmt.Sprintf("a majority of the Raft group %s is needed: %s does not answer", c.names(voters), c.names(silent))
	}
	return fmt.Sprintf("a majority of the Raft group %s is needed: %s do not answer", c.names(voters), c.names(silent))
}

// names returns what people call nodes.
func (c *core) names(ids []uint64) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = c.name(id)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// complainEvery is how often a node says the same.
const complainEvery = time.Minute

// complain says now and then that the group has no leader, on a node that would vote.
func (c *core) complain() {
	if c.node.BasicStatus().Lead != raft.None {
		c.since = c.now
	}
	if c.now.Sub(c.since) < 2*c.cfg.election()+c.cfg.Patience || !slices.Contains(c.conf.Voters, c.cfg.ID) || c.retired() ||
		!c.complained.IsZero() && c.now.Sub(c.complained) < complainEvery {
		return
	}
	c.complained = c.now
	c.log.Warn(ErrNoLeader.Error(), "reason", c.diagnosis())
}
