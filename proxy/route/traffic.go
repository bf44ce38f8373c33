package route

import "sync/atomic"

// Traffic counts the bytes of links to nodes.
type Traffic struct{ sent, received atomic.Uint64 }

// Load returns how many bytes were sent to nodes and received from them. It does not block.
func (t *Traffic) Load() (sent, received uint64) { return t.sent.Load(), t.received.Load() }

// isIn notes the rack of the node, which may change.
func (l *nodeLink) isIn(rack string) { l.near.Store(rack != "" && rack == l.coordinator.cfg.Rack) }

// traffic is where the bytes of the link are counted.
func (l *nodeLink) traffic() *Traffic {
	if l.near.Load() {
		return &l.coordinator.stats.OwnRack
	}
	return &l.coordinator.stats.OtherRacks
}
