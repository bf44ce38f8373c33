package replica

import "github.com/quolldb/quoll/node/register"

// Refusal says why no majority of a slot's replicas would answer to a request. Without one
// this node proposes nothing: what it sends could end as unknown, while another replica,
// which the proxy asks next, may well reach a majority. A replica without room answers to what a
// home asks that reads under its term. One that is crowded answers to everything, but is no good for what makes the data grow.
func (h *Host) Refusal(sl *Slot, reads, grows bool) register.Reason {
	if grows && h.Space.Crowded() {
		return register.StorageFull
	}
	members := sl.home.Config().Members()
	alive, roomy := 0, 0
	for _, id := range members {
		p := h.peers.Of(id)
		if p != nil && !p.Alive() { // nil: this node
			continue
		}
		alive++
		if p == nil || !p.Full() && !(grows && p.Crowded()) {
			roomy++
		}
	}
	switch {
	case alive <= len(members)/2:
		return register.NoQuorum
	case roomy <= len(members)/2 && !(reads && sl.home.Leading()):
		return register.StorageFull
	}
	return register.ReasonNone
}
