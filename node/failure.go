package node

import (
	"errors"
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

// broken notes that a part of the node has ended that it cannot do without, and tells whoever started it.
func (n *Node) broken(err error) {
	if n.end.CompareAndSwap(nil, &err) {
		n.log.Error("this node cannot go on", "err", err)
		if n.opt.Failed != nil {
			n.opt.Failed(err)
		}
	}
}

// servePeers serves the peer port until the node is closed.
func (n *Node) servePeers() {
	if err := n.server.Serve(n.opt.Listener); err != nil && !errors.Is(err, wire.ErrClosed) {
		n.broken(fmt.Errorf("node %s: no peer can connect any more, start this process again: %w", n.opt.Name, err))
	}
}

// opinions is what the other nodes said of --replicas.
type opinions struct {
	mu       sync.Mutex
	replicas map[string]int // by name
}

// compareReplicas compares --replicas with what another node of this cluster has. The ring that forms has one number. So
// a node that others outvote, or that comes to a ring that has formed, ends instead of waiting for ever.
func (n *Node) compareReplicas(h wire.Hello, props protocol.Properties) error {
	known, outvoted := n.outvoted(h.Name, props.Replicas)
	if props.Replicas == n.opt.Replicas {
		return nil
	}
	differ := fmt.Errorf("%w: --replicas is %d on %s but %d on %s", errDiffer, n.opt.Replicas, n.opt.Name, props.Replicas, h.Name)
	if !known || n.view.Load() != nil || n.superseded.Load() != nil {
		return differ
	}
	if props.Cluster != nil || outvoted {
		n.broken(&ConfigError{Field: "replicas", Reason: fmt.Sprintf("is %d here, but %d on node %s: give all nodes the same number; a cluster that has formed keeps its own",
			n.opt.Replicas, props.Replicas, h.Name)})
	}
	return differ
}

// outvoted notes what a node has, and reports whether it is known here; and, once all have said what they have, whether fewer have what
// this node has than anything else.
func (n *Node) outvoted(name string, replicas int) (known, outvoted bool) {
	if _, known = n.initial.Cluster(n.opt.ClusterName, n.opt.Replicas).ByName(name); !known {
		return false, false
	}
	o := &n.opinions
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.replicas == nil {
		o.replicas = map[string]int{n.opt.Name: n.opt.Replicas}
	}
	o.replicas[name] = replicas
	same := 0
	for _, r := range o.replicas {
		if r == n.opt.Replicas {
			same++
		}
	}
	others := len(o.replicas) - same
	return true, len(o.replicas) == len(n.initial) && others >= same
}
