package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
)

// A Coordinator is the backend of its proxy's admin API.
var _ admin.Backend = (*Coordinator)(nil)

// Ready implements admin.Backend: the ring is known and every slot has a majority
// within reach.
func (c *Coordinator) Ready(context.Context) error {
	view := c.ring.Load()
	if view == nil {
		return ErrNotReady
	}
	missing := 0
	for _, l := range view.nodes {
		if l.silent() {
			missing++
		}
	}
	if missing >= view.cluster.Replicas-view.cluster.Replicas/2 {
		return ErrNoMajority
	}
	return nil
}

// Status implements admin.Backend: it asks every node.
func (c *Coordinator) Status(ctx context.Context) (admin.Status, error) {
	status := admin.Status{Cluster: c.cfg.ClusterName, Seen: c.cfg.Name}
	view := c.ring.Load()
	if view == nil {
		status.Warnings = []string{"this proxy has not reached any node yet"}
		return status, nil
	}
	status.Formed, status.Epoch, status.Replicas = true, view.cluster.Epoch, view.cluster.Replicas
	status.Nodes = make([]admin.NodeStatus, len(view.nodes))
	var wait sync.WaitGroup
	for i, l := range view.nodes {
		m := view.cluster.Members[i]
		wait.Go(func() {
			s := admin.NodeStatus{Name: m.Name, ID: m.ID, Peer: m.Peer, Rack: m.Rack}
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if err := l.caller.CallJSON(ctx, protocol.MethodStatus, nil, &s); err != nil {
				s.State, s.Reason = admin.Unreachable, err.Error()
				if cause := l.link.Err(); cause != nil {
					s.Reason = cause.Error()
				}
			}
			status.Nodes[i] = s
		})
	}
	wait.Wait()
	status.Complete(view.table)
	return status, nil
}

// Locate implements admin.Backend: it asks every replica.
func (c *Coordinator) Locate(ctx context.Context, key []byte) (admin.Location, error) {
	view := c.ring.Load()
	if view == nil {
		return admin.Location{}, ErrNotReady
	}
	return admin.Locate(ctx, view.cluster, view.table, key, func(ctx context.Context, id uint16) (admin.ReplicaHolding, error) {
		var h admin.ReplicaHolding
		err := view.node(id).caller.CallJSON(ctx, protocol.MethodLocate, key, &h)
		return h, err
	}), nil
}
