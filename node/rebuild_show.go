package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
)

// The other side of a rebuild: a sound replica promises, and shows what it holds.

var errOtherEpoch = errors.New("node: it is in another epoch of the ring")

// answerCopy shows some records of a slot to a node whose replica is being rebuilt. The reply
// leaves when the promise, and what it shows, is durable.
func (n *Node) answerCopy(v *view, payload []byte) ([]byte, error) {
	request, err := protocol.DecodeCopyRequest(payload)
	if err != nil {
		return nil, err
	}
	if request.Epoch != v.cluster.Epoch {
		return nil, errOtherEpoch
	}
	page, err := n.show(request)
	if err != nil {
		return nil, err
	}
	return protocol.AppendCopyPage(nil, &page), nil
}

// show promises a ballot, and returns records of a slot from a position on.
func (n *Node) show(r protocol.CopyRequest) (page protocol.CopyPage, err error) {
	out := n.getOutbox()
	defer out.flush()
	st := n.lock(r.Slot, out)
	defer st.unlock()
	sl, err := st.slot(r.Slot)
	if err != nil {
		return page, err
	}
	current, err := sl.acceptor.Fence(r.Epoch, r.Ballot)
	if err != nil {
		st.fail(r.Slot, sl, err)
		return page, err
	}
	if !current {
		return page, errOtherEpoch
	}
	page.Next = r.From
	if r.Limit > 0 {
		size := 0
		enough := func() bool { return size >= min(r.Limit, rebuildBytes) }
		next, err := st.scan(r.Slot, engine.Position(r.From), engine.EndPosition, enough, func(_ engine.Position, key []byte, rec record.Record) {
			size += recordOverhead + len(key) + len(rec.State.Value)
			rec.State = rec.State.Keep()
			page.Entries = append(page.Entries, protocol.CopyEntry{Key: bytes.Clone(key), Record: rec})
		})
		if err != nil {
			st.unreadable(r.Slot, err)
			return page, err
		}
		page.Next = uint64(next)
	}
	meta := sl.acceptor.Meta()
	page.Floor, page.Cleared = meta.Floor, meta.Cleared
	return page, nil
}

// copy asks a peer for records of a slot.
func (p *peer) copy(ctx context.Context, r protocol.CopyRequest) (protocol.CopyPage, error) {
	payload, err := p.ask(ctx, protocol.MethodCopy, protocol.AppendCopyRequest(nil, r))
	if err != nil {
		return protocol.CopyPage{}, err
	}
	page, err := protocol.DecodeCopyPage(payload)
	if err == nil && r.Limit > 0 && (page.Next <= r.From || page.Next > uint64(engine.EndPosition)) {
		err = fmt.Errorf("%w: a page that does not go on from where it was asked for", wire.ErrMalformed)
	}
	return page, err
}
