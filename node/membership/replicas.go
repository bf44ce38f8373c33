package membership

import (
	"fmt"
	"sync"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// ConfigError is why a node cannot go on: it was started with a setting that the other nodes contradict.
type ConfigError struct {
	// Field is the setting's name, Reason what is wrong with it and what to do.
	Field, Reason string
}

func (e *ConfigError) Error() string { return e.Field + ": " + e.Reason }

// opinions is what the other nodes said of --replicas.
type opinions struct {
	mu       sync.Mutex
	replicas map[string]int // by name
}

// compareReplicas compares --replicas with what another node of this cluster has. The ring that forms has one number. So
// a node that others outvote, or that comes to a ring that has formed, ends instead of waiting for ever.
func (m *Membership) compareReplicas(h wire.Hello, props protocol.Properties) error {
	known, outvoted := m.outvoted(h.Name, props.Replicas)
	if props.Replicas == m.opt.Replicas || props.Replicas == 0 || m.changed() {
		return nil
	}
	differ := fmt.Errorf("%w: --replicas is %d on %s but %d on %s", errDiffer, m.opt.Replicas, m.opt.Name, props.Replicas, h.Name)
	if !known || m.decided() {
		return differ
	}
	if props.Ring.Formation != 0 || outvoted {
		m.node.Broken(&ConfigError{Field: "replicas", Reason: fmt.Sprintf("is %d here, but %d on node %s: give all nodes the same number; a cluster that has formed keeps its own",
			m.opt.Replicas, props.Replicas, h.Name)})
	}
	return differ
}

// outvoted notes what a node has, and reports whether it is known here; and, once all have said what they have, whether fewer have what
// this node has than anything else.
func (m *Membership) outvoted(name string, replicas int) (known, outvoted bool) {
	if _, known = m.initial().ByName(name); !known {
		return false, false
	}
	o := &m.opinions
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.replicas == nil {
		o.replicas = map[string]int{m.opt.Name: m.opt.Replicas}
	}
	o.replicas[name] = replicas
	same := 0
	for _, r := range o.replicas {
		if r == m.opt.Replicas {
			same++
		}
	}
	others := len(o.replicas) - same
	return true, len(o.replicas) == len(m.opt.Initial) && others >= same
}
