package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// maxCalls bounds the calls that are answered at the same time.
const maxCalls = 64

// errBusy is returned to callers beyond maxCalls.
var errBusy = errors.New("node: too many calls at the same time; try again")

// call answers a rare request, in a goroutine of its own: it may take a while. What
// the reply shows of records is durable (R2).
func (n *Node) call(c *wire.ServerConn, role wire.Role, body []byte) {
	id, method, payload, err := protocol.DecodeCall(bytes.Clone(body))
	if err != nil {
		c.Close()
		return
	}
	if n.calls.Add(1) > maxCalls {
		n.calls.Add(-1)
		_ = c.SendFrames(protocol.AppendCallReply(nil, id, nil, errBusy))
		return
	}
	n.wait.Go(func() {
		defer n.calls.Add(-1)
		reply, err := n.answerCall(role, method, payload)
		frame := protocol.AppendCallReply(nil, id, reply, err)
		if method == protocol.MethodStatus || method == protocol.MethodCluster {
			_ = c.SendFrames(frame) // it is no vote, and is to be heard when there is no commit any more
			return
		}
		n.engine.Commit(func(err error) {
			if err != nil {
				n.storageFailed(err)
				frame = protocol.AppendCallReply(nil, id, nil, err)
			}
			_ = c.SendFrames(frame)
		})
	})
}

func (n *Node) answerCall(role wire.Role, method protocol.Method, payload []byte) ([]byte, error) {
	switch method {
	case protocol.MethodStatus:
		return json.Marshal(n.Self())
	case protocol.MethodCluster:
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		status, err := n.Status(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(status)
	case protocol.MethodPropose, protocol.MethodCommit:
		if role != wire.RoleNode {
			return nil, fmt.Errorf("node: only nodes form a cluster")
		}
		if method == protocol.MethodPropose {
			return nil, n.propose(payload)
		}
		return nil, n.commit(payload)
	}
	v := n.view.Load()
	if v == nil || n.failed.Load() {
		_, reason := n.state()
		return nil, fmt.Errorf("node %s does not vote: %s", n.opt.Name, reason)
	}
	switch method {
	case protocol.MethodLocate:
		holding, err := n.holding(payload)
		if err != nil {
			return nil, err
		}
		return json.Marshal(holding)
	case protocol.MethodScan:
		request, err := protocol.DecodeScanRequest(payload)
		if err != nil {
			return nil, err
		}
		page, err := n.scan(v, request)
		if err != nil {
			return nil, err
		}
		return protocol.AppendScanPage(nil, &page), nil
	case protocol.MethodStats:
		counts, err := n.slotCounts(v)
		if err != nil {
			return nil, err
		}
		return protocol.AppendSlotCounts(nil, counts), nil
	}
	return nil, fmt.Errorf("node: unknown call %d", method)
}

// maxScan bounds the records of one page.
const maxScan = 10_000

// scan collects the records of this node's slots from a place on, in order. Keys
// with the same position are never torn apart.
func (n *Node) scan(v *view, r protocol.ScanRequest) (protocol.ScanPage, error) {
	limit := max(1, min(r.Limit, maxScan))
	page := protocol.ScanPage{Next: protocol.EndPlace}
	now := n.now()
	from := engine.Position(r.From.Position())
	for number := r.From.Slot(); number < ring.Slots; number++ {
		if v.table.Contains(number, v.self) {
			full, err := n.scanSlot(number, from, limit, now, &page)
			if full || err != nil {
				return page, err
			}
		}
		from = 0
	}
	return page, nil
}

// scanSlot appends the records of one slot and reports whether the page is full.
func (n *Node) scanSlot(number uint16, from engine.Position, limit int, now int64, page *protocol.ScanPage) (bool, error) {
	st := n.lock(number, nil)
	defer st.unlock()
	full := false
	last := engine.EndPosition
	err := n.engine.Scan(number, from, func(pos engine.Position, key []byte, rec record.Record) bool {
		if len(page.Entries) >= limit && pos != last {
			full, page.Next = true, protocol.NewPlace(number, uint64(pos))
			return false
		}
		last = pos
		typ := rec.State.Type
		if rec.State.Expired(now) {
			typ = record.None
		}
		page.Entries = append(page.Entries, protocol.ScanEntry{Place: protocol.NewPlace(number, uint64(pos)),
			Key: append([]byte(nil), key...), Version: rec.Version, Type: typ})
		return true
	})
	return full, err
}

// slotCounts counts the live records of every slot that has any.
func (n *Node) slotCounts(v *view) ([]protocol.SlotCount, error) {
	var counts []protocol.SlotCount
	for number := uint16(0); number < ring.Slots; number++ {
		if !v.table.Contains(number, v.self) {
			continue
		}
		st := n.lock(number, nil)
		stats, err := n.engine.Stats(number)
		st.unlock()
		if err != nil {
			return nil, err
		}
		if stats.Live > 0 {
			counts = append(counts, protocol.SlotCount{Slot: number, Live: stats.Live, Digest: stats.Digest})
		}
	}
	return counts, nil
}

// leading reports whether this node holds the term of a slot.
func (s *stripe) leading(number uint16) bool {
	sl := s.slots[number/stripes]
	return sl != nil && sl.home.Leading()
}

var _ register.Env = (*stripe)(nil)
