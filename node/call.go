package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// maxCalls bounds the calls that are answered at the same time.
const maxCalls = 64

// errFrameType is that of frames that nobody knows.
var errFrameType = errors.New("node: unknown frame type")

// errBusy is returned to callers beyond maxCalls.
var errBusy = errors.New("node: too many calls at the same time; try again")

// call answers a rare request, in a goroutine of its own: it may take a while. What
// the reply shows of records is durable (R2).
func (n *Node) call(c *wire.ServerConn, role wire.Role, body []byte) {
	id, method, payload, err := protocol.DecodeCall(buffer.Clone(body))
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
		if method == protocol.MethodReform {
			n.callReform(c, role, id, payload)
			return
		}
		answer := c.Data.(*session).answers.New()
		reply, err := n.answerCall(role, method, payload, answer)
		frame := protocol.AppendCallReply(nil, id, reply, err)
		if method == protocol.MethodStatus || method == protocol.MethodCluster || method == protocol.MethodRepair {
			_ = c.SendFrames(frame) // it is no vote, and is to be heard when there is no commit any more
			return
		}
		n.engine.Commit(func(err error) {
			if err != nil {
				n.storageFailed(err)
				frame = protocol.AppendCallReply(nil, id, nil, err)
			}
			if err == nil && len(answer.Numbers()) > 0 {
				answer.Set(protocol.AppendObjectsReply(nil, id, reply, answer.Numbers()))
				if c.Stream(answer) == nil {
					return
				}
				frame = protocol.AppendCallReply(nil, id, nil, errBusy)
			}
			_ = c.SendFrames(frame)
		})
	})
}

// answerCall returns the reply to a call. What is too large for it goes ahead, with answer.
func (n *Node) answerCall(role wire.Role, method protocol.Method, payload []byte, answer *transfer.Answer) ([]byte, error) {
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
			return nil, n.members.AnswerPropose(payload)
		}
		return nil, n.members.AnswerCommit(payload)
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
		return n.answerScan(v, protocol.DecodeScanRequest, payload)
	case protocol.MethodScanLeaves:
		return n.answerScan(v, protocol.DecodeScanLeavesRequest, payload)
	case protocol.MethodStats:
		counts, err := n.slotCounts(v)
		if err != nil {
			return nil, err
		}
		return protocol.AppendSlotCounts(nil, counts), nil
	case protocol.MethodDigests:
		return n.repairs.AnswerDigests(payload)
	case protocol.MethodLeaves:
		return n.repairs.AnswerLeaves(payload)
	case protocol.MethodVersions:
		return n.repairs.AnswerVersions(payload)
	case protocol.MethodRepair:
		if role != wire.RoleNode {
			return nil, fmt.Errorf("node: only nodes ask for a repair")
		}
		return n.repairs.AnswerRepair(payload)
	case protocol.MethodCopy:
		if role != wire.RoleNode {
			return nil, fmt.Errorf("node: only nodes copy slots")
		}
		return n.rebuilds.AnswerCopy(payload, answer.Ahead)
	}
	return nil, fmt.Errorf("node: unknown call %d", method)
}

func (n *Node) answerScan(v *view, decode func([]byte) (protocol.ScanRequest, error), payload []byte) ([]byte, error) {
	request, err := decode(payload)
	if err != nil {
		return nil, err
	}
	page, err := n.scan(v, request)
	if err != nil {
		return nil, err
	}
	return protocol.AppendScanPage(nil, &page), nil
}

// maxScan bounds the records of one page.
const maxScan = 10_000

// scan collects the records of this node's slots from a place on, in order. Keys
// with the same position are never torn apart. A page ends before a slot that cannot be read;
// one that would begin with it is an error, so that others are asked for it.
func (n *Node) scan(v *view, r protocol.ScanRequest) (protocol.ScanPage, error) {
	limit := max(1, min(r.Limit, maxScan))
	page := protocol.ScanPage{Next: protocol.EndPlace}
	now := n.now()
	from := engine.Position(r.From.Position())
	for number := r.From.Slot(); number < ring.Slots; number++ {
		if leaves := r.Wants(number); leaves != 0 && v.table.Contains(number, v.self) {
			before := len(page.Entries)
			full, err := n.scanSlot(number, from, leaves, limit, now, &page)
			if err != nil {
				n.unreadable(number, err)
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

// scanSlot appends the records of some leaves of a slot and reports whether the page is full.
func (n *Node) scanSlot(number uint16, from engine.Position, leaves uint64, limit int, now int64, page *protocol.ScanPage) (bool, error) {
	st := n.lock(number, nil)
	defer st.unlock()
	enough := func() bool { return len(page.Entries) >= limit }
	visit := func(pos engine.Position, key []byte, rec record.Record) {
		typ := rec.State.Type
		if rec.State.Expired(now) {
			typ = record.None
		}
		page.Entries = append(page.Entries, protocol.ScanEntry{Place: protocol.NewPlace(number, uint64(pos)),
			Key: append([]byte(nil), key...), Version: rec.Version, Type: typ})
	}
	for start, end := engine.NextLeaves(leaves, from); start < engine.EndPosition; start, end = engine.NextLeaves(leaves, end) {
		next, err := st.scan(number, start, end, enough, visit)
		if err != nil {
			return false, err
		}
		if next < end {
			page.Next = protocol.NewPlace(number, uint64(next))
			return true, nil
		}
	}
	return false, nil
}

// slotCounts counts the live records of every slot that has any.
func (n *Node) slotCounts(v *view) ([]protocol.SlotCount, error) {
	var counts []protocol.SlotCount
	for number := range v.slots() {
		stats, err := n.slotStats(number)
		if err != nil {
			n.unreadable(number, err)
			return nil, err
		}
		if stats.Live > 0 {
			counts = append(counts, protocol.SlotCount{Slot: number, Live: stats.Live, Digest: stats.Digest})
		}
	}
	return counts, nil
}

func (n *Node) slotStats(number uint16) (engine.SlotStats, error) {
	st := n.lock(number, nil)
	defer st.unlock()
	if err := st.readable(number); err != nil {
		return engine.SlotStats{}, err
	}
	return n.engine.Stats(number)
}

// leading reports whether this node holds the term of a slot.
func (s *stripe) leading(number uint16) bool {
	return s.slots[number/stripes].leads()
}

var _ register.Env = (*stripe)(nil)
