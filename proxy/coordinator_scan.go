package proxy

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
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

// listed is an entry of a node's page; node is its index in view.nodes.
type listed struct {
	protocol.ScanEntry
	node int
}

// candidate is what the replicas say about one key.
type candidate struct {
	protocol.ScanEntry
	votes int  // replicas that hold it
	doubt bool // some replica holds another version, or finds this one expired
	live  bool // some replica holds a value
}

// merge puts the pages together, up to next.
func (c *Coordinator) merge(view *ringView, pages []*protocol.ScanPage, next protocol.Place) ([]ScanEntry, error) {
	var all []listed
	for node, p := range pages {
		if p == nil {
			continue
		}
		for _, e := range p.Entries {
			if e.Place < next {
				all = append(all, listed{e, node})
			}
		}
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), bytes.Compare(a.Key, b.Key), cmp.Compare(a.node, b.node))
	})
	var entries []ScanEntry
	var doubtful []protocol.ScanEntry
	for len(all) > 0 {
		k := candidate{ScanEntry: all[0].ScanEntry, votes: 1, live: all[0].Type != record.None}
		n := 1
		for ; n < len(all) && bytes.Equal(all[n].Key, k.Key); n++ {
			k.doubt = k.doubt || all[n].Version != k.Version || all[n].Type != k.Type
			k.live = k.live || all[n].Type != record.None
			if all[n].node != all[n-1].node {
				k.votes++
			}
		}
		all = all[n:]
		switch need := quorum.Majority(len(view.table.Replicas(k.Place.Slot()))); {
		case !k.live:
		case k.doubt || k.votes < need:
			doubtful = append(doubtful, k.ScanEntry)
		default:
			entries = append(entries, ScanEntry{Key: k.Key, Type: k.Type})
		}
	}
	return c.decide(entries, doubtful)
}

// decide appends those of the doubtful keys that a quorum read finds.
func (c *Coordinator) decide(entries []ScanEntry, doubtful []protocol.ScanEntry) ([]ScanEntry, error) {
	name := []byte("type")
	b := new(Batch)
	for _, e := range doubtful {
		b.Add(command.Request{Op: command.OpType, Args: [][]byte{name, e.Key}}, false)
	}
	c.Execute(b)
	for i := range b.Ops {
		op := &b.Ops[i]
		if op.Outcome != Done {
			return nil, ErrTimeout
		}
		if typ := typeNamed(op.Reply); typ != record.None {
			entries = append(entries, ScanEntry{Key: doubtful[i].Key, Type: typ})
		}
	}
	return entries, nil
}

// typeNamed returns the type that a reply to TYPE names.
func typeNamed(reply []byte) record.Type {
	name := string(bytes.Trim(reply, "+\r\n"))
	typ := record.None
	for typ.String() != name && typ.String() != "unknown" {
		typ++
	}
	return typ
}

// DBSize implements Cluster: it takes the number for each slot that a majority of
// replicas holds the same records of, and scans the others.
func (c *Coordinator) DBSize(ctx context.Context) (int64, error) {
	view := c.ring.Load()
	if view == nil {
		return 0, ErrNotReady
	}
	counts, err := c.slotCounts(ctx, view)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for slot := range uint16(ring.Slots) {
		n, agreed := agreedCount(view, slot, counts)
		if !agreed {
			if n, err = c.countSlot(ctx, view, slot); err != nil {
				return 0, err
			}
		}
		total += n
	}
	return total, nil
}

// slotCount is what one node holds, by slot.
type slotCount [ring.Slots]protocol.SlotCount

func (c *Coordinator) slotCounts(ctx context.Context, view *ringView) ([]*slotCount, error) {
	answers := askAll(ctx, c, view, protocol.MethodStats, nil, func(payload []byte) (*slotCount, error) {
		list, err := protocol.DecodeSlotCounts(payload)
		if err != nil {
			return nil, err
		}
		counts := new(slotCount)
		for _, n := range list {
			counts[n.Slot%ring.Slots] = n
		}
		return counts, nil
	})
	counts := make([]*slotCount, len(answers))
	for i, a := range answers {
		if a != nil {
			counts[i] = *a
		}
	}
	for slot := range uint16(ring.Slots) {
		if !covered(view, slot, counts) {
			return nil, ErrNoMajority
		}
	}
	return counts, nil
}

// agreedCount returns the number of live records of a slot if a majority of its
// replicas holds the same ones.
func agreedCount(view *ringView, slot uint16, counts []*slotCount) (int64, bool) {
	replicas := view.table.Replicas(slot)
	for i, l := range view.nodes {
		if counts[i] == nil || !slices.Contains(replicas, l.id) {
			continue
		}
		mine, same := counts[i][slot], 0
		for j, other := range view.nodes {
			if counts[j] != nil && slices.Contains(replicas, other.id) {
				if theirs := counts[j][slot]; theirs.Live == mine.Live && theirs.Digest == mine.Digest {
					same++
				}
			}
		}
		if same >= quorum.Majority(len(replicas)) {
			return int64(mine.Live), true
		}
	}
	return 0, false
}

// scanPage is how many records a page of an internal scan has.
const scanPage = 1000

func (c *Coordinator) countSlot(ctx context.Context, view *ringView, slot uint16) (int64, error) {
	n := int64(0)
	end := protocol.NewPlace(slot+1, 0)
	for at := protocol.NewPlace(slot, 0); at < end; {
		entries, next, err := c.scan(ctx, view, at, scanPage)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			if ring.SlotOf(e.Key) == slot {
				n++
			}
		}
		at = next
	}
	return n, nil
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

// flushBatch is how many slots are cleared at a time.
const flushBatch = 1024

// FlushAll implements Cluster: every slot that holds something is cleared by one
// write of its home. A slot of which a majority holds nothing needs no clear.
func (c *Coordinator) FlushAll(ctx context.Context) error {
	view := c.ring.Load()
	if view == nil {
		return ErrNotReady
	}
	counts, err := c.slotCounts(ctx, view)
	if err != nil {
		return err
	}
	b := new(Batch)
	args := [][]byte{[]byte("clear")}
	for slot := range uint16(ring.Slots) {
		if n, agreed := agreedCount(view, slot, counts); !agreed || n > 0 {
			i := b.Add(command.Request{Op: command.OpClear, Args: args}, true)
			b.Ops[i].keyless, b.Ops[i].slot = true, slot
		}
		if len(b.Ops) == flushBatch || slot == ring.Slots-1 {
			if err := c.clearSlots(b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Coordinator) clearSlots(b *Batch) error {
	defer b.Reset()
	c.Execute(b)
	for i := range b.Ops {
		if b.Ops[i].Outcome != Done {
			return errPartlyFlushed
		}
	}
	return nil
}
