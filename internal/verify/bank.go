package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
)

// bank is where clients move amounts and tokens. A group of which something is wrong, or whose series have all ended, is replaced by a new one.
type bank struct {
	run *run

	mu      sync.Mutex
	made    int
	groups  [groupsAtATime]*group // nil until somebody has opened one there
	opening [groupsAtATime]bool
	ended   []*group // nothing moves there any more, and nothing is wrong as far as is known
	dropped []*group // of which there is nothing to learn; some of their keys may be there

	turn     atomic.Int64
	moved    []atomic.Int64 // transfers that were acknowledged, for each of ways
	readings atomic.Int64
}

const groupsAtATime = 4

func newBank(r *run) *bank { return &bank{run: r, moved: make([]atomic.Int64, len(ways))} }

// probe finds out whether an address can do transfers at all.
func (b *bank) probe(ctx context.Context, address int) error {
	s, err := b.run.store.hold(ctx, address)
	if err != nil {
		return err
	}
	defer s.end()
	g := newGroup(b.run.prefix + "{probe}")
	if _, err := s.do(ctx, command("WATCH", g.accounts[:1])...); err != nil {
		return err
	}
	commands := append(g.open(), []any{"INCRBY", g.accounts[0], 1}, []any{"EVAL", "return redis.call('GET', KEYS[1])", 1, g.accounts[0]})
	for kind := range tokens {
		commands = append(commands, g.move(kind, 0, 1, tokens[kind].tokens[0]))
	}
	_, err = s.exec(ctx, append(commands, command("DEL", g.keys()))...)
	return err
}

// step lets a client transfer something, or read a group.
func (b *bank) step(ctx context.Context, c *client) error {
	g, err := b.enter(ctx, rand.IntN(groupsAtATime), c)
	switch {
	case err != nil || g == nil:
		return err
	case rand.IntN(2) == 0:
		return b.audit(ctx, rand.IntN(b.run.store.addresses()), g, looks[rand.IntN(len(looks))])
	}
	which := int(b.turn.Add(1)) % len(ways)
	moved, err := ways[which].move(b, ctx, c.address, g)
	if moved {
		b.moved[which].Add(1)
	}
	return err
}

// enter returns the group at a place, which it opens if there is none; nil if somebody else is about to.
func (b *bank) enter(ctx context.Context, place int, c *client) (*group, error) {
	b.mu.Lock()
	if g := b.groups[place]; g != nil || b.opening[place] {
		b.mu.Unlock()
		return g, nil
	}
	b.opening[place] = true
	b.made++
	g := newGroup(fmt.Sprintf("%s{bank:%s:%d}", b.run.prefix, b.run.id(), b.made))
	b.mu.Unlock()

	_, err := b.transact(ctx, c.address, g.open()...)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opening[place] = false
	switch {
	case err == nil:
		b.groups[place] = g
		return g, nil
	case errors.Is(err, errUnknown):
		b.dropped = append(b.dropped, g)
	}
	return nil, err
}

// transact does one transaction, on a connection of which nothing is watched.
func (b *bank) transact(ctx context.Context, address int, commands ...[]any) ([]answer, error) {
	s, err := b.run.hold(ctx, address)
	if err != nil {
		return nil, err
	}
	defer s.end()
	return s.exec(ctx, commands...)
}

// audit reads a group, or a part of it, in some way, and judges it.
func (b *bank) audit(ctx context.Context, address int, g *group, how look) error {
	at := g.floors()
	r, found, old, err := b.look(ctx, address, g, at, how)
	if err != nil {
		return err
	}
	b.readings.Add(1)
	if old {
		found = g.older(at, r, b.run.everywhere(ctx, func(ctx context.Context, address int) (bool, error) {
			_, _, old, err := b.look(ctx, address, g, at, how)
			return old, err
		}))
	}
	b.blame(g, found)
	return nil
}

// look reads a group, and says what is known of the answer at once.
func (b *bank) look(ctx context.Context, address int, g *group, at floors, how look) (r reading, found *Finding, old bool, err error) {
	if r, err = how(b, ctx, address, g); err != nil {
		return reading{}, nil, false, err
	}
	found, old = g.audit(at, r)
	return r, found, old, nil
}

// blame counts a finding about a group, the first of each, and has it replaced. Nil is none.
func (b *bank) blame(g *group, found *Finding) {
	if found != nil && b.replace(g, true) {
		b.run.findings.add(found)
	}
}

// replace stops the use of a group. It reports whether there is something to learn of it: nobody has blamed it before.
func (b *bank) replace(g *group, blame bool) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.dropped, g) {
		return false
	}
	if i := slices.Index(b.groups[:], g); i >= 0 {
		b.groups[i] = nil
		b.ended = append(b.ended, g)
	}
	if blame {
		b.ended = slices.DeleteFunc(b.ended, func(other *group) bool { return other == g })
		b.dropped = append(b.dropped, g)
	}
	return true
}

// all returns the groups that are to be read back.
func (b *bank) all() []*group {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.ended)
	for _, g := range b.groups {
		if g != nil {
			all = append(all, g)
		}
	}
	return all
}

// readBack reads every group through every address, in all ways, until the context ends, and returns how many did not answer through any.
func (b *bank) readBack(ctx context.Context) (unread int) {
	all := b.all()
	answered := make([]atomic.Bool, len(all))
	var addresses sync.WaitGroup
	for address := range b.run.store.addresses() {
		addresses.Go(func() {
			for i, g := range all {
				for _, how := range looks {
					for b.audit(ctx, address, g, how) != nil {
						if rest(ctx); ctx.Err() != nil {
							return
						}
					}
				}
				answered[i].Store(true)
			}
		})
	}
	addresses.Wait()
	for i := range answered {
		if !answered[i].Load() {
			unread++
		}
	}
	return unread
}

// keys returns the names of all keys that may exist.
func (b *bank) keys() (keys []string) {
	for _, g := range append(b.all(), b.dropped...) {
		keys = append(keys, g.keys()...)
	}
	return keys
}

// into says in a report what was done.
func (b *bank) into(r *Report) {
	if !b.run.opt.Transfers {
		return
	}
	r.Transfers, r.Readings = map[string]int64{}, b.readings.Load()
	for i := range ways {
		r.Transfers[ways[i].name] = b.moved[i].Load()
	}
}
