package register

// Who leads a slot, and when a home leaves that to another one.

// betterHome returns the member that should execute a request instead of this one, 0 for none. Two homes
// that take a slot from each other, each with writes in flight, cost some of these their outcome (R11).
func (h *Home) betterHome(except uint16) uint16 {
	switch {
	case except == AllOthers || h.phase == acquiring:
		return 0
	case h.phase == leading:
		to := h.successor(except)
		if to == 0 || h.in.Mono < h.keepUntil {
			return 0
		}
		h.handing, h.handedTo = h.in.Mono, to
		if h.drained() {
			h.finishHandBack()
		}
		return to
	case h.doubt > 0:
		return 0
	}
	leader := h.leader(except, h.in.Mono)
	if leader == h.self || leader == except || h.config.index(leader) < 0 {
		leader = 0
	}
	if leader != 0 && !h.leaves(leader) {
		return leader // though it may not answer this process: it is up to the proxy to find that out
	}
	if leader != 0 || h.leaves(h.self) {
		return h.next(except)
	}
	return 0
}

// leaves reports whether a member begins nothing that another one can do: it is about to end, or slow, or will not hold the slot any more when that has moved.
// So what it has begun is over by then, and no write is caught in a home that is none any more.
func (h *Home) leaves(member uint16) bool {
	return h.config.Leaves(member) || h.env.Leaving(member)
}

// Leader returns the member that leads the slot as far as the home knows, 0 if it knows of none. now is Moment.Mono.
func (h *Home) Leader(now int64) uint16 {
	if h.phase != idle {
		return h.self
	}
	return h.leader(0, now)
}

// leader returns the member that leads the slot, as far as an idle home knows: 0 or itself if it
// knows of none.
func (h *Home) leader(except uint16, now int64) uint16 {
	if now < h.handedUntil {
		return h.handedTo
	}
	rival := h.local.rival()
	if rival.Incarnation == h.incarnation {
		return h.self
	}
	if rival.Member() == h.self || rival.IsZero() { // a former life led it: somebody may have stood in since
		return h.env.StandIn(h.slot, except)
	}
	return rival.Member()
}

// successor returns the member that a leading home hands its slot to, 0 for none: the preferred
// one if it is there to stay, or if this one leaves the next.
func (h *Home) successor(except uint16) uint16 {
	if h.leaves(h.self) {
		return h.next(except)
	}
	if preferred := h.config.Preferred(); preferred != h.self && preferred != except && h.env.Stable(preferred) && !h.leaves(preferred) {
		return preferred
	}
	return 0
}

// next returns the member that takes a slot over from one that leaves: the first that answers and stays, in an order
// that is the same for all, and in which those that are only to get the slot come last. 0 is this one, or nobody.
func (h *Home) next(except uint16) uint16 {
	for _, id := range h.config.members {
		switch {
		case id == except || h.leaves(id):
		case id == h.self:
			return 0
		case h.env.Alive(id):
			return id
		}
	}
	return 0
}

func (h *Home) turnAway(r *Request, hint uint16) {
	h.count(TurnedAway)
	h.answer(r, Answer{Outcome: NotDone, Reason: OtherHome, Hint: hint})
}

// drained reports whether nothing is in flight.
func (h *Home) drained() bool {
	if h.clear.active() || h.batching() {
		return false
	}
	for _, ks := range h.keys.all() {
		if !h.droppable(ks) {
			return false
		}
	}
	return true
}

// finishHandBack gives up the term in favour of the member that the slot is handed to.
func (h *Home) finishHandBack() {
	h.count(HandedBack)
	h.missedAll() // tombstones that waited for all members
	h.handing, h.handedUntil = 0, h.in.Mono+h.timing.Request
	h.phase = idle
	h.keys.reset()
	h.clear, h.batches, h.reads = &noClear, nil, 0
	parked := h.parked
	h.parked = nil
	for _, r := range parked {
		h.turnAway(r, h.handedTo)
	}
}

// handingTime is how long what is in flight may take until the slot is not handed over. A
// member that leaves insists.
func (h *Home) handingTime() int64 {
	if h.leaves(h.self) {
		return h.timing.Request / 2
	}
	return h.timing.HandBack
}

// cancelHandBack keeps the slot after all.
func (h *Home) cancelHandBack() {
	parked := h.parked
	h.handing, h.parked, h.keepUntil = 0, nil, h.in.Mono+10*h.timing.Request
	for _, r := range parked {
		h.enqueue(r)
	}
	h.drive()
}
