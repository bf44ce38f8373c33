package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

const (
	// jobIdle ends a comparison that nobody asks about any more.
	jobIdle = 30 * time.Second
	// jobKept is how long it is known how one ended.
	jobKept = time.Minute
	// maxJobs bounds those that have not ended.
	maxJobs = 16
)

var (
	errJobIdle     = fmt.Errorf("nobody asked how far it is for %s", jobIdle)
	errJobCanceled = errors.New("canceled")
	errJobs        = errors.New("too many repairs are waiting on this node; try again later")
)

// repairJobs are the comparisons that somebody has asked for. A call has to be answered soon, so
// each only starts one, or tells how far it is.
type repairJobs struct {
	mu     sync.Mutex
	byID   map[uint64]*repairJob
	closed bool
}

// repairJob is one of them.
type repairJob struct {
	progress RepairProgress
	cancel   context.CancelCauseFunc
	idle     *time.Timer // cancels it
	ended    time.Time   // zero while it runs
	err      error
}

// close keeps any more from being started.
func (j *repairJobs) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
}

// answerRepair answers a MethodRepair call.
func (n *Node) answerRepair(payload []byte) ([]byte, error) {
	var request protocol.RepairRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, err
	}
	progress, err := n.pollRepair(request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(progress)
}

// pollRepair starts a comparison unless it was started already, and returns how far it is.
func (n *Node) pollRepair(request protocol.RepairRequest) (protocol.RepairProgress, error) {
	if request.First > request.Last || request.Last >= ring.Slots {
		return protocol.RepairProgress{}, fmt.Errorf("node: there are no slots %d to %d", request.First, request.Last)
	}
	jobs := &n.repairs.jobs
	jobs.mu.Lock()
	defer jobs.mu.Unlock()
	jobs.forget(time.Now())
	job := jobs.byID[request.ID]
	switch {
	case job == nil && request.Cancel:
		return protocol.RepairProgress{Done: true}, nil
	case job == nil:
		var err error
		if job, err = n.startRepair(request); err != nil {
			return protocol.RepairProgress{}, err
		}
	case request.Cancel:
		job.cancel(errJobCanceled)
	case job.ended.IsZero():
		job.idle.Reset(jobIdle)
	}
	return job.snapshot(), nil
}

// forget forgets those that ended long ago. The jobs are locked.
func (j *repairJobs) forget(now time.Time) {
	for id, job := range j.byID {
		if !job.ended.IsZero() && now.Sub(job.ended) > jobKept {
			delete(j.byID, id)
		}
	}
}

// startRepair starts one in a goroutine of the node. The jobs are locked.
func (n *Node) startRepair(request protocol.RepairRequest) (*repairJob, error) {
	jobs := &n.repairs.jobs
	if jobs.closed {
		return nil, errClosing
	}
	open := 0
	for _, job := range jobs.byID {
		if job.ended.IsZero() {
			open++
		}
	}
	if open >= maxJobs {
		return nil, errJobs
	}
	ctx, cancel := context.WithCancelCause(n.life)
	job := &repairJob{cancel: cancel, idle: time.AfterFunc(jobIdle, func() { cancel(errJobIdle) })}
	job.progress.Waiting.Store(true)
	jobs.byID[request.ID] = job
	n.wait.Go(func() {
		err := n.Repair(ctx, RepairRequest{First: request.First, Last: request.Last, Peer: request.Peer, DryRun: request.DryRun}, &job.progress)
		job.idle.Stop()
		cancel(nil)
		jobs.mu.Lock()
		defer jobs.mu.Unlock()
		job.ended, job.err = time.Now(), err
	})
	return job, nil
}

// snapshot is what is known of one at this moment. The jobs are locked.
func (j *repairJob) snapshot() protocol.RepairProgress {
	p := &j.progress
	s := protocol.RepairProgress{Slots: p.Slots.Load(), Total: p.Total.Load(), Differing: p.Differing.Load(), Unreadable: p.Unreadable.Load(),
		Keys: p.Keys.Load(), Bytes: p.Bytes.Load(), Failed: p.Failed.Load(), Waiting: p.Waiting.Load(), Done: !j.ended.IsZero()}
	s.Waiting = s.Waiting && !s.Done
	if j.err != nil {
		s.Peers, s.Error = byPeer(j.err)
	}
	return s
}

// byPeer takes an error of Repair apart: why which peers could not be compared, and what else
// happened.
func byPeer(err error) (peers map[string]string, other string) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, err.Error()
	}
	peers = map[string]string{}
	for _, err := range joined.Unwrap() {
		var of *RepairError
		if !errors.As(err, &of) {
			return nil, err.Error()
		}
		peers[of.Peer] = of.Err.Error()
	}
	return peers, ""
}
