package route

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// How the whole cluster is scanned. Every node lists its records from a place on, in
// the order of slot and position, which is the same on all nodes. A page is what all nodes
// that answered have covered; each of its slots must be covered by a majority of its replicas, so that
// every key that was chosen is in at least one of the lists. Where the replicas do not agree about a
// key, a quorum read decides.

// Scan implements Cluster.
func (c *Coordinator) Scan(ctx context.Context, from Cursor, count int) ([]ScanEntry, Cursor, error) {
	view := c.ring.Load()
	if view == nil {
		return nil, 0, ErrNotReady
	}
	if from >= endCursor { // none of ours: it finds nothing, as in Redis
		return nil, 0, nil
	}
	var all []ScanEntry
	for place := from.place(); ; { // several times only if very many keys are at places without a cursor
		entries, next, err := c.scan(ctx, view, place, count)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, entries...)
		if next == protocol.EndPlace {
			return all, 0, nil
		}
		if at := cursorAt(next); at.place() == next {
			return all, at, nil
		}
		place = next
	}
}

// scan lists what is from a place on. It ends at one that has a cursor, if there is one on the way.
func (c *Coordinator) scan(ctx context.Context, view *ringView, from protocol.Place, count int) ([]ScanEntry, protocol.Place, error) {
	request := protocol.ScanRequest{From: from, Limit: count}
	pages := askAll(ctx, c, view, protocol.MethodScan, protocol.AppendScanRequest(nil, request), func(payload []byte) (protocol.ScanPage, error) {
		page, err := protocol.DecodeScanPage(payload)
		return page, cmp.Or(err, page.Check(request))
	})
	next := protocol.EndPlace
	for _, p := range pages {
		if p != nil {
			next = min(next, p.Next)
		}
	}
	if coarse := cursorAt(next).place(); coarse > from {
		next = coarse
	}
	last := min(int(next.Slot()), ring.Slots-1)
	for slot := from.Slot(); int(slot) <= last; slot++ {
		if !covered(view, slot, pages) {
			return nil, 0, ErrNoMajority
		}
	}
	entries, err := c.merge(view, pages, next)
	return entries, next, err
}

// askAll makes a call to every node at the same time. The results are in the order
// of view.nodes, nil for a node that did not answer, or with nonsense: the majorities
// decide whether it is missed.
func askAll[T any](ctx context.Context, c *Coordinator, view *ringView, method protocol.Method, payload []byte, decode func([]byte) (T, error)) []*T {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.OperationTimeout)
	defer cancel()
	results := make([]*T, len(view.nodes))
	var wait sync.WaitGroup
	for i, l := range view.nodes {
		wait.Go(func() {
			if !l.up.Load() {
				return
			}
			reply, err := l.caller.Call(ctx, method, payload)
			if err != nil {
				return
			}
			result, err := decode(reply)
			if err != nil {
				c.log.Warn("a node sent a reply that makes no sense", "peer", l.address, "err", err)
				return
			}
			results[i] = &result
		})
	}
	wait.Wait()
	return results
}

// covered reports whether a majority of a slot's replicas answered.
func covered[T any](view *ringView, slot uint16, answers []*T) bool {
	replicas := view.table.Replicas(slot)
	n := 0
	for i, l := range view.nodes {
		if answers[i] != nil && slices.Contains(replicas, l.id) {
			n++
		}
	}
	return n >= quorum.Majority(len(replicas))
}

// RandomKey implements Cluster: it scans from a random place on, and from the start
// if there is nothing behind it.
func (c *Coordinator) RandomKey(ctx context.Context) ([]byte, error) {
	view := c.ring.Load()
	if view == nil {
		return nil, ErrNotReady
	}
	place := protocol.NewPlace(uint16(rand.IntN(ring.Slots)), rand.Uint64N(1<<48))
	for _, at := range []protocol.Place{place, 0} {
		for at < protocol.EndPlace {
			entries, next, err := c.scan(ctx, view, at, 10)
			if err != nil {
				return nil, err
			}
			if len(entries) > 0 {
				return entries[rand.IntN(len(entries))].Key, nil
			}
			at = next
		}
	}
	return nil, nil
}
