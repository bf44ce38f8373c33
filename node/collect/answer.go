package collect

import (
	"context"
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// The other side: what members show to one that collects, and write for it. All of it takes part in the joint epoch first, durably before the answer leaves: so
// nothing of the epoch before is accepted any more that was not shown.

// errNotOld is returned to a member that asks one that joins for what it holds: that says nothing.
var errNotOld = errors.New("node: it joins the slot itself")

// AnswerShow shows which versions this node holds, as an answer to a MethodShow call. It may leave when what is written by now is durable.
func (c *Collector) AnswerShow(payload []byte) ([]byte, error) {
	request, err := protocol.DecodeShowRequest(payload)
	if err != nil {
		return nil, err
	}
	var page protocol.ShowPage
	err = c.joint(request.Slot, request.Epoch, func(s Slot, config *register.Config) (err error) {
		if !slices.Contains(config.Old(), c.node.Self()) {
			return errNotOld
		}
		page, err = show(s, engine.Position(request.From), engine.EndPosition, max(1, min(request.Limit, pageBytes)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return protocol.AppendShowPage(nil, &page), nil
}

// AnswerFetch shows records of keys, as an answer to a MethodFetch call. It may leave when what is written by now is durable. ahead returns the number under which
// a large object is sent ahead of the answer, or 0.
func (c *Collector) AnswerFetch(payload []byte, ahead func(*record.State) uint64) ([]byte, error) {
	request, err := protocol.DecodeKeysRequest(payload)
	if err != nil {
		return nil, err
	}
	var page protocol.CopyPage
	err = c.joint(request.Slot, request.Epoch, func(s Slot, _ *register.Config) error {
		size := 0
		for _, key := range request.Keys {
			if size >= pageBytes {
				break
			}
			rec, present, err := s.Acceptor().Read(key)
			if err != nil {
				return err
			}
			if !present { // a clear is no record
				rec = record.Record{}
			}
			rec.State = rec.State.Keep()
			size += recordOverhead + len(key) + rec.State.Size()
			page.Entries = append(page.Entries, protocol.CopyEntry{Key: key, Record: rec})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return protocol.AppendCopyPage(nil, &page, ahead), nil
}

// AnswerAgain has this node's home write keys again, as an answer to a MethodAgain call. It waits for that for some seconds.
func (c *Collector) AnswerAgain(ctx context.Context, payload []byte) ([]byte, error) {
	request, err := protocol.DecodeKeysRequest(payload)
	if err != nil {
		return nil, err
	}
	reply, err := c.writeHere(ctx, request)
	if err != nil {
		return nil, err
	}
	return protocol.AppendAgainReply(nil, reply), nil
}
