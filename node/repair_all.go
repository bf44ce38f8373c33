package node

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
)

// A Node can have replicas repaired through its admin API.
var _ admin.RepairSource = (*Node)(nil)

const (
	// repairPoll is how often nodes are asked how far they are.
	repairPoll = 250 * time.Millisecond
	// repairPatience is how long a node may not answer that is at it: links break and come back.
	repairPatience = 3 * time.Second
)

// RepairAll implements admin.RepairSource: it lets every node compare its replicas, itself too.
func (n *Node) RepairAll(ctx context.Context, request admin.RepairRequest, report func(admin.RepairProgress) error) error {
	if err := n.checkRepair(request); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(n.life, func() { cancel(errClosing) })()
	all := repairSum{nodes: map[string]protocol.RepairProgress{}}
	id := rand.Uint64()
	var wait sync.WaitGroup
	for _, m := range n.initial.Cluster(n.opt.ClusterName, n.opt.Replicas).Members {
		ask := protocol.RepairRequest{ID: id, First: request.First, Last: request.Last, Peer: request.Node, DryRun: request.DryRun}
		if m.Name == request.Node {
			ask.Peer = "" // of the slots that it leads it is the one to compare
		}
		all.set(m.Name, protocol.RepairProgress{})
		wait.Go(func() {
			all.set(m.Name, n.follow(ctx, n.peerOf(m.ID), ask, func(p protocol.RepairProgress) { all.set(m.Name, p) }))
		})
	}
	over := make(chan struct{})
	go func() { wait.Wait(); close(over) }()
	err := all.report(over, report)
	if err != nil {
		cancel(err) // nobody reads it
	}
	<-over
	if err == nil && ctx.Err() == nil {
		return report(all.sum(true))
	}
	return context.Cause(ctx)
}

// checkRepair refuses what cannot be begun.
func (n *Node) checkRepair(request admin.RepairRequest) error {
	cluster := n.initial.Cluster(n.opt.ClusterName, n.opt.Replicas)
	if _, known := cluster.ByName(request.Node); request.Node != "" && !known {
		var names []string
		for _, m := range cluster.Members {
			names = append(names, m.Name)
		}
		return admin.BadRequest(fmt.Sprintf("there is no node %q in the cluster, but %s", request.Node, strings.Join(names, ", ")))
	}
	if n.view.Load() == nil || n.failed.Load() {
		_, reason := n.state()
		return fmt.Errorf("node %s cannot repair replicas: it does not vote: %s", n.opt.Name, reason)
	}
	return nil
}

// follow lets a node compare, this one if p is nil, tells how far it is, and returns how that ended. When
// ctx ends, the node stops.
func (n *Node) follow(ctx context.Context, p *peer, request protocol.RepairRequest, tell func(protocol.RepairProgress)) protocol.RepairProgress {
	var last protocol.RepairProgress
	answered := time.Now()
	if p != nil && !p.connected() {
		answered = time.Time{}
	}
	for {
		progress, err := n.askRepair(ctx, p, request)
		switch {
		case ctx.Err() != nil:
		case err == nil && progress.Done:
			return progress
		case err == nil:
			last, answered = progress, time.Now()
			tell(progress)
		case time.Since(answered) >= repairPatience:
			last.Done, last.Waiting, last.Error = true, false, err.Error()
			return last
		}
		if !sleep(ctx, repairPoll) {
			request.Cancel = true
			_, _ = n.askRepair(context.WithoutCancel(ctx), p, request) // else it ends after jobIdle
			return last
		}
	}
}

func (n *Node) askRepair(ctx context.Context, p *peer, request protocol.RepairRequest) (progress protocol.RepairProgress, err error) {
	if p == nil {
		return n.pollRepair(request)
	}
	if !p.connected() {
		return progress, unreachableError(p.unreachable())
	}
	payload, err := json.Marshal(request)
	if err != nil {
		return progress, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err = p.caller.CallJSON(ctx, protocol.MethodRepair, payload, &progress)
	return progress, err
}

// unreachableError is why a node cannot be asked.
type unreachableError string

func (e unreachableError) Error() string { return "it cannot be reached: " + string(e) }

// repairSum adds up how far the nodes are.
type repairSum struct {
	mu    sync.Mutex
	nodes map[string]protocol.RepairProgress
}

func (s *repairSum) set(node string, progress protocol.RepairProgress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node] = progress
}

func (s *repairSum) sum(done bool) admin.RepairProgress {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := admin.RepairProgress{Done: done}
	for _, node := range slices.Sorted(maps.Keys(s.nodes)) {
		p := s.nodes[node]
		sum.Slots, sum.Total, sum.Differing, sum.Unreadable = sum.Slots+p.Slots, sum.Total+p.Total, sum.Differing+p.Differing, sum.Unreadable+p.Unreadable
		sum.Keys, sum.Bytes, sum.Failed = sum.Keys+p.Keys, sum.Bytes+p.Bytes, sum.Failed+p.Failed
		if p.Waiting {
			sum.Waiting = append(sum.Waiting, node)
		}
		if p.Error != "" {
			sum.Errors = append(sum.Errors, admin.RepairError{Node: node, Error: p.Error})
		}
		for _, peer := range slices.Sorted(maps.Keys(p.Peers)) {
			sum.Errors = append(sum.Errors, admin.RepairError{Node: node, Peer: peer, Error: p.Peers[peer]})
		}
	}
	return sum
}

// report reports the sum when it changed, at least once a second, until over.
func (s *repairSum) report(over <-chan struct{}, report func(admin.RepairProgress) error) error {
	ticker := time.NewTicker(repairPoll)
	defer ticker.Stop()
	var last admin.RepairProgress
	for silent := 0; ; silent++ {
		if now := s.sum(false); silent == 0 || !reflect.DeepEqual(now, last) || silent >= int(time.Second/repairPoll) {
			if err := report(now); err != nil {
				return err
			}
			last, silent = now, 0
		}
		select {
		case <-over:
			return nil
		case <-ticker.C:
		}
	}
}
