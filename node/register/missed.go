package register

// What a member misses while it is down is told to the caller, who brings the member up to date
// when it is back. That is liveness only: nothing that counts for a quorum rests on it.
// Members that are alive are left out: their acknowledgement is under way, nearly always.

// forget drops what the home knows of a key.
func (h *Home) forget(ks *keyState) {
	h.missed(ks)
	h.keys.remove(ks)
}

// missed tells which members have not acknowledged the head, if this term proposed it and the
// home does not expect to hear of them. A head that a clear left is the clear's business.
func (h *Home) missed(ks *keyState) {
	if !ks.known || ks.agreed || !ks.present || ks.head.Version.Ballot != h.ballot {
		return
	}
	for i, id := range h.config.members {
		if max(ks.held[i], h.clear.ackedBy(i)) < ks.head.Version.Seq && id != h.self && !h.env.Alive(id) {
			h.out.Missed = append(h.out.Missed, Missed{h.slot, id, h.out.keep(ks.key)})
		}
	}
}

// missedClear is missed for the newest clear of the term.
func (h *Home) missedClear() {
	for i, id := range h.config.members {
		if h.clear.ackedBy(i) < h.clear.version.Seq && id != h.self && !h.env.Alive(id) {
			h.out.Missed = append(h.out.Missed, Missed{h.slot, id, nil})
		}
	}
}

// missedAll is missed for all that is in flight when a term ends.
func (h *Home) missedAll() {
	for _, ks := range h.keys.all() {
		h.missed(ks)
	}
	if !h.clear.version.IsZero() && !h.clear.settled {
		h.missedClear()
	}
}
