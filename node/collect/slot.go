package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring/change"
)

// run collects one slot in one epoch.
type run struct {
	c     *Collector
	slot  uint16
	epoch uint64
	life  context.Context // ends when the slot is not to be collected any more
	end   context.CancelFunc

	// What the goroutine has that works at it.
	from  engine.Position // all before has been collected,
	again [][]byte        // but for these keys, which have yet to be written again
	late  map[uint16]bool // members that did not answer: the others are asked first
	home  uint16          // whose home wrote keys last, 0 for nobody's

	since  time.Time // when it began
	leaves bool      // a member leads the slot that leaves it, as far as this node knows

	// What the Collector's lock guards.
	done      bool
	err       error     // why it could not go on
	failures  int       // since it went on last
	notBefore time.Time // to be tried again, or reported
}

func newRun(c *Collector, slot uint16, epoch uint64, now time.Time) *run {
	r := &run{c: c, slot: slot, epoch: epoch, late: map[uint16]bool{}, since: now, notBefore: now}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

var errFailed = errors.New("the store of this node failed")

// collect goes on with the slot where it was left, until it is collected.
func (r *run) collect(ctx context.Context) error {
	clear(r.late)
	for {
		if err := r.writeAgain(ctx); err != nil {
			return err
		}
		if r.from == engine.EndPosition { // what was copied is durable, page by page
			return r.joint(func(s Slot, config *register.Config) error {
				r.leaves = config.Leaves(s.Leader())
				return nil
			})
		}
		if err := r.page(ctx); err != nil {
			return err
		}
		r.wentOn()
	}
}

// wentOn notes that the slot is not held up.
func (r *run) wentOn() {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.err, r.failures = nil, 0
}

// joint calls do with the slot, while it is locked, if it is in the run's epoch. An error that do returns is the store's.
func (r *run) joint(do func(Slot, *register.Config) error) error {
	return r.c.joint(r.slot, r.epoch, do)
}

func (c *Collector) joint(slot uint16, epoch uint64, do func(Slot, *register.Config) error) error {
	if c.node.Failed() {
		return errFailed
	}
	s := c.node.Lock(slot)
	defer s.Unlock()
	config, err := s.Joint(epoch)
	if err == nil {
		err = do(s, config)
	}
	if err != nil && !errors.Is(err, ErrOtherEpoch) && !errors.Is(err, errNotOld) {
		s.Fail(err)
	}
	return err
}

// page collects the keys of one page.
func (r *run) page(ctx context.Context) error {
	if err := r.c.pace(ctx); err != nil {
		return err
	}
	var config *register.Config
	if err := r.joint(func(_ Slot, c *register.Config) error { config = c; return nil }); err != nil {
		return err
	}
	if err := r.c.node.Room(); err != nil && !slices.Contains(config.Old(), r.c.node.Self()) { // one that stays has most of it
		return fmt.Errorf("there is no room for what would come to this node: %w", err)
	}
	shown, err := r.ask(ctx, config)
	if err != nil {
		return err
	}
	d, err := r.decide(shown)
	if err != nil {
		return err
	}
	newer, err := r.copy(ctx, config, d)
	if err != nil {
		return err
	}
	if err := r.c.node.Committed(ctx); err != nil {
		return err
	}
	r.from, r.again = d.end, append(d.again, newer...)
	return nil
}

// decision is what becomes of a page, which ends before a position.
type decision struct {
	page   *register.Page
	end    engine.Position
	copies []register.Agreed
	again  [][]byte
}

// decide says what becomes of a page that a majority of the old members has shown. One that stays is one of them, and shows it at this moment: so nothing
// that it holds is overlooked.
func (r *run) decide(shown []showing) (d decision, err error) {
	self := r.c.node.Self()
	err = r.joint(func(s Slot, config *register.Config) error {
		if slices.Contains(config.Old(), self) {
			own, err := show(s, r.from, endOf(shown), pageBytes)
			if err != nil {
				return err
			}
			shown = append(shown, showing{member: self, ShowPage: own})
		}
		d.end = endOf(shown)
		d.page = gather(config, self, shown)
		var w register.Write
		if s.Acceptor().TakeOver(d.page, &w); w.Wanted() {
			if err := s.Wrote(&w); err != nil {
				return err
			}
		}
		var err error
		d.copies, d.again, err = d.page.Decide(s.Acceptor())
		return err
	})
	return d, err
}

// order returns the old members but this one, in the order in which they are asked: first the one that values are to come from (change.Sources), last those that did not answer
// before.
func (r *run) order(config *register.Config) []uint16 {
	self := r.c.node.Self()
	old := config.Old()
	first := int(r.slot) % len(old)
	order := slices.Concat(old[first:], old[:first])
	for _, c := range change.Sources(old, config.Next(), r.c.alive) {
		if c.To == self {
			order = slices.Concat([]uint16{c.From}, slices.DeleteFunc(order, func(id uint16) bool { return id == c.From }))
		}
	}
	order = slices.DeleteFunc(order, func(id uint16) bool { return id == self })
	slices.SortStableFunc(order, func(a, b uint16) int { return r.rank(a) - r.rank(b) })
	return order
}

func (r *run) rank(member uint16) int {
	if r.late[member] {
		return 1
	}
	return 0
}

// alive reports whether a member answers, this node too.
func (c *Collector) alive(member uint16) bool {
	p := c.node.Peer(member)
	return p != nil && p.Alive() || member == c.node.Self()
}

// peer returns a member that answers, or why there is none.
func (c *Collector) peer(member uint16) (Peer, error) {
	p := c.node.Peer(member)
	if p == nil {
		return nil, fmt.Errorf("member %d is not known", member)
	}
	if !p.Alive() {
		return nil, fmt.Errorf("%s: %s", p.Name(), p.Unreachable())
	}
	return p, nil
}
