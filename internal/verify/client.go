package verify

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// client is one of those that work. It writes through one address and reads through all.
type client struct {
	run     *run
	number  int
	address int
}

func newClient(r *run, number int) *client {
	return &client{run: r, number: number, address: number % r.store.addresses()}
}

// work does this and that until ctx ends. A command that was begun is waited for.
func (c *client) work(ctx context.Context) {
	on := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		if err := c.step(on); err != nil {
			rest(ctx)
		}
	}
}

func (c *client) step(ctx context.Context) error {
	if c.run.queues != nil {
		return c.run.queues.step(ctx, c)
	}
	if c.run.opt.Transfers && rand.IntN(2) == 0 {
		return c.run.bank.step(ctx, c)
	}
	switch n := rand.IntN(20); {
	case n < 7 && c.number < c.run.opt.Keys:
		return c.write(ctx)
	case n < 9:
		return c.increment(ctx)
	case n < 11 && c.number < duelists:
		return c.run.arena.contend(ctx, c)
	}
	return c.run.read(ctx, rand.IntN(c.run.store.addresses()), c.run.pool.any())
}

// write sets one of this client's registers to its next value.
func (c *client) write(ctx context.Context) error {
	mine := (c.run.opt.Keys - c.number + c.run.opt.Clients - 1) / c.run.opt.Clients
	r := c.run.pool.register(c.number + rand.IntN(mine)*c.run.opt.Clients)
	value := r.next()
	_, err := c.run.do(ctx, c.address, r.set(value)...)
	switch {
	case err == nil:
		r.wrote(value)
	case errors.Is(err, errUnknown):
		c.run.pool.retire(r, false) // it may be done after the next one
	default:
		c.run.blame(r, r.refuse(value))
	}
	return err
}

func (c *client) increment(ctx context.Context) error {
	counter := c.run.pool.counter()
	at := counter.send()
	reply, err := c.run.do(ctx, c.address, counter.increment()...)
	switch {
	case err == nil:
		c.run.blame(counter, counter.incremented(at, reply))
	case !errors.Is(err, errUnknown):
		counter.refuse()
	}
	return err
}

// read reads something and judges it.
func (r *run) read(ctx context.Context, address int, j judged) error {
	at := j.floor()
	reply, found, old, err := r.look(ctx, address, j, at)
	if err != nil {
		return err
	}
	if old {
		found = j.older(at, reply, r.isOldEverywhere(ctx, j, at))
	}
	r.blame(j, found)
	return nil
}

// look reads something, and says what is known of the answer at once.
func (r *run) look(ctx context.Context, address int, j judged, at floor) (reply answer, found *Finding, old bool, err error) {
	command := j.get()
	if reply, err = r.do(ctx, address, command...); err != nil {
		return reply, nil, false, err
	}
	if reply, found = j.value(command, reply); found == nil {
		found, old = j.read(at, reply)
	}
	return reply, found, old, nil
}

// blame counts a finding about a register or counter, the first of each. Nil is none.
func (r *run) blame(j judged, found *Finding) {
	if found != nil && r.pool.retire(j, true) {
		r.findings.add(found)
	}
}

// askTime bounds how long addresses are asked whether they are behind, too.
const askTime = 5 * time.Second

// isOldEverywhere asks all addresses, and reports whether all of them answered, and none with what had been acknowledged or read.
func (r *run) isOldEverywhere(ctx context.Context, j judged, at floor) bool {
	return r.everywhere(ctx, func(ctx context.Context, address int) (bool, error) {
		_, _, old, err := r.look(ctx, address, j, at)
		return old, err
	})
}

// everywhere reports whether all addresses answer in time, and all that it is so.
func (r *run) everywhere(ctx context.Context, so func(ctx context.Context, address int) (bool, error)) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	for address := range r.store.addresses() {
		is, err := so(ctx, address)
		for err != nil && ctx.Err() == nil {
			rest(ctx)
			is, err = so(ctx, address)
		}
		if err != nil || !is {
			return false
		}
	}
	return true
}
