package repair

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
	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
)

// repairPoll is how often nodes are asked how far they are.
const repairPoll = 250 * time.Millisecond

// RepairAll lets every node compare its replicas, this one too, and reports how far they are, as admin.RepairSource says.
func (r *Repairer) RepairAll(ctx context.Context, request admin.RepairRequest, report func(admin.RepairProgress) error) error {
	if err := r.check(request); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.life, func() { cancel(errClosing) })()
	all := sum{nodes: map[string]protocol.RepairProgress{}}
	id := rand.Uint64()
	var wait sync.WaitGroup
	for _, p := range r.nodes() {
		name := r.nameOf(p)
		ask := protocol.RepairRequest{ID: id, First: request.First, Last: request.Last, Peer: request.Node, DryRun: request.DryRun}
		if name == request.Node {
			ask.Peer = "" // of the slots that it leads it is the one to compare
		}
		all.set(name, protocol.RepairProgress{})
		wait.Go(func() {
			all.set(name, r.follow(ctx, p, ask, func(progress protocol.RepairProgress) { all.set(name, progress) }))
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

// nodes returns all nodes of the cluster: the others, and nil for this one.
func (r *Repairer) nodes() []Peer { return slices.Concat(r.node.Peers(), []Peer{nil}) }

// nameOf returns the name of a peer, this node's for nil.
func (r *Repairer) nameOf(p Peer) string {
	if p == nil {
		return r.opt.Name
	}
	return p.Name()
}

// check refuses what cannot be begun.
func (r *Repairer) check(request admin.RepairRequest) error {
	var names []string
	for _, p := range r.nodes() {
		names = append(names, r.nameOf(p))
	}
	slices.Sort(names)
	if request.Node != "" && !slices.Contains(names, request.Node) {
		return admin.BadRequest(fmt.Sprintf("there is no node %q in the cluster, but %s", request.Node, strings.Join(names, ", ")))
	}
	if table, _ := r.node.Ring(); table == nil {
		return fmt.Errorf("node %s cannot repair replicas: it does not vote: %s", r.opt.Name, r.node.Reason())
	}
	return nil
}

// follow lets a node compare, this one if p is nil, tells how far it is, and returns how that ended. When
// ctx ends, the node stops.
func (r *Repairer) follow(ctx context.Context, p Peer, request protocol.RepairRequest, tell func(protocol.RepairProgress)) protocol.RepairProgress {
	var last protocol.RepairProgress
	answered := time.Now()
	if p != nil && !p.Connected() {
		answered = time.Time{}
	}
	for {
		progress, err := r.askJob(ctx, p, request)
		switch {
		case ctx.Err() != nil:
		case err == nil && progress.Done:
			return progress
		case err == nil:
			last, answered = progress, time.Now()
			tell(progress)
		case time.Since(answered) >= answerTimeout:
			last.Done, last.Waiting, last.Error = true, false, err.Error()
			return last
		}
		if !clock.Sleep(ctx, repairPoll) {
			request.Cancel = true
			_, _ = r.askJob(context.WithoutCancel(ctx), p, request) // else it ends after jobIdle
			return last
		}
	}
}

func (r *Repairer) askJob(ctx context.Context, p Peer, request protocol.RepairRequest) (progress protocol.RepairProgress, err error) {
	if p == nil {
		return r.poll(request)
	}
	if !p.Connected() {
		return progress, unreachableError(p.Unreachable())
	}
	payload, err := json.Marshal(request)
	if err != nil {
		return progress, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	reply, err := p.Ask(ctx, protocol.MethodRepair, payload)
	if err != nil {
		return progress, err
	}
	return progress, json.Unmarshal(reply, &progress)
}

// unreachableError is why a node cannot be asked.
type unreachableError string

func (e unreachableError) Error() string { return "it cannot be reached: " + string(e) }

// sum adds up how far the nodes are.
type sum struct {
	mu    sync.Mutex
	nodes map[string]protocol.RepairProgress
}

func (s *sum) set(node string, progress protocol.RepairProgress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node] = progress
}

func (s *sum) sum(done bool) admin.RepairProgress {
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
func (s *sum) report(over <-chan struct{}, report func(admin.RepairProgress) error) error {
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
