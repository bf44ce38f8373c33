package route

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
)

// What is asked of all nodes at the same time, as a scan of the whole cluster does, while slots move. A node is asked as of a version of the ring that it knows
// as well as this proxy, and tells of no slot that has changed since. So an answer is that of a member of the slot as this proxy knows it, or none, and
// those of two epochs of a slot are never counted together.

// everybody is what the nodes answered, in the order of ringView.nodes.
type everybody[T any] struct {
	answers  []*T     // nil of a node that did not answer, or with nonsense: the majorities decide whether it is missed
	versions []uint64 // of the ring, as of which they were asked
	places   []int    // of members in them, by ID, 0 for the first; -1 for none
	changing bool     // some node did not answer as this proxy knows of another ring, or may know more a moment later
}

// askAll makes a call to every node at the same time, with the payload for a version of the ring.
func askAll[T any](ctx context.Context, c *Coordinator, view *ringView, method protocol.Method, payload func(version uint64) []byte,
	decode func([]byte) (T, error)) *everybody[T] {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.OperationTimeout)
	defer cancel()
	all := &everybody[T]{answers: make([]*T, len(view.nodes)), versions: make([]uint64, len(view.nodes)), places: slices.Repeat([]int{-1}, len(view.byID))}
	var wait sync.WaitGroup
	changed := make([]bool, len(view.nodes))
	for i, l := range view.nodes {
		all.places[l.id] = i
		if !l.up.Load() {
			continue
		}
		all.versions[i] = min(view.table.Version(), l.version.Load())
		all.changing = all.changing || all.versions[i] < view.table.Version()
		wait.Go(func() {
			reply, err := l.caller.Call(ctx, method, payload(all.versions[i]))
			if err != nil {
				changed[i] = protocol.IsChanged(err)
				return
			}
			result, err := decode(reply)
			if err != nil {
				c.log.Warn("a node sent a reply that makes no sense", "peer", l.address, "err", err)
				return
			}
			all.answers[i] = &result
		})
	}
	wait.Wait()
	for _, is := range changed {
		all.changing = all.changing || is
	}
	return all
}

// votes reports whether a node's answer counts for a slot: it is a member, as it knows too.
func (e *everybody[T]) votes(view *ringView, node int, slot uint16) bool {
	return e.answers[node] != nil && view.table.Epoch(slot) <= e.versions[node] && view.table.Contains(slot, view.nodes[node].id)
}

// most reports whether the nodes whose answers count for a slot, and of which such says so, are a majority of its replicas, and while it is joint also of those
// that it moves to (R16).
func (e *everybody[T]) most(view *ringView, slot uint16, such func(node int) bool) bool {
	return view.table.Spare(slot, func(id uint16) bool {
		if int(id) >= len(e.places) || e.places[id] < 0 {
			return false
		}
		node := e.places[id]
		return e.votes(view, node, slot) && such(node)
	}) >= 0
}

// covers reports whether enough answered for a slot.
func (e *everybody[T]) covers(view *ringView, slot uint16) bool {
	return e.most(view, slot, func(int) bool { return true })
}

// ringPause is the time after which nodes are asked again that know of another ring.
const ringPause = 20 * time.Millisecond

// asOfOneRing does something with the ring as this proxy knows it, again if that failed because the ring changes at this moment, until the operation time-out.
func (c *Coordinator) asOfOneRing(ctx context.Context, do func(view *ringView) (changing bool, err error)) error {
	for late := time.Now().Add(c.cfg.OperationTimeout); ; {
		view := c.ring.Load()
		changing, err := do(view)
		if err == nil || !changing && c.ring.Load() == view || time.Now().After(late) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(ringPause):
		}
	}
}
