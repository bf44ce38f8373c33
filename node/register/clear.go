package register

import "github.com/quolldb/quoll/internal/record"

// clearState is what a home knows of slot-wide clears in its current term. A
// clear writes a tombstone to every key of the slot, under one version.
type clearState struct {
	version record.Version // newest clear proposed in this term, zero if none
	acked   []uint64       // highest seq of a clear that each member holds
	queue   []*Request
	waiting []waiter
	sent    int64
	settled bool
}

// noClear is the state of the homes, nearly all, that have no clear in this term. It
// is not changed.
var noClear clearState

// clears returns the home's own state, to be changed.
func (h *Home) clears() *clearState {
	if h.clear == &noClear {
		h.clear = &clearState{acked: make([]uint64, len(h.config.members))}
	}
	return h.clear
}

// ackedBy returns the highest seq of a clear that a member holds.
func (c *clearState) ackedBy(i int) uint64 {
	if i < len(c.acked) {
		return c.acked[i]
	}
	return 0
}

func (c *clearState) active() bool {
	return len(c.queue)+len(c.waiting) > 0 || !c.version.IsZero() && !c.settled
}

// held reports whether a quorum holds a clear of seq or later.
func (c *clearState) held(config *Config, seq uint64) bool {
	return config.quorum(c.heldBy(config, seq))
}

// heldBy returns the members that hold a clear of seq or later.
func (c *clearState) heldBy(config *Config, seq uint64) (s set) {
	for i := range config.members {
		if c.ackedBy(i) >= seq {
			s.add(i)
		}
	}
	return s
}

// advanceClear proposes the clears that wait. Requests in doubt come first: their
// fate could not be told afterwards.
func (h *Home) advanceClear() {
	for h.phase == leading && len(h.clear.queue) > 0 && h.doubt == 0 && !h.batching() {
		r := h.clear.queue[0]
		h.clear.queue = h.clear.queue[1:]
		if h.in.Full {
			h.noRoom(r)
			continue
		}
		start := len(r.replies)
		r.replies, _, _ = h.env.Execute(r.replies, record.State{}, &r.cmd, h.in.Now) // on no state
		h.proposeClear(r, start)
	}
}

func (h *Home) proposeClear(r *Request, start int) {
	h.count(Cleared)
	h.seq++
	c := h.clears()
	c.version, c.settled, c.sent = record.Version{Ballot: h.ballot, Seq: h.seq}, false, h.in.Mono
	r.attempted(c.version, start, len(r.replies))
	c.waiting = append(c.waiting, waiter{request: r, start: start, end: len(r.replies), needSeq: h.seq})
	for _, ks := range h.keys.all() { // the clear is the newest write of every key
		ks.known, ks.agreed, ks.present, ks.reading, ks.exact = true, false, false, nil, 0
		ks.lend(record.Record{Version: c.version})
	}
	h.sendClear(c.version)
	for _, ks := range h.keys.snapshot() {
		if h.phase == leading {
			h.advance(ks)
		}
	}
}

func (h *Home) sendClear(version record.Version) {
	x := h.out.request(Clear)
	x.Version = version
	h.broadcast(x)
}

// settleClear answers the clears that a quorum holds.
func (h *Home) settleClear() {
	c := h.clear
	rest := c.waiting[:0]
	for _, w := range c.waiting {
		if c.held(h.config, w.needSeq) {
			h.finish(w)
		} else {
			rest = append(rest, w)
		}
	}
	c.waiting = rest
	settled := c.settled
	if c.settled = c.held(h.config, c.version.Seq); c.settled && !settled {
		h.missedClear()
	}
}
