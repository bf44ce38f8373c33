package repair

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

// jobs are the comparisons that somebody has asked for. A call has to be answered soon, so
// each only starts one, or tells how far it is.
type jobs struct {
	mu     sync.Mutex
	byID   map[uint64]*job
	closed bool
}

// job is one of them.
type job struct {
	progress Progress
	cancel   context.CancelCauseFunc
	idle     *time.Timer // cancels it
	ended    time.Time   // zero while it runs
	err      error
}

// close keeps any more from being started.
func (j *jobs) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
}

// AnswerRepair answers a MethodRepair call.
func (r *Repairer) AnswerRepair(payload []byte) ([]byte, error) {
	var request protocol.RepairRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, err
	}
	progress, err := r.poll(request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(progress)
}

// poll starts a comparison unless it was started already, and returns how far it is.
func (r *Repairer) poll(request protocol.RepairRequest) (protocol.RepairProgress, error) {
	if request.First > request.Last || request.Last >= ring.Slots {
		return protocol.RepairProgress{}, fmt.Errorf("node: there are no slots %d to %d", request.First, request.Last)
	}
	r.jobs.mu.Lock()
	defer r.jobs.mu.Unlock()
	r.jobs.forget(time.Now())
	job := r.jobs.byID[request.ID]
	switch {
	case job == nil && request.Cancel:
		return protocol.RepairProgress{Done: true}, nil
	case job == nil:
		var err error
		if job, err = r.start(request); err != nil {
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
func (j *jobs) forget(now time.Time) {
	for id, job := range j.byID {
		if !job.ended.IsZero() && now.Sub(job.ended) > jobKept {
			delete(j.byID, id)
		}
	}
}

// start starts one in a goroutine that Run waits for. The jobs are locked.
func (r *Repairer) start(request protocol.RepairRequest) (*job, error) {
	if r.jobs.closed {
		return nil, errClosing
	}
	open := 0
	for _, job := range r.jobs.byID {
		if job.ended.IsZero() {
			open++
		}
	}
	if open >= maxJobs {
		return nil, errJobs
	}
	ctx, cancel := context.WithCancelCause(r.life)
	job := &job{cancel: cancel, idle: time.AfterFunc(jobIdle, func() { cancel(errJobIdle) })}
	job.progress.Waiting.Store(true)
	r.jobs.byID[request.ID] = job
	r.wait.Go(func() {
		err := r.Repair(ctx, Request{First: request.First, Last: request.Last, Peer: request.Peer, DryRun: request.DryRun}, &job.progress)
		job.idle.Stop()
		cancel(nil)
		r.jobs.mu.Lock()
		defer r.jobs.mu.Unlock()
		job.ended, job.err = time.Now(), err
	})
	return job, nil
}

// snapshot is what is known of one at this moment. The jobs are locked.
func (j *job) snapshot() protocol.RepairProgress {
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
		var of *PeerError
		if !errors.As(err, &of) {
			return nil, err.Error()
		}
		peers[of.Peer] = of.Err.Error()
	}
	return peers, ""
}
