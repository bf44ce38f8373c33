package membership

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
	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
)

// Reforming: a cluster that has lost its state forms again, empty, when the operator says so. Nodes that have lost their state
// never vote in the ring that knows their former lives (R19), so all of them give up that ring, and form another one:
//
//   - Each node is closed and started again, on an empty store and with another generation. Nothing of its former life
//     goes on, so a promise is never mixed with a ring that has forgotten it.
//   - It does not learn the rings any more that were given up, so it is not superseded again by nodes that still know them.
//   - The new ring's version is above theirs (R1): whoever still works with an old ring, a proxy or a node that was cut off, is refused.
//   - As ever, a ring forms only with every member. So no node can go on with the old one in secret under a name of the new one.
//
// A node that votes gives up its state only if the operator has accepted that loss, and one with data on disk never: its
// directory has to be moved away by hand. Whatever fails in between, some nodes form and others have lost their state; to ask again ends it.

// Forgotten names the rings that were given up.
type Forgotten struct {
	// Rings are their formations (change.Document), Epoch is the highest of their versions.
	Rings []uint64
	Epoch uint64
}

func (f Forgotten) has(formation uint64) bool { return slices.Contains(f.Rings, formation) }

// reformTimeout bounds each round of asking the other nodes.
const reformTimeout = 2 * time.Second

var (
	errOtherLife  = errors.New("it was restarted meanwhile: ask again")
	errVotes      = errors.New("it votes, and what it holds would be lost")
	errNewerRing  = errors.New("it is part of another ring by now: ask again")
	errCannotGive = errors.New("this process cannot begin again: stop it and start it again")
)

// reformState says what this node would give up.
func (m *Membership) reformState() protocol.ReformState {
	s := protocol.ReformState{Rings: slices.Clone(m.opt.Forgotten.Rings), Epoch: m.opt.Forgotten.Epoch, Generation: m.Self().Generation}
	if k := m.known.Load(); k != nil {
		s.Rings, s.Epoch = append(s.Rings, k.news.Formation), max(s.Epoch, k.news.Version)
		s.Lost = m.lost.Load() != nil
		s.Voting = !s.Lost
	}
	s.Keys, s.Bytes = m.node.Holds()
	switch id := m.opt.Identity; {
	case m.opt.Reform == nil:
		s.Refusal = errCannotGive.Error()
	case id != nil && id.Ring() != nil:
		s.Refusal = fmt.Sprintf("it keeps data of the old ring on disk: stop it, move its data directory %s away (keep it), and start it again with an empty one", m.opt.Data)
	}
	return s
}

// giveUp decides whether this node gives up its ring. Once it has returned nil the node joins no ring
// any more; begin calls whoever starts it anew.
func (m *Membership) giveUp(r protocol.ReformRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.reformState()
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
	if m.reforming.CompareAndSwap(false, true) {
		m.log.Warn("this node gives up its ring, and what it holds, as it was told: it begins again, empty", "keys", s.Keys, "voted", s.Voting)
	}
	return nil
}

// begin has this node started anew, after giveUp.
func (m *Membership) begin(r protocol.ReformRequest) {
	m.reformed.Do(func() { m.opt.Reform(Forgotten{Rings: r.Rings, Epoch: r.Epoch}) })
}

// AnswerReform decides what to answer to a MethodReform call. begin is called after the answer has been sent, if it is not nil.
func (m *Membership) AnswerReform(payload []byte) (reply []byte, begin func(), err error) {
	var request protocol.ReformRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, nil, fmt.Errorf("node: reform: %w", err)
	}
	if len(request.Rings) == 0 {
		reply, err = json.Marshal(m.reformState())
		return reply, nil, err
	}
	if err := m.giveUp(request); err != nil {
		return nil, nil, err
	}
	return nil, func() { m.begin(request) }, nil
}

// Reform is what admin.Reformer says: it asks every node how it is, decides, and tells every node, itself last.
func (m *Membership) Reform(ctx context.Context, request admin.ReformRequest) (admin.ReformReport, error) {
	var report admin.ReformReport
	states, err := m.reformStates(ctx)
	if err != nil {
		return report, err
	}
	order := protocol.ReformRequest{AcceptLoss: request.AcceptLoss}
	for i, s := range states {
		order.Epoch = max(order.Epoch, s.Epoch)
		order.Rings = append(order.Rings, s.Rings...)
		report.Nodes = append(report.Nodes, admin.ReformNode{Name: m.opt.Initial[i].Name, Voting: s.Voting, Lost: s.Lost, Keys: s.Keys, Bytes: s.Bytes})
	}
	slices.Sort(order.Rings)
	order.Rings = slices.Compact(order.Rings)
	report.Epoch = order.Epoch + 1
	if err := m.judgeReform(states, request.AcceptLoss); err != nil || request.DryRun {
		return report, err
	}
	for _, voting := range []bool{false, true} { // who votes comes last: should one not obey, as little as possible is lost
		for i, s := range states {
			name := m.opt.Initial[i].Name
			if s.Voting != voting || name == m.opt.Name {
				continue
			}
			order.Generation = s.Generation
			p, _ := m.peer(name) // it has just answered
			if err := tellReform(ctx, p, order); err != nil {
				return report, fmt.Errorf("node %s does not begin again: %w; some others may have: run this once more", name, err)
			}
		}
	}
	order.Generation = m.Self().Generation
	if err := m.giveUp(order); err != nil {
		return report, fmt.Errorf("node %s does not begin again: %w; the others have: run this once more", m.opt.Name, err)
	}
	m.begin(order)
	report.Done = true
	return report, nil
}

// reformStates asks all nodes, in the order of the initial cluster. All have to answer: the new ring needs each of them.
func (m *Membership) reformStates(ctx context.Context) ([]protocol.ReformState, error) {
	ctx, cancel := context.WithTimeout(ctx, reformTimeout)
	defer cancel()
	ask, err := json.Marshal(protocol.ReformRequest{})
	if err != nil {
		return nil, err
	}
	states, failed := make([]protocol.ReformState, len(m.opt.Initial)), make([]error, len(m.opt.Initial))
	var wait sync.WaitGroup
	for i := range m.opt.Initial {
		if m.opt.Initial[i].Name == m.opt.Name {
			states[i] = m.reformState()
			continue
		}
		p, found := m.peer(m.opt.Initial[i].Name)
		if !found {
			failed[i] = errors.New("it is no member of the ring any more")
			continue
		}
		wait.Go(func() {
			clock.Await(ctx, p.Up) // it may just have been started
			if states[i], failed[i] = askReform(ctx, p, ask); p.Down() {
				failed[i] = errors.New(p.Unreachable())
			}
		})
	}
	wait.Wait()
	var faults []string
	for i, err := range failed {
		if err != nil {
			faults = append(faults, fmt.Sprintf("node %s does not answer (%v)", m.opt.Initial[i].Name, err))
		}
	}
	if len(faults) > 0 {
		return nil, admin.Conflict(strings.Join(faults, "; ") + ": a ring forms with every node only, so start what does not run, and run this again")
	}
	return states, nil
}

// judgeReform says why the nodes should not begin again.
func (m *Membership) judgeReform(states []protocol.ReformState, acceptLoss bool) error {
	var voting, stuck []string
	formed := false
	for i, s := range states {
		name := m.opt.Initial[i].Name
		formed = formed || s.Voting || s.Lost
		if s.Voting {
			voting = append(voting, fmt.Sprintf("%s (%d keys, %d bytes)", name, s.Keys, s.Bytes))
		}
		if s.Refusal != "" {
			stuck = append(stuck, fmt.Sprintf("node %s: %s", name, s.Refusal))
		}
	}
	_, reason := m.node.State()
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

// askReform asks another node what it would give up.
func askReform(ctx context.Context, p Peer, ask []byte) (state protocol.ReformState, err error) {
	reply, err := p.Ask(ctx, protocol.MethodReform, ask)
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(reply, &state)
}

// tellReform tells another node to give up its ring.
func tellReform(ctx context.Context, p Peer, order protocol.ReformRequest) error {
	ctx, cancel := context.WithTimeout(ctx, reformTimeout)
	defer cancel()
	payload, err := json.Marshal(order)
	if err != nil {
		return err
	}
	_, err = p.Ask(ctx, protocol.MethodReform, payload)
	return err
}
