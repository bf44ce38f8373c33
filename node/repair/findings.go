package repair

import (
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/node/hint"
)

// divergence is what was found of a peer when all slots were compared last.
type divergence struct {
	slots int       // that differed
	since time.Time // when one differed first, zero while none does
	ended time.Time // when a pass came to its end
	err   error     // why the last one did not
	// complete is when the last pass began that found all there: the peer holds what had been written by then. What a pass has homes write is seen to be there by the next one.
	complete time.Time

	keys, bytes int64 // written again because of it, in all
}

// wrote counts what was written because of a peer, in total too unless progress is the total.
func (r *Repairer) wrote(p Peer, progress *Progress, keys, size, failed int64) {
	if progress != &r.total {
		r.total.Keys.Add(keys)
		r.total.Bytes.Add(size)
		r.total.Failed.Add(failed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.peers[p.ID()]
	d.keys, d.bytes = d.keys+keys, d.bytes+size
	r.peers[p.ID()] = d
}

// note keeps what a pass over everything has found of a peer.
func (r *Repairer) note(p Peer, slots int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, now := r.peers[p.ID()], time.Now()
	if err != nil && d.err == nil && p.Alive() {
		r.log.Warn("comparing with a peer was broken off; it is tried again", "peer", p.Name(), "err", err)
	}
	switch d.err = err; {
	case err != nil && slots == 0:
	case err != nil: // more may be behind them
		if d.slots = slots; d.since.IsZero() {
			d.since = now
		}
	case slots == 0:
		d.slots, d.since, d.ended = 0, time.Time{}, now
	default:
		if d.slots, d.ended = slots, now; d.since.IsZero() {
			d.since = now
		}
	}
	r.peers[p.ID()] = d
}

// complete keeps that a peer held everything of what was written before a moment, as far as this node has to compare it.
func (r *Repairer) complete(p Peer, before time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.peers[p.ID()]
	d.complete = before
	r.peers[p.ID()] = d
}

// Describe adds to a status what the comparisons have found.
func (r *Repairer) Describe(s *admin.NodeStatus) {
	s.RepairedKeys, s.RepairedBytes, s.RepairFailed = r.total.Keys.Load(), r.total.Bytes.Load(), r.total.Failed.Load()
	s.RepairPaused = r.opt.Rate < 0 || r.opt.Interval < 0
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.node.Peers() {
		d, known := r.peers[p.ID()]
		hinted := hintsOf(p)
		if !known && hinted.Keys+hinted.Marks == 0 {
			continue
		}
		found := admin.PeerRepair{Peer: p.Name(), SlotsDiffering: d.slots, DifferingSince: moment(d.since), LastPass: moment(d.ended), Keys: d.keys, Bytes: d.bytes,
			Hints: hinted.Keys, HintedSlots: hinted.Marks}
		switch {
		case !p.Alive():
			found.Error = p.Unreachable()
		case d.err != nil:
			found.Error = d.err.Error()
		}
		s.Repair = append(s.Repair, found)
	}
}

// hintsOf counts what was noted of what a peer missed.
func hintsOf(p Peer) hint.Counts {
	if hints := p.Hints(); hints != nil {
		return hints.Counts()
	}
	return hint.Counts{}
}

// moment is a time for a status, nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Round(0)
	return &t
}

// Measure adds to the metrics what the comparisons have found.
func (r *Repairer) Measure(s *metrics.NodeState) {
	s.RepairKeys, s.RepairBytes, s.RepairFailed = uint64(r.total.Keys.Load()), uint64(r.total.Bytes.Load()), uint64(r.total.Failed.Load())
	s.RepairListed = uint64(r.listed.Load())
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.node.Peers() {
		d := r.peers[p.ID()]
		s.Repair = append(s.Repair, metrics.PeerRepair{Peer: p.Name(), SlotsDiffering: d.slots, LastPass: d.ended, Complete: d.complete, Hints: hintsOf(p).Keys})
	}
}
