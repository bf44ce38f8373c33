//go:build small

package world

import (
	"github.com/quolldb/quoll/internal/lineage"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
)

// watch has all homes tell what they propose.
func (r *replicas) watch() {
	replica.Witness = func(m *register.Outgoing) {
		if m.Kind == register.Accept {
			r.proposed(lineage.Key{Slot: m.Slot, Key: string(m.Key)}, m.Version, lineage.Origin{Base: m.Base, Blind: m.Blind})
		}
	}
}
