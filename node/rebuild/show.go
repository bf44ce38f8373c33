package rebuild

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

// recordOverhead is about what a record takes besides key and value.
const recordOverhead = 100

// AnswerCopy shows some records of a slot to a node whose replica is being rebuilt, as an answer to a MethodCopy call. It may leave
// when the promise, and what it shows, is durable. ahead returns the number
// under which a large object is sent ahead of the answer, or 0.
func (r *Rebuilder) AnswerCopy(payload []byte, ahead func(*record.State) uint64) ([]byte, error) {
	request, err := protocol.DecodeCopyRequest(payload)
	if err != nil {
		return nil, err
	}
	if request.Epoch != r.node.Epoch(request.Slot) {
		return nil, errOtherEpoch
	}
	slot := r.node.Lock(request.Slot)
	page, err := show(slot, request)
	slot.Unlock()
	if err != nil {
		if !errors.Is(err, errOtherEpoch) {
			r.node.Unreadable(request.Slot, err)
		}
		return nil, err
	}
	return protocol.AppendCopyPage(nil, &page, ahead), nil
}

// show promises a ballot, and returns records of a slot from a position on.
func show(slot Slot, r protocol.CopyRequest) (page protocol.CopyPage, err error) {
	if err := slot.Open(); err != nil {
		return page, err
	}
	current, err := slot.Fence(r.Epoch, r.Ballot)
	if err != nil {
		return page, err
	}
	if !current {
		return page, errOtherEpoch
	}
	page.Next = r.From
	if r.Limit > 0 {
		size := 0
		enough := func() bool { return size >= min(r.Limit, rebuildBytes) }
		next, err := slot.Scan(engine.Position(r.From), enough, func(_ engine.Position, key []byte, rec record.Record) {
			size += recordOverhead + len(key) + rec.State.Size()
			rec.State = rec.State.Keep()
			page.Entries = append(page.Entries, protocol.CopyEntry{Key: bytes.Clone(key), Record: rec})
		})
		if err != nil {
			return page, err
		}
		page.Next = uint64(next)
	}
	meta := slot.Meta()
	page.Floor, page.Cleared = meta.Floor, meta.Cleared
	return page, nil
}

// askCopy asks a peer for records of a slot.
func askCopy(ctx context.Context, p Peer, r protocol.CopyRequest) (protocol.CopyPage, error) {
	payload, objects, err := p.AskObjects(ctx, protocol.MethodCopy, protocol.AppendCopyRequest(nil, r))
	if err != nil {
		return protocol.CopyPage{}, err
	}
	page, err := protocol.DecodeCopyPage(payload, objects)
	if err == nil && r.Limit > 0 && (page.Next <= r.From || page.Next > uint64(engine.EndPosition)) {
		err = fmt.Errorf("%w: a page that does not go on from where it was asked for", wire.ErrMalformed)
	}
	return page, err
}
