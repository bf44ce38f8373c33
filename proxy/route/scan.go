package route

import (
	"cmp"
	"context"
	"math/rand/v2"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// How the whole cluster is scanned. Every node lists its records from a place on, in
// the order of slot and position, which is the same on all nodes. A page is what all nodes
// that answered have covered; each of its slots must be covered by a majority of its replicas, so that
// every key that was chosen is in at least one of the lists. Where the replicas do not agree about a
// key, a quorum read decides.

// Scan implements Cluster.
func (c *Coordinator) Scan(ctx context.Context, number int, from Cursor, count int) ([]ScanEntry, Cursor, error) {
	if c.ring.Load() == nil {
		return nil, 0, ErrNotReady
	}
	if from >= endCursor { // none of ours: it finds nothing, as in Redis
		return nil, 0, nil
	}
	id, err := c.open(number)
	if err != nil {
		return nil, 0, err
	}
	first, end := protocol.PlacesOf(id)
	var all []ScanEntry
	for place := max(first, from.place()); place < end; { // several times only if very many keys are at places without a cursor
		entries, next, err := c.scan(ctx, protocol.OfDatabase(id), place, count)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range entries {
			all = append(all, ScanEntry{Key: clientsName(e.Key), Type: e.Type})
		}
		if next >= end {
			break
		}
		if at := cursorAt(next); at.place() == next {
			return all, at, nil
		}
		place = next
	}
	return all, 0, nil
}

// Placements implements Cluster.
func (c *Coordinator) Placements() database.Placements { return *c.placed.Load() }

// open returns the ID of a database. The error says that its placement is being changed.
func (c *Coordinator) open(number int) (database.ID, error) {
	placed := c.Placements()
	if !placed.Open(number) {
		return 0, errClosed
	}
	return placed.ID(number), nil
}

var errClosed = Refuse(command.ErrClosed)

// clientsName returns a key as its client has named it.
func clientsName(name []byte) []byte {
	_, key := database.Split(name)
	return key
}

// scan lists what is from a place on. It ends at one that has a cursor, if there is one on the way.
func (c *Coordinator) scan(ctx context.Context, of protocol.Selection, from protocol.Place, count int) (entries []ScanEntry, next protocol.Place, err error) {
	err = c.asOfOneRing(ctx, func(view *ringView) (changing bool, err error) {
		entries, next, changing, err = c.scanIn(ctx, view, of, from, count)
		return changing, err
	})
	return entries, next, err
}

// scanIn is scan as one version of the ring has it.
func (c *Coordinator) scanIn(ctx context.Context, view *ringView, of protocol.Selection, from protocol.Place, count int) (entries []ScanEntry, next protocol.Place, changing bool, err error) {
	pages := askAll(ctx, c, view, protocol.MethodScan, func(version uint64) []byte {
		return protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: version, From: from, Limit: count, Of: of})
	}, func(payload []byte) (protocol.ScanPage, error) {
		page, err := protocol.DecodeScanPage(payload)
		return page, cmp.Or(err, page.Check(protocol.ScanRequest{From: from, Limit: count}))
	})
	next = protocol.EndPlace
	for _, p := range pages.answers {
		if p != nil {
			next = min(next, p.Next)
		}
	}
	if coarse := cursorAt(next).place(); coarse > from {
		next = coarse
	}
	last := min(int(next.Slot()), ring.Slots-1)
	for slot := from.Slot(); int(slot) <= last; slot++ {
		if !pages.covers(view, slot) {
			return nil, 0, pages.changing, ErrNoMajority
		}
	}
	entries, err = c.merge(view, pages, next)
	return entries, next, false, err
}

// RandomKey implements Cluster: it scans from a random place on, and from the start
// if there is nothing behind it.
func (c *Coordinator) RandomKey(ctx context.Context, number int) ([]byte, error) {
	if c.ring.Load() == nil {
		return nil, ErrNotReady
	}
	id, err := c.open(number)
	if err != nil {
		return nil, err
	}
	first, end := protocol.PlacesOf(id)
	place := first + protocol.Place(rand.Uint64N(uint64(end-first)))
	for _, at := range []protocol.Place{place, first} {
		for at < end {
			entries, next, err := c.scan(ctx, protocol.OfDatabase(id), at, 10)
			if err != nil {
				return nil, err
			}
			if len(entries) > 0 {
				return clientsName(entries[rand.IntN(len(entries))].Key), nil
			}
			at = next
		}
	}
	return nil, nil
}
