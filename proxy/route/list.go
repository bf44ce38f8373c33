package route

import (
	"cmp"
	"context"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// List implements Cluster. It asks all members of the slot, in pages, and puts together what a majority of them shows that has promised the same, as quorum.List says.
func (c *Coordinator) List(ctx context.Context, id database.ID, most int) (names [][]byte, listing command.Listing, err error) {
	if c.ring.Load() == nil {
		return nil, listing, ErrNotReady
	}
	slot := ring.SlotOfDatabase(id)
	listing.Database = id
	for at, end := protocol.NewPlace(slot, 0), protocol.NewPlace(slot+1, 0); at < end; {
		var page [][]byte
		var promised record.Ballot
		var next protocol.Place
		err := c.asOfOneRing(ctx, func(view *ringView) (changing bool, err error) {
			page, promised, next, changing, err = c.listIn(ctx, view, id, at, min(most, scanPage)+1)
			return changing, err
		})
		if err != nil {
			return nil, listing, err
		}
		if at == protocol.NewPlace(slot, 0) || promised.Less(listing.Promised) {
			listing.Promised = promised
		}
		if names = append(names, page...); len(names) > most {
			return names, listing, nil
		}
		at = next
	}
	return names, listing, nil
}

// listIn is a page of a listing, as one version of the ring has the slot.
func (c *Coordinator) listIn(ctx context.Context, view *ringView, id database.ID, from protocol.Place, count int) (names [][]byte, promised record.Ballot, next protocol.Place, changing bool, err error) {
	slot := from.Slot()
	pages := askAll(ctx, c, view, protocol.MethodList, func(version uint64) []byte {
		return protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: version, From: from, Limit: count, Of: protocol.OfDatabase(id)})
	}, func(payload []byte) (protocol.ListPage, error) {
		page, err := protocol.DecodeListPage(payload)
		return page, cmp.Or(err, checkList(&page, from))
	})
	next = protocol.NewPlace(slot+1, 0)
	for node, p := range pages.answers {
		if p != nil && pages.votes(view, node, slot) {
			next = min(next, p.Next)
		}
	}
	shown := make([]*quorum.Shown, len(pages.answers))
	for node, p := range pages.answers {
		if p == nil || !pages.votes(view, node, slot) {
			continue
		}
		one := &quorum.Shown{Promised: p.Promised, Cleared: p.Cleared, Unsure: p.Unsure}
		for _, e := range p.Entries {
			if e.Place < next {
				one.Keys = append(one.Keys, quorum.ShownKey{Name: e.Key, Version: e.Version, Live: e.Type != record.None})
			}
		}
		shown[node] = one
	}
	names, promised, ok := quorum.List(shown, func(such func(i int) bool) bool { return pages.most(view, slot, such) })
	switch {
	case ok:
		return names, promised, next, false, nil
	case !pages.covers(view, slot):
		return nil, promised, next, pages.changing, ErrNoMajority
	}
	return nil, promised, next, pages.changing, errNotListed
}

// errNotListed is the error where members do not agree on which clear the slot had last: one is under way, or was not finished.
var errNotListed = Refuse("TRYAGAIN the replicas of this database do not agree on its last FLUSHALL; nothing was done. Try again, or repeat FLUSHALL if it stays so")

// checkList returns an error unless a page goes on from a place, in its slot.
func checkList(p *protocol.ListPage, from protocol.Place) error {
	last := from
	for i := range p.Entries {
		if at := p.Entries[i].Place; at < last || at >= p.Next {
			return protocol.ErrPage
		}
		last = p.Entries[i].Place
	}
	if p.Next <= from || p.Next > protocol.NewPlace(from.Slot()+1, 0) {
		return protocol.ErrPage
	}
	return nil
}
