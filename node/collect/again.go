package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/register"
)

const (
	// againKeys is how many keys a home is asked to write again at a time, and againBytes about how much it takes on then.
	againKeys, againBytes = 100, 4 << 20
	// againTime is how long it has for that, and againPause the time until another home is asked.
	againTime  = 10 * time.Second
	againPause = 20 * time.Millisecond
	// againTries is how often that is tried before the slot is held up.
	againTries = 20
)

// writeAgain has homes write the keys again that are left of the last page: whoever leads the slot. In a joint epoch that home sync-reads a key and
// proposes what it has found (R18).
func (r *run) writeAgain(ctx context.Context) error {
	var last error
	for tries := 0; len(r.again) > 0; {
		if err := r.c.pace(ctx); err != nil {
			return err
		}
		keys := r.again[:min(len(r.again), againKeys)]
		reply, err := r.askHome(ctx, keys)
		if err != nil {
			last = err
		}
		left := make([][]byte, 0, len(r.again))
		for i, key := range keys {
			if i >= len(reply.Done) || !reply.Done[i] {
				left = append(left, key)
			}
		}
		done := len(keys) - len(left)
		r.again = append(left, r.again[len(keys):]...)
		r.c.again.Add(int64(done))
		r.c.bucket.take(int(reply.Bytes), time.Now())
		if done > 0 {
			tries = 0
			continue
		}
		if tries++; tries == againTries {
			return fmt.Errorf("no home writes %d keys again that members hold in different versions: %w", len(r.again), errors.Join(errNotWritten, last))
		}
		if err := r.nextHome(reply.Leader); err != nil {
			return err
		}
		if !clock.Sleep(ctx, againPause) {
			return context.Cause(ctx)
		}
	}
	return nil
}

var errNotWritten = errors.New("the slot has no home at the moment")

// nextHome chooses another home to ask: the one that the last one has pointed to or, without a hint, the next member that is alive. One that led the slot and leaves it
// with this change begins nothing that another one can do, whoever points to it.
func (r *run) nextHome(hint uint16) error {
	return r.joint(func(_ Slot, config *register.Config) error {
		members := config.Members()
		if hint != 0 && hint != r.home && slices.Contains(members, hint) && !config.Leaves(hint) && r.c.alive(hint) {
			r.home = hint
			return nil
		}
		at := slices.Index(members, r.home)
		for i := range members {
			if next := members[(at+1+i)%len(members)]; r.c.alive(next) {
				r.home = next
				return nil
			}
		}
		return nil
	})
}

// askHome has a home write keys again: the one that did so last, or the one that leads the slot as far as this node knows.
func (r *run) askHome(ctx context.Context, keys [][]byte) (protocol.AgainReply, error) {
	if r.home == 0 {
		if err := r.joint(func(s Slot, _ *register.Config) error { r.home = s.Leader(); return nil }); err != nil {
			return protocol.AgainReply{}, err
		}
	}
	request := protocol.KeysRequest{Slot: r.slot, Epoch: r.epoch, Keys: keys}
	if r.home == r.c.node.Self() || r.home == 0 {
		return r.c.writeHere(ctx, request)
	}
	p, err := r.c.peer(r.home)
	if err != nil {
		return protocol.AgainReply{}, err
	}
	payload, err := p.Ask(ctx, protocol.MethodAgain, protocol.AppendKeysRequest(nil, request))
	if err != nil {
		return protocol.AgainReply{}, fmt.Errorf("%s: %w", p.Name(), err)
	}
	return protocol.DecodeAgainReply(payload, len(keys))
}

// writeHere has this node's home write keys again, the first ones if they are large, and waits for what becomes of them.
func (c *Collector) writeHere(ctx context.Context, request protocol.KeysRequest) (protocol.AgainReply, error) {
	ctx, cancel := context.WithTimeout(ctx, againTime)
	defer cancel()
	reply := protocol.AgainReply{Done: make([]bool, len(request.Keys))}
	type outcome struct {
		key  int
		done bool
	}
	outcomes, open := make(chan outcome, len(request.Keys)), 0
	err := c.joint(request.Slot, request.Epoch, func(s Slot, _ *register.Config) error {
		reply.Leader = s.Leader()
		for i, key := range request.Keys {
			if reply.Bytes >= againBytes {
				break
			}
			rec, _, err := s.Acceptor().Read(key)
			if err != nil {
				return err
			}
			reply.Bytes += uint64(len(key) + rec.State.Size())
			open++
			s.Again(key, func(done bool) { outcomes <- outcome{i, done} })
		}
		return nil
	})
	if err != nil {
		return protocol.AgainReply{}, err
	}
	for ; open > 0; open-- {
		select {
		case o := <-outcomes:
			reply.Done[o.key] = o.done
		case <-ctx.Done(): // the home may still do it, which does no harm
			return reply, nil
		}
	}
	return reply, nil
}
