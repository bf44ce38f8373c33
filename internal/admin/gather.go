package admin

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// Complete fills in what follows from the ring (nil before it has formed) and from
// what the nodes said of each other, warnings among it. Each node's SeenBy holds what it sees of the
// others when it comes in, and what the others see of it when it goes out.
func (s *Status) Complete(table *ring.Table) {
	sees := map[string]map[string]string{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		sees[n.Name], n.SeenBy = n.SeenBy, map[string]string{}
		if table != nil {
			n.HomeSlots, n.ReplicaSlots = table.HomeSlots(n.ID), table.ReplicaSlots(n.ID)
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for other, seen := range sees {
			if state := seen[n.Name]; state != "" {
				n.SeenBy[other] = state
			}
		}
	}
	if table != nil {
		s.survival(table)
	}
	s.Warnings = append(s.Warnings, s.warnMissed(time.Now())...)
	s.Warnings = append(s.Warnings, s.warnCertificates()...)
}

// Describe says what the ring says of its members, and how it changes. The nodes are already there.
func (s *Status) Describe(d change.Document) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if l, found := d.ByName(n.Name); found {
			n.Rack = l.Rack
			if l.State != change.Active {
				n.Ring = l.State.String()
			}
		}
	}
	if d.Plan == nil {
		return
	}
	moved, of := d.Arrived()
	s.Moves = fmt.Sprintf("Plan %s is under way: %d of %d slots have moved", d.Plan.ID, moved, of)
	if d.Plan.Aborting {
		s.Moves = fmt.Sprintf("Plan %s is being undone: %d of %d slots are where they were", d.Plan.ID, moved, of)
	}
	if d.Paused {
		s.Moves += ", and the ring is paused"
	}
}

// Ask asks one replica what it holds of a key.
type Ask func(ctx context.Context, member uint16) (ReplicaHolding, error)

// Locate asks every replica of the key's slot, and those that it moves to, at the same time.
func Locate(ctx context.Context, cluster ring.Cluster, table *ring.Table, key []byte, ask Ask) Location {
	slot := ring.SlotOf(key)
	members := table.Members(slot)
	location := Location{Slot: slot, Epoch: cluster.Epoch, Replicas: make([]ReplicaHolding, len(members))}
	var wait sync.WaitGroup
	for i, id := range members {
		wait.Go(func() {
			holding, err := ask(ctx, id)
			if err != nil {
				m, _ := cluster.Member(id)
				holding = ReplicaHolding{Node: m.Name, State: Unreachable, Error: err.Error()}
			}
			holding.Preferred = i == 0
			location.Replicas[i] = holding
		})
	}
	wait.Wait()
	for _, holding := range location.Replicas {
		if holding.Home {
			location.Home = holding.Node
		}
	}
	location.Survives = table.Spare(slot, func(id uint16) bool {
		h := location.Replicas[slices.Index(members, id)]
		return h.Error == "" && h.State == Voting
	})
	return location
}
