package route

import (
	"context"
	"fmt"
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
	if err := c.Loading(); err != nil {
		return err
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

// Status implements admin.Backend: it is what the first node that answers says, and
// which nodes this proxy itself cannot reach.
func (c *Coordinator) Status(ctx context.Context) (admin.Status, error) {
	view := c.ring.Load()
	if view == nil {
		return admin.Status{Cluster: c.cfg.ClusterName, Seen: c.cfg.Name,
			Warnings: []string{"this proxy has not reached any node yet"}}, nil
	}
	status := c.askStatus(ctx, view)
	status.Seen = c.cfg.Name
	for i, l := range view.nodes {
		if !l.up.Load() {
			status.Warnings = append(status.Warnings,
				fmt.Sprintf("this proxy does not reach node %s: %v", view.cluster.Members[i].Name, l.link.Err()))
		}
	}
	return status, nil
}

func (c *Coordinator) askStatus(ctx context.Context, view *ringView) admin.Status {
	for _, l := range view.nodes {
		if !l.up.Load() {
			continue
		}
		var status admin.Status
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := l.caller.CallJSON(ctx, protocol.MethodCluster, nil, &status)
		cancel()
		if err == nil {
			return status
		}
	}
	status := admin.Status{Cluster: c.cfg.ClusterName, Epoch: view.cluster.Epoch, Formed: true, Replicas: view.cluster.Replicas}
	for _, m := range view.cluster.Members {
		status.Nodes = append(status.Nodes, admin.NodeStatus{Name: m.Name, ID: m.ID, Peer: m.Peer, Rack: m.Rack,
			State: admin.Unreachable, Reason: "no node can be reached from this proxy"})
	}
	status.Complete(view.table)
	return status
}

// Locate implements admin.Backend: it asks every replica.
func (c *Coordinator) Locate(ctx context.Context, number int, key []byte) (admin.Location, error) {
	view := c.ring.Load()
	if view == nil {
		return admin.Location{}, ErrNotReady
	}
	key = c.Placements().ID(number).Key(key)
	return admin.Locate(ctx, view.cluster, view.table, key, func(ctx context.Context, id uint16) (admin.ReplicaHolding, error) {
		var h admin.ReplicaHolding
		err := view.node(id).caller.CallJSON(ctx, protocol.MethodLocate, key, &h)
		return h, err
	}), nil
}
