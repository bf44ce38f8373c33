package replica

import "github.com/quolldb/quoll/node/register"

// Refusal says why no majority of a slot's replicas would answer to a request, or while it moves none of those that it moves to. Without one
// this node proposes nothing: what it sends could end as unknown, while another replica,
// which the proxy asks next, may well reach a majority. A replica without room answers to what a
// home asks that reads under its term. One that is crowded answers to everything, but is no good for what makes the data grow.
func (h *Host) Refusal(sl *Slot, reads, grows bool) register.Reason {
	if grows && h.Space.Crowded() {
		return h.crowded()
	}
	self, config := h.view.Load().Self, sl.home.Config()
	if !config.Quorum(func(id uint16) bool { return h.alive(id, self) }) {
		return register.NoQuorum
	}
	roomy := func(grows bool) func(id uint16) bool {
		return func(id uint16) bool {
			p := h.peers.Of(id)
			return id == self || p != nil && p.Alive() && !p.Full() && !(grows && p.Crowded())
		}
	}
	switch {
	case reads && sl.home.Leading() || config.Quorum(roomy(grows)):
		return register.ReasonNone
	case grows && config.Quorum(roomy(false)):
		return h.crowded()
	}
	return register.StorageFull
}

// Spared reports whether a slot's other members are a majority that has room for more data, so that what makes them grow is done without this one.
func (h *Host) Spared(sl *Slot) bool {
	self := h.view.Load().Self
	return sl.home.Config().Quorum(func(id uint16) bool {
		p := h.peers.Of(id)
		return id != self && p != nil && p.Alive() && !p.Crowded()
	})
}

// crowded is the reason why what makes the data grow is refused: nodes whose engine does not evict keep their data on disk.
func (h *Host) crowded() register.Reason {
	if h.evicting == nil {
		return register.StorageFull
	}
	return register.OutOfMemory
}

// alive reports whether a member answers: this node, which is self, does, and one that is no peer is gone for good.
func (h *Host) alive(id, self uint16) bool {
	p := h.peers.Of(id)
	return id == self || p != nil && p.Alive()
}
