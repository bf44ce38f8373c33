package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// maxCalls bounds the calls that are answered at the same time.
const maxCalls = 64

// errBusy is returned to callers beyond maxCalls.
var errBusy = errors.New("node: too many calls at the same time; try again")

// call answers a rare request, in a goroutine of its own: it may take a while. What
// the reply shows of records is durable (R2).
func (n *Node) call(c *wire.ServerConn, s *session, body []byte) {
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
			n.callReform(c, s.role, id, payload)
			return
		}
		if reply, is, err := n.answerOfOthers(s, method, payload); is {
			_ = c.SendFrames(protocol.AppendCallReply(nil, id, reply, err))
			return
		}
		answer := s.conn.Answers.New()
		reply, err := n.answerCall(s.role, method, payload, answer)
		frame := protocol.AppendCallReply(nil, id, reply, err)
		if method == protocol.MethodStatus || method == protocol.MethodCluster || method == protocol.MethodRepair || method == protocol.MethodRing {
			_ = c.SendFrames(frame) // it is no vote, and is to be heard when there is no commit any more
			return
		}
		n.engine.Commit(func(err error) {
			if err != nil {
				n.replicas.StorageFailed(err)
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

// answerOfOthers returns the reply to a call if that shows nothing of the store.
func (n *Node) answerOfOthers(s *session, method protocol.Method, payload []byte) (reply []byte, is bool, err error) {
	switch method {
	case protocol.MethodGroup:
		reply, err = n.decisions.answerGroup(s)
	case protocol.MethodChange:
		reply, err = n.decisions.answerChange(s, payload)
	case protocol.MethodUsers:
		reply, err = n.answerUsers(s, payload)
	case protocol.MethodParameters:
		reply, err = n.answerParameters(s, payload)
	case protocol.MethodPubSub:
		reply, err = n.broker.Answer(payload)
	case protocol.MethodScripts:
		reply, err = n.answerScripts(payload)
	default:
		return nil, false, nil
	}
	return reply, true, err
}

// answerScripts answers a MethodScripts call.
func (n *Node) answerScripts(payload []byte) ([]byte, error) {
	var q protocol.ScriptsRequest
	if err := json.Unmarshal(payload, &q); err != nil {
		return nil, err
	}
	return json.Marshal(n.exec.Scripts(q))
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
	case protocol.MethodRing:
		return n.members.AnswerRing(payload)
	case protocol.MethodPropose, protocol.MethodCommit:
		if role != wire.RoleNode {
			return nil, fmt.Errorf("node: only nodes form a cluster")
		}
		if method == protocol.MethodPropose {
			return nil, n.members.AnswerPropose(payload)
		}
		return nil, n.members.AnswerCommit(payload)
	}
	v := n.replicas.View()
	if v == nil || n.replicas.Failed() {
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
	case protocol.MethodFindKey:
		return n.answerFindKey(payload)
	case protocol.MethodScan:
		return n.answerScan(protocol.DecodeScanRequest, payload)
	case protocol.MethodScanLeaves:
		return n.answerScan(protocol.DecodeScanLeavesRequest, payload)
	case protocol.MethodList:
		return n.answerList(payload)
	case protocol.MethodStats:
		return n.answerStats(payload)
	case protocol.MethodDigests:
		return n.repairs.AnswerDigests(payload)
	case protocol.MethodDurable:
		return n.answerDurable(payload)
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
	case protocol.MethodShow, protocol.MethodFetch, protocol.MethodAgain:
		if role != wire.RoleNode {
			return nil, fmt.Errorf("node: only nodes collect slots")
		}
		return n.answerCollector(method, payload, answer)
	}
	return nil, fmt.Errorf("node: unknown call %d", method)
}

// answerStats counts the live records of every slot that has any, as of a version of the ring.
func (n *Node) answerStats(payload []byte) ([]byte, error) {
	d := wire.NewDecoder(payload)
	version := d.Uvarint()
	if err := d.Done(); err != nil {
		return nil, err
	}
	if version > n.replicas.View().Table.Version() {
		return nil, protocol.ErrChanged
	}
	counts := make([]protocol.SlotCount, 0, ring.Slots)
	var changed []uint16
	for number := range uint16(ring.Slots) {
		stats, err := n.slotStats(version, number)
		switch {
		case errors.Is(err, protocol.ErrChanged):
			changed = append(changed, number)
		case err != nil:
			n.replicas.Unreadable(number, err)
			return nil, err
		case stats.Live > 0:
			counts = append(counts, protocol.SlotCount{Slot: number, Live: stats.Live, Others: stats.Others, Digest: stats.Digest})
		}
	}
	return protocol.AppendSlotCounts(nil, counts, changed), nil
}

// slotStats counts what this node holds of a slot, none if it does not hold it.
func (n *Node) slotStats(version uint64, number uint16) (engine.SlotStats, error) {
	if held, err := n.holds(version, number); !held {
		return engine.SlotStats{}, err
	}
	st := n.lockSettled(number)
	defer st.Unlock()
	if held, err := n.holds(version, number); !held { // it may have moved meanwhile
		return engine.SlotStats{}, err
	}
	if err := st.Readable(number); err != nil {
		return engine.SlotStats{}, err
	}
	return n.engine.Stats(number)
}
