package node

import (
	"errors"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

func (n *Node) answerScan(decode func([]byte) (protocol.ScanRequest, error), payload []byte) ([]byte, error) {
	request, err := decode(payload)
	if err != nil {
		return nil, err
	}
	page, err := n.scan(request)
	if err != nil {
		return nil, err
	}
	return protocol.AppendScanPage(nil, &page), nil
}

// maxScan bounds the records of one page.
const maxScan = 10_000

// scan collects the records of this node's slots from a place on, in order. Keys
// with the same position are never torn apart. A page ends before a slot that cannot be read;
// one that would begin with it is an error, so that others are asked for it. So it is with one that has changed since the version of the ring that the
// request is of: whoever asks would count this node among those that held the slot then, or hold it now.
func (n *Node) scan(r protocol.ScanRequest) (protocol.ScanPage, error) {
	limit := max(1, min(r.Limit, maxScan))
	page := protocol.ScanPage{Next: protocol.EndPlace}
	now := n.now()
	if r.Version > n.replicas.View().Table.Version() {
		return page, protocol.ErrChanged
	}
	from := engine.Position(r.From.Position())
	examined := 0
	for number := r.From.Slot(); number < ring.Slots; number++ {
		if leaves := r.Wants(number); leaves != 0 {
			before := len(page.Entries)
			full, err := n.scanSlot(&r, number, from, leaves, limit, now, &page, &examined)
			if err != nil {
				if !errors.Is(err, protocol.ErrChanged) {
					n.replicas.Unreadable(number, err)
				}
				if number == r.From.Slot() {
					return page, err
				}
				full, page.Entries, page.Next = true, page.Entries[:before], protocol.NewPlace(number, 0)
			}
			if full {
				break
			}
		}
		from = 0
	}
	return page, nil
}

// scanSlot appends the records of some leaves of a slot and reports whether the page is full: it is, too, at the end of a slot after very many records that were
// not asked for.
func (n *Node) scanSlot(r *protocol.ScanRequest, number uint16, from engine.Position, leaves uint64, limit int, now int64, page *protocol.ScanPage, examined *int) (bool, error) {
	if held, err := n.holds(r.Version, number); !held {
		return false, err
	}
	st := n.lockSettled(number)
	defer st.Unlock()
	if held, err := n.holds(r.Version, number); !held { // it may have moved meanwhile
		return false, err
	}
	if r.Of.Others() {
		if others, err := n.others(st, number); others == 0 || err != nil {
			return false, err
		}
	}
	enough := func() bool { return len(page.Entries) >= limit }
	visit := func(pos engine.Position, key []byte, rec record.Record) {
		*examined++
		if !r.Of.Selects(key) {
			return
		}
		typ := rec.State.Type
		if rec.State.Expired(now) || database.Own(key) {
			typ = record.None
		}
		page.Entries = append(page.Entries, protocol.ScanEntry{Place: protocol.NewPlace(number, uint64(pos)),
			Key: append([]byte(nil), key...), Version: rec.Version, Type: typ})
	}
	for start, end := engine.NextLeaves(leaves, from); start < engine.EndPosition; start, end = engine.NextLeaves(leaves, end) {
		next, err := st.Scan(number, start, end, enough, visit)
		if err != nil {
			return false, err
		}
		if next < end {
			page.Next = protocol.NewPlace(number, uint64(next))
			return true, nil
		}
	}
	if r.Of != 0 && *examined >= maxScan {
		page.Next = protocol.NewPlace(number+1, 0)
		return true, nil
	}
	return false, nil
}

// others counts the keys of other databases than 0 in a slot that is locked.
func (n *Node) others(st *replica.Stripe, number uint16) (uint64, error) {
	if err := st.Readable(number); err != nil {
		return 0, err
	}
	stats, err := n.engine.Stats(number)
	return stats.Others, err
}

// holds reports whether this node holds a slot, as whoever knows a version of the ring would say, too. It is protocol.ErrChanged if that one does not know who
// holds it now.
func (n *Node) holds(version uint64, number uint16) (bool, error) {
	v := n.replicas.View()
	if !v.Knows(version, number) {
		return false, protocol.ErrChanged
	}
	return v.Table.Contains(number, v.Self), nil
}
