package node

import (
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/metrics"
)

// divergence is what was found of a peer when all slots were compared last.
type divergence struct {
	slots int       // that differed
	since time.Time // when one differed first, zero while none does
	ended time.Time // when a pass came to its end
	err   error     // why the last one did not

	keys, bytes int64 // written again because of it, in all
}

// wrote counts what was written because of a peer, in total too unless progress is the total.
func (r *repairer) wrote(p *peer, progress *RepairProgress, keys, size, failed int64) {
	if progress != &r.total {
		r.total.Keys.Add(keys)
		r.total.Bytes.Add(size)
		r.total.Failed.Add(failed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.peers[p.id]
	d.keys, d.bytes = d.keys+keys, d.bytes+size
	r.peers[p.id] = d
}

// note keeps what a pass over everything has found of a peer.
func (r *repairer) note(p *peer, slots int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, now := r.peers[p.id], time.Now()
	if err != nil && d.err == nil && p.alive() {
		r.node.log.Warn("comparing with a peer was broken off; it is tried again", "peer", p.name, "err", err)
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
	r.peers[p.id] = d
}

// describe adds to a status what the comparisons have found.
func (r *repairer) describe(s *admin.NodeStatus) {
	s.RepairedKeys, s.RepairedBytes, s.RepairFailed = r.total.Keys.Load(), r.total.Bytes.Load(), r.total.Failed.Load()
	s.RepairPaused = r.node.opt.RepairRate < 0 || r.node.opt.RepairInterval < 0
	hints := r.node.Hints()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.node.peers {
		d, known := r.peers[p.id]
		hinted := hints[p.name]
		if !known && hinted.Keys+hinted.Marks == 0 {
			continue
		}
		found := admin.PeerRepair{Peer: p.name, SlotsDiffering: d.slots, DifferingSince: moment(d.since), LastPass: moment(d.ended), Keys: d.keys, Bytes: d.bytes,
			Hints: hinted.Keys, HintedSlots: hinted.Marks}
		switch {
		case !p.alive():
			found.Error = p.unreachable()
		case d.err != nil:
			found.Error = d.err.Error()
		}
		s.Repair = append(s.Repair, found)
	}
}

// moment is a time for a status, nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Round(0)
	return &t
}

// measure adds to the metrics what the comparisons have found.
func (r *repairer) measure(s *metrics.NodeState) {
	s.RepairKeys, s.RepairBytes, s.RepairFailed = uint64(r.total.Keys.Load()), uint64(r.total.Bytes.Load()), uint64(r.total.Failed.Load())
	s.RepairListed = uint64(r.listed.Load())
	hints := r.node.Hints()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.node.peers {
		d := r.peers[p.id]
		s.Repair = append(s.Repair, metrics.PeerRepair{Peer: p.name, SlotsDiffering: d.slots, LastPass: d.ended, Hints: hints[p.name].Keys})
	}
}
