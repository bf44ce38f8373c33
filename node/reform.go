package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// Reforming: a cluster that has lost its state forms again, empty, when the operator says so. Nodes that have lost their state
// never vote in the ring that knows their former lives (R19), so all of them give up that ring, and form another one:
//
//   - Each node is closed and started again, on an empty store and with another generation. Nothing of its former life
//     goes on, so a promise is never mixed with a ring that has forgotten it.
//   - It does not learn the rings any more that were given up, so it is not superseded again by nodes that still know them.
//   - The new ring's epoch is above theirs (R1): whoever still works with an old ring, a proxy or a node that was cut off, is refused.
//   - As ever, a ring forms only with every member. So no node can go on with the old one in secret under a name of the new one.
//
// A node that votes gives up its state only if the operator has accepted that loss, and one with data on disk never: its
// directory has to be moved away by hand. Whatever fails in between, some nodes form and others have lost their state; to ask again ends it.

// Forgotten names the rings that were given up.
type Forgotten struct {
	// Rings are their digests, Epoch is the highest of their epochs.
	Rings []uint64
	Epoch uint64
}

func (f Forgotten) has(digest uint64) bool { return slices.Contains(f.Rings, digest) }

// reformTimeout bounds each round of asking the other nodes.
const reformTimeout = 2 * time.Second

var (
	errOtherLife  = errors.New("it was restarted meanwhile: ask again")
	errVotes      = errors.New("it votes, and what it holds would be lost")
	errNewerRing  = errors.New("it is part of another ring by now: ask again")
	errCannotGive = errors.New("this process cannot begin again: stop it and start it again")
)

// A Node can be told to form again through its admin API.
var _ admin.Reformer = (*Node)(nil)

// reformState says what this node would give up.
func (n *Node) reformState() protocol.ReformState {
	s := protocol.ReformState{Rings: slices.Clone(n.opt.Forgotten.Rings), Epoch: n.opt.Forgotten.Epoch, Generation: n.self.Generation}
	if v := n.view.Load(); v != nil {
		s.Rings, s.Epoch, s.Voting = append(s.Rings, v.cluster.Digest()), max(s.Epoch, v.cluster.Epoch), true
	} else if lost := n.superseded.Load(); lost != nil {
		s.Rings, s.Epoch, s.Lost = append(s.Rings, lost.cluster.Digest()), max(s.Epoch, lost.cluster.Epoch), true
	}
	if totals, err := n.engine.Totals(); err == nil {
		s.Keys, s.Bytes = totals.Live, totals.Bytes
	}
	switch id := n.opt.Identity; {
	case n.opt.Reform == nil:
		s.Refusal = errCannotGive.Error()
	case id != nil && id.Ring() != nil:
		s.Refusal = fmt.Sprintf("it keeps data of the old ring on disk: stop it, move its data directory %s away (keep it), and start it again with an empty one", n.opt.Data)
	}
	return s
}

// giveUp decides whether this node gives up its ring. Once it has returned nil the node joins no ring
// any more; begin calls whoever starts it anew.
func (n *Node) giveUp(r protocol.ReformRequest) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.reformState()
	switch {
	case s.Generation != r.Generation:
		return errOtherLife
	case s.Refusal != "":
		return errors.New(s.Refusal)
	case s.Voting && !r.AcceptLoss:
		return errVotes
	}
	for _, known := range s.Rings {
		if !slices.Contains(r.Rings, known) {
			return errNewerRing
		}
	}
	if n.reforming.CompareAndSwap(false, true) {
		n.log.Warn("this node gives up its ring, and what it holds, as it was told: it begins again, empty", "keys", s.Keys, "voted", s.Voting)
	}
	return nil
}

// begin has this node started anew, after giveUp.
func (n *Node) begin(r protocol.ReformRequest) {
	n.reformed.Do(func() { n.opt.Reform(Forgotten{Rings: r.Rings, Epoch: r.Epoch}) })
}

// callReform answers another node, and begins again after that, if it was told to.
func (n *Node) callReform(c *wire.ServerConn, role wire.Role, id uint64, payload []byte) {
	if role != wire.RoleNode {
		_ = c.SendFrames(protocol.AppendCallReply(nil, id, nil, errors.New("node: only nodes reform a cluster")))
		return
	}
	reply, begin, err := n.answerReform(payload)
	_ = c.SendFrames(protocol.AppendCallReply(nil, id, reply, err)) // it shows nothing of the store
	if begin != nil {
		begin()
	}
}

// answerReform decides what to answer. begin is called after the answer has been sent, if it is not nil.
func (n *Node) answerReform(payload []byte) (reply []byte, begin func(), err error) {
	var request protocol.ReformRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, nil, fmt.Errorf("node: reform: %w", err)
	}
	if len(request.Rings) == 0 {
		reply, err = json.Marshal(n.reformState())
		return reply, nil, err
	}
	if err := n.giveUp(request); err != nil {
		return nil, nil, err
	}
	return nil, func() { n.begin(request) }, nil
}

// Reform implements admin.Reformer: it asks every node how it is, decides, and tells every node, itself last.
func (n *Node) Reform(ctx context.Context, request admin.ReformRequest) (admin.ReformReport, error) {
	var report admin.ReformReport
	states, err := n.reformStates(ctx)
	if err != nil {
		return report, err
	}
	order := protocol.ReformRequest{AcceptLoss: request.AcceptLoss}
	for i, s := range states {
		order.Epoch = max(order.Epoch, s.Epoch)
		order.Rings = append(order.Rings, s.Rings...)
		report.Nodes = append(report.Nodes, admin.ReformNode{Name: n.initial[i].Name, Voting: s.Voting, Lost: s.Lost, Keys: s.Keys, Bytes: s.Bytes})
	}
	slices.Sort(order.Rings)
	order.Rings = slices.Compact(order.Rings)
	report.Epoch = order.Epoch + 1
	if err := n.judgeReform(states, request.AcceptLoss); err != nil || request.DryRun {
		return report, err
	}
	for _, voting := range []bool{false, true} { // who votes comes last: should one not obey, as little as possible is lost
		for i, s := range states {
			name := n.initial[i].Name
			if s.Voting != voting || name == n.opt.Name {
				continue
			}
			order.Generation = s.Generation
			if err := n.byID[i+1].tellReform(ctx, order); err != nil {
				return report, fmt.Errorf("node %s does not begin again: %w; some others may have: run this once more", name, err)
			}
		}
	}
	order.Generation = n.self.Generation
	if err := n.giveUp(order); err != nil {
		return report, fmt.Errorf("node %s does not begin again: %w; the others have: run this once more", n.opt.Name, err)
	}
	n.begin(order)
	report.Done = true
	return report, nil
}

// reformStates asks all nodes, in the order of the initial cluster. All have to answer: the new ring needs each of them.
func (n *Node) reformStates(ctx context.Context) ([]protocol.ReformState, error) {
	ctx, cancel := context.WithTimeout(ctx, reformTimeout)
	defer cancel()
	ask, err := json.Marshal(protocol.ReformRequest{})
	if err != nil {
		return nil, err
	}
	states, failed := make([]protocol.ReformState, len(n.initial)), make([]error, len(n.initial))
	var wait sync.WaitGroup
	for i := range n.initial {
		p := n.byID[i+1]
		if p == nil {
			states[i] = n.reformState()
			continue
		}
		wait.Go(func() {
			await(ctx, func() bool { return p.link.State() == wire.Up }) // it may just have been started
			if failed[i] = p.caller.CallJSON(ctx, protocol.MethodReform, ask, &states[i]); p.link.State() == wire.Down {
				failed[i] = errors.New(p.unreachable())
			}
		})
	}
	wait.Wait()
	var faults []string
	for i, err := range failed {
		if err != nil {
			faults = append(faults, fmt.Sprintf("node %s does not answer (%v)", n.initial[i].Name, err))
		}
	}
	if len(faults) > 0 {
		return nil, admin.Conflict(strings.Join(faults, "; ") + ": a ring forms with every node only, so start what does not run, and run this again")
	}
	return states, nil
}

// judgeReform says why the nodes should not begin again.
func (n *Node) judgeReform(states []protocol.ReformState, acceptLoss bool) error {
	var voting, stuck []string
	formed := false
	for i, s := range states {
		name := n.initial[i].Name
		formed = formed || s.Voting || s.Lost
		if s.Voting {
			voting = append(voting, fmt.Sprintf("%s (%d keys, %d bytes)", name, s.Keys, s.Bytes))
		}
		if s.Refusal != "" {
			stuck = append(stuck, fmt.Sprintf("node %s: %s", name, s.Refusal))
		}
	}
	_, reason := n.state()
	switch {
	case !formed:
		return admin.Conflict("no node knows a ring that could be given up: the cluster forms by itself; " + reason)
	case len(stuck) > 0:
		return admin.Conflict(strings.Join(stuck, "; "))
	case len(voting) > 0 && !acceptLoss:
		return admin.Conflict(fmt.Sprintf("%s still hold what was written, which would be lost for good: make a backup of each first (quoll node backup --to FILE --admin ADDRESS), and then repeat this with --accept-loss",
			strings.Join(voting, ", ")))
	}
	return nil
}

// tellReform tells another node to give up its ring.
func (p *peer) tellReform(ctx context.Context, order protocol.ReformRequest) error {
	ctx, cancel := context.WithTimeout(ctx, reformTimeout)
	defer cancel()
	payload, err := json.Marshal(order)
	if err != nil {
		return err
	}
	_, err = p.caller.Call(ctx, protocol.MethodReform, payload)
	return err
}
