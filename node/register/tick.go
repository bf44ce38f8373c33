package register

// tick sends again what is unanswered, gives up what took too long, and acquires
// the term again after a pause.
func (h *Home) tick() {
	now := h.in.Mono
	h.dropExpired()
	switch {
	case h.failed != nil:
	case h.phase == acquiring:
		h.acquireAgain()
	case h.phase == idle:
		h.drive()
	case h.phase == leading:
		h.resend(now)
		if h.handing != 0 && now-h.handing > h.handingTime() {
			h.cancelHandBack()
		}
	}
}

// acquireAgain asks for another term if too few have promised this one in time, after a pause. Until then those that are late still
// count, unless a rival has come by: a replica may take longer than an acquisition, each time.
func (h *Home) acquireAgain() {
	pausing := h.notBefore > h.since
	if !pausing && h.overdue(h.since, h.timing.Acquire, h.promises|h.refused) {
		h.notBefore, pausing = h.in.Mono+h.backoff(), true
	}
	if pausing && (h.in.Mono >= h.notBefore || h.lostTerm()) {
		h.phase = idle
		h.drive()
	}
}

// overdue reports whether it is time to do again what was sent then, and only these have answered. A member that is
// behind has it, and would only have more to do; another one that is alive has not, or its answer was lost.
func (h *Home) overdue(sent, limit int64, answered set) bool {
	age := h.in.Mono - sent
	if age < limit || age >= h.timing.Patience {
		return age >= limit
	}
	if h.waitsForItself(answered) {
		return false
	}
	behind := false
	for i, id := range h.config.members {
		switch {
		case answered.has(i):
		case h.env.Behind(id, sent):
			behind = true
		case id != h.self && h.env.Alive(id): // what the own replica does is never lost
			return true
		}
	}
	return !behind
}

// waitsForItself reports whether the own replica is all that is missing for a quorum. What that does is slow, and never lost: who begins
// again with a disk that takes longer than the limit never comes to an end.
func (h *Home) waitsForItself(answered set) bool {
	own, with := h.config.index(h.self), answered&^h.refused
	with.add(own)
	return !answered.has(own) && h.config.quorum(with)
}

// resend repeats what a quorum has not answered, and forgets keys. If a member refused
// meanwhile, the term is given up instead: a rival may hold it, and the answer that
// would say so may be lost for ever, on a link that is cut in one direction.
func (h *Home) resend(now int64) {
	confirm := false
	for _, ks := range h.keys.snapshot() {
		if h.phase != leading {
			return
		}
		if h.droppable(ks) {
			h.settle(ks) // a tombstone that waited long enough is forgotten here
			continue
		}
		if now-ks.sent < h.timing.Resend || h.answeredAll(ks) { // a batch waits for another key
			continue
		}
		if h.refused != 0 {
			h.stepDown()
			return
		}
		if !h.overdue(ks.sent, h.timing.Resend, h.heard(ks)) {
			continue
		}
		ks.sent = now
		h.count(Resent)
		if ks.reading != nil {
			h.askFor(ks)
			continue
		}
		confirm = confirm || len(ks.waiting) > 0
		h.resendHead(ks)
	}
	c := h.clear
	if h.phase == leading && c.active() && now-c.sent >= h.timing.Resend && !c.version.IsZero() {
		if h.refused != 0 {
			h.stepDown()
			return
		}
		if h.overdue(c.sent, h.timing.Resend, c.heldBy(h.config, c.version.Seq)) {
			c.sent = now
			h.count(Resent)
			h.sendClear(c.version)
		}
	}
	if confirm && h.phase == leading {
		h.confirm()
	}
}

// heard returns the members that have answered all that is under way for a key.
func (h *Home) heard(ks *keyState) (s set) {
	if ks.reading != nil {
		return ks.reading.from
	}
	seq, round := uint64(0), uint64(0)
	if !ks.agreed && ks.head.Version.Ballot == h.ballot {
		seq = ks.head.Version.Seq
	}
	for _, w := range ks.waiting {
		round = max(round, w.needRound)
	}
	for i := range h.config.members {
		if h.acked(ks, i) >= seq && (round == 0 || i < len(h.answered) && h.answered[i] >= round) {
			s.add(i)
		}
	}
	return s
}

// acked returns the highest seq of this term that a member is known to hold of a key, as a write of it or a clear.
func (h *Home) acked(ks *keyState, i int) uint64 { return max(ks.held[i], h.clear.ackedBy(i)) }

// resendHead sends the head to the members that have not acknowledged it. They may just be slow: of a large one they are asked first, by a delta on
// the very version that it makes. Who has it acknowledges it, and nobody else can have its base (R7).
func (h *Home) resendHead(ks *keyState) {
	if ks.head.Version.Ballot != h.ballot {
		return
	}
	for i := range h.config.members {
		if h.phase == leading && h.acked(ks, i) < ks.head.Version.Seq {
			h.sendHead(ks, i, h.config.members[i] != h.self)
		}
	}
}

// large reports whether a head of so many bytes is sent again only to who says that it lacks it.
func (h *Home) large(bytes int) bool { return h.timing.Large > 0 && bytes >= h.timing.Large }

// dropExpired answers requests whose proxy has given up on them. A proposal stays
// in flight without them.
func (h *Home) dropExpired() {
	h.oldest = 0
	if h.reachesQuorum() {
		h.reached = h.in.Mono
	}
	for _, ks := range h.keys.snapshot() {
		doubt := len(ks.doubt)
		ks.doubt = h.sweep(ks.doubt)
		h.doubt -= doubt - len(ks.doubt)
		ks.queue = h.sweep(ks.queue)
		ks.waiting = h.sweepWaiting(ks.waiting)
		if h.phase == idle && len(ks.doubt)+len(ks.queue) == 0 {
			h.keys.remove(ks)
		}
	}
	if h.clear != &noClear {
		h.clear.queue = h.sweep(h.clear.queue)
		h.clear.waiting = h.sweepWaiting(h.clear.waiting)
	}
	h.sweepBatches()
	h.parked = h.sweep(h.parked)
}

func (h *Home) sweep(requests []*Request) []*Request {
	kept := requests[:0]
	for _, r := range requests {
		switch {
		case r.batch != nil: // see sweepBatches
			kept = append(kept, r)
		case h.expired(r):
			h.timeOut(r)
		default:
			h.waits(r)
			kept = append(kept, r)
		}
	}
	clear(requests[len(kept):])
	return kept
}

func (h *Home) sweepWaiting(waiting []waiter) []waiter {
	kept := waiting[:0]
	for _, w := range waiting {
		if !h.expired(w.request) {
			h.waits(w.request)
			kept = append(kept, w)
			continue
		}
		if w.needRound != 0 {
			h.reads--
		}
		h.timeOut(w.request)
	}
	clear(waiting[len(kept):])
	return kept
}

// waits keeps account of the oldest request.
func (h *Home) waits(r *Request) {
	if h.oldest == 0 || r.Born < h.oldest {
		h.oldest = r.Born
	}
}

func (h *Home) timeOut(r *Request) {
	h.answer(r, Answer{Outcome: r.undecided(), Reason: NoQuorum})
}
