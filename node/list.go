package node

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring"
)

// answerList shows the records of a database in its slot, and what the replica has promised. It is answered when all that is durable, for whoever asks rests on the promise (B10).
func (n *Node) answerList(payload []byte) ([]byte, error) {
	request, err := protocol.DecodeScanRequest(payload)
	if err != nil {
		return nil, err
	}
	page, err := n.list(request)
	if err != nil {
		return nil, err
	}
	return protocol.AppendListPage(nil, &page), nil
}

func (n *Node) list(r protocol.ScanRequest) (page protocol.ListPage, err error) {
	number := r.From.Slot()
	if number >= ring.Slots {
		return page, protocol.ErrPage
	}
	st := n.replicas.Lock(number, nil)
	defer st.Unlock()
	held, err := n.holds(r.Version, number)
	if err == nil && !held {
		err = protocol.ErrChanged
	}
	if err == nil {
		err = st.Readable(number)
	}
	if err != nil {
		return page, err
	}
	meta, err := n.engine.Slot(number)
	if err != nil {
		return page, err
	}
	page.Promised, page.Cleared, page.Unsure = meta.Promised, meta.Cleared, meta.Unsure
	limit := max(1, min(r.Limit, maxScan))
	next, err := st.Scan(number, engine.Position(r.From.Position()), engine.EndPosition, func() bool { return len(page.Entries) >= limit },
		func(pos engine.Position, key []byte, rec record.Record) {
			if r.Of.Selects(key) {
				page.Entries = append(page.Entries, protocol.ScanEntry{Place: protocol.NewPlace(number, uint64(pos)),
					Key: append([]byte(nil), key...), Version: rec.Version, Type: rec.State.Type})
			}
		})
	if page.Next = protocol.NewPlace(number+1, 0); next < engine.EndPosition {
		page.Next = protocol.NewPlace(number, uint64(next))
	}
	return page, err
}
