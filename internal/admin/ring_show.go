package admin

import (
	"slices"
	"strings"
	"time"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// What operators see of a document. All of it is computed from a RingView.

// status is the ring as it is, and how far the plan is.
func (v RingView) status() RingStatus {
	d := v.Document
	s := RingStatus{Cluster: d.Cluster, Version: d.Version, Replicas: d.Replicas, Seen: v.Self, Staged: said(d.Staged), Paused: d.Paused, Rate: v.rate()}
	held, homes := map[uint16]int{}, map[uint16]int{}
	for _, a := range d.Slots {
		for _, id := range a.Replicas {
			held[id]++
		}
		homes[a.Replicas[0]]++
	}
	for _, l := range d.Members {
		s.Members = append(s.Members, RingMember{Name: l.Name, ID: l.ID, Peer: l.Peer, Rack: l.Rack, State: l.State.String(), Alive: v.alive(l.ID),
			Weight: l.Weight, Slots: held[l.ID], Homes: homes[l.ID]})
	}
	slices.SortStableFunc(s.Members, func(a, b RingMember) int { return strings.Compare(a.Name, b.Name) })
	if d.Plan != nil {
		s.Plan = v.progress()
	}
	return s
}

// rate is how many bytes a second each node copies.
func (v RingView) rate() int64 {
	if v.Document.Rate > 0 {
		return v.Document.Rate
	}
	return change.DefaultRate
}

func (v RingView) alive(id uint16) bool {
	l, found := v.Document.Member(id)
	return found && l.State != change.Lost && v.Alive(id)
}

func said(staged []change.Staged) []string {
	var all []string
	for _, s := range staged {
		all = append(all, SayChange(s))
	}
	return all
}

// name is a member's, and says if it is a former life of it.
func (v RingView) name(id uint16) string {
	l, _ := v.Document.Member(id)
	if l.State == change.Lost {
		return l.Name + " (lost)"
	}
	return l.Name
}

// progress says how far the plan under way is.
func (v RingView) progress() *RingProgress {
	d := v.Document
	p := &RingProgress{ID: d.Plan.ID, By: d.Plan.By, Since: at(d.Plan.At), Changes: said(d.Plan.Changes), Aborting: d.Plan.Aborting, LossAccepted: d.Plan.LossAccepted,
		Moving: len(d.Joint)}
	p.Moved, p.Slots = d.Arrived()
	left, size, alive := d.Left(), v.sizes(), map[uint16]bool{}
	for _, l := range d.Members {
		alive[l.ID] = v.alive(l.ID)
	}
	p.SecondsLeft = change.Seconds(d, left, size, v.rate())
	p.Stuck = lines(change.Check(d, left, func(id uint16) bool { return alive[id] }))
	p.Moves = v.moves(size)
	for _, m := range p.Moves {
		p.Bytes, p.BytesDone = p.Bytes+m.Bytes, p.BytesDone+m.BytesDone
	}
	return p
}

// sizes returns SlotBytes for who asks for the same slots several times: the node has to look into its store each time.
func (v RingView) sizes() func(slot uint16) int64 {
	known, bytes := make([]bool, ring.Slots), make([]int64, ring.Slots)
	return func(slot uint16) int64 {
		if !known[slot] {
			known[slot], bytes[slot] = true, v.SlotBytes(slot)
		}
		return bytes[slot]
	}
}

// moves sums up by who copies from whom: first what there is most of. In a plan that is turned back only slots that have moved, or
// still do, have anything to copy; which they were, of those that are back, nobody knows any more.
func (v RingView) moves(size func(slot uint16) int64) []RingMove {
	d := v.Document
	sources := change.SourcesOf(func(id uint16) bool { l, _ := d.Member(id); return l.State != change.Lost })
	joint := map[uint16]change.Progress{}
	for _, p := range d.Joint {
		joint[p.Slot] = p
	}
	between := map[change.Copy]*RingMove{}
	for _, m := range d.Plan.Moves {
		goal := m.To
		if d.Plan.Aborting {
			goal = m.From
		}
		arrived := d.Slots[m.Slot].Next == nil && slices.Equal(d.Slots[m.Slot].Replicas, goal)
		from := m.From
		if d.Plan.Aborting {
			if arrived {
				continue
			}
			from = d.Slots[m.Slot].Replicas
		}
		progress, moves := joint[m.Slot]
		for _, c := range sources(from, goal) {
			move, known := between[c]
			if !known {
				move = &RingMove{From: v.name(c.From), To: v.name(c.To)}
				between[c] = move
			}
			bytes := size(m.Slot)
			move.Slots, move.Bytes = move.Slots+1, move.Bytes+bytes
			switch {
			case arrived, moves && slices.Contains(progress.Done, c.To):
				move.Done, move.BytesDone = move.Done+1, move.BytesDone+bytes
			case moves:
				move.Moving++
			}
		}
	}
	return sorted(between)
}

func sorted(between map[change.Copy]*RingMove) []RingMove {
	var moves []RingMove
	for _, m := range between {
		moves = append(moves, *m)
	}
	slices.SortFunc(moves, func(a, b RingMove) int {
		if a.Slots != b.Slots {
			return b.Slots - a.Slots
		}
		return strings.Compare(a.From+" "+a.To, b.From+" "+b.To)
	})
	return moves
}

// plan says what the staged changes mean, and returns what commits them; nil if they can't be.
func (v RingView) plan() (RingPlan, *change.Commit) {
	d := v.Document
	p := RingPlan{Changes: said(d.Staged), Waiting: v.waiting()}
	if d.Plan != nil {
		p.UnderWay = d.Plan.ID
	}
	if len(d.Staged) == 0 {
		return p, nil
	}
	commit, err := change.Propose(d)
	var moves []change.Move
	if err == nil {
		moves, err = commit.Decode()
	}
	if err != nil {
		p.Problem = strings.Join(lines(err), "; ")
		return p, nil
	}
	p.ID, p.Preview = commit.ID, v.preview(moves)
	p.Loss = lines(change.Check(d, moves, v.alive))
	return p, commit
}

func (v RingView) preview(moves []change.Move) *RingPreview {
	of := change.NewPreview(v.Document, moves, v.SlotBytes, v.rate())
	p := &RingPreview{Slots: of.Slots, Homes: of.Homes, Copies: of.Copies, Bytes: of.Bytes, Rate: v.rate(), Seconds: of.Seconds,
		Before: RingSurvival{of.Before.Members, of.Before.Racks}, After: RingSurvival{of.After.Members, of.After.Racks}}
	for _, t := range of.Transfers {
		p.Moves = append(p.Moves, RingMove{From: v.name(t.From), To: v.name(t.To), Slots: t.Slots, Bytes: t.Bytes})
	}
	for _, s := range of.Shares {
		p.Nodes = append(p.Nodes, RingShare{v.name(s.ID), s.Before, s.After, s.HomesBefore, s.HomesAfter, s.BytesBefore, s.BytesAfter, s.BytesReceived, s.BytesSent})
	}
	return p
}

// waiting lists the nodes that wait to join without anything being staged for them.
func (v RingView) waiting() []string {
	var names []string
	for _, l := range v.Document.Members {
		if l.State == change.Waiting && !slices.ContainsFunc(v.Document.Staged, func(s change.Staged) bool {
			return s.Name == l.Name || s.Kind == change.ReplaceMember && s.By == l.Name
		}) {
			names = append(names, l.Name)
		}
	}
	return names
}

// history is what has been done, the latest last.
func (v RingView) history() []RingEvent {
	events := []RingEvent{}
	for _, e := range v.Document.History {
		events = append(events, RingEvent{e.Version, at(e.At), e.By, e.What})
	}
	return events
}

func at(milliseconds int64) time.Time { return time.UnixMilli(milliseconds).UTC() }

// lines takes apart what errors.Join has put together.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// gone are the members that a plan takes everything from, and that are not alive.
func (v RingView) gone() []uint16 {
	var gone []uint16
	for _, l := range v.Document.Members {
		if l.State == change.Leaving && !v.alive(l.ID) {
			gone = append(gone, l.ID)
		}
	}
	return gone
}
