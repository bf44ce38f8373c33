//go:build small

package world

import (
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
)

// watch has all homes tell what they propose.
func (l *lineage) watch() {
	replica.Witness = func(m *register.Outgoing) {
		if m.Kind == register.Accept {
			l.proposed(keyName{m.Slot, string(m.Key)}, m.Version, origin{m.Base, m.Blind})
		}
	}
}
