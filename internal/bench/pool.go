package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

// pool is all connections.
type pool struct {
	clients   []*client
	recorders []*recorder
	hungAfter time.Duration // how long nothing may be answered
}

// hungAfter is how long nothing may be answered on any connection. A server that is overloaded is not hung: large values on a machine that many share
// take seconds each.
const hungAfter = time.Minute

// dialers is how many connections are opened at the same time: a server's queue of those that wait is short.
const dialers = 64

// dial opens all connections.
func dial(ctx context.Context, opt *Options) (*pool, error) {
	p := &pool{clients: make([]*client, opt.Connections), hungAfter: hungAfter}
	for range min(recorders, opt.Connections) {
		p.recorders = append(p.recorders, &recorder{tally: newTally()})
	}
	if opt.Cluster {
		if err := opt.divide(ctx); err != nil {
			return nil, err
		}
	}
	values, fields := newValues(opt.ValueSize), newFields(opt.Fields, opt.FieldSize)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for first := range min(dialers, opt.Connections) {
		group.Go(func() {
			for i := first; i < opt.Connections && ctx.Err() == nil; i += dialers {
				conn, err := connect(ctx, opt, opt.Addresses[i%len(opt.Addresses)])
				if err != nil {
					cancel(err)
					return
				}
				p.clients[i] = newClient(conn, opt, i, values, &fields, p.recorders[i%len(p.recorders)])
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pool) close() {
	for _, c := range p.clients {
		if c != nil {
			_ = c.conn.Close()
		}
	}
}

// run does a phase and returns what was counted and how long it took. It ends early with an error if ctx is done (that one), if a connection
// fails, or if nothing at all is answered for too long; what was counted until then is returned as well.
func (p *pool) run(ctx context.Context, ph *phase, duration time.Duration, progress func(operations int64, elapsed time.Duration)) (*tally, time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cut := context.AfterFunc(ctx, func() { // whoever waits for an answer, waits no longer
		ph.stop.Store(true)
		for _, c := range p.clients {
			_ = c.conn.SetDeadline(time.Unix(1, 0))
		}
	})
	defer cut()
	began := time.Now()
	var group sync.WaitGroup
	for _, c := range p.clients {
		group.Go(func() {
			if err := c.work(ph); err != nil {
				cancel(lost(c.conn.RemoteAddr().String(), err))
			}
		})
	}
	over := make(chan struct{})
	go func() {
		group.Wait()
		close(over)
	}()
	p.watch(over, ph, duration, cancel, progress)
	elapsed := time.Since(began)
	sum := newTally()
	for _, r := range p.recorders {
		sum.merge(r.take())
	}
	return sum, elapsed, context.Cause(ctx)
}

// watchInterval is how often progress is shown.
const watchInterval = 200 * time.Millisecond

// watch ends the phase in time, shows how far it is, and waits until it is over.
func (p *pool) watch(over <-chan struct{}, ph *phase, duration time.Duration, cancel context.CancelCauseFunc, progress func(int64, time.Duration)) {
	began, seen, moved := time.Now(), int64(0), time.Now()
	if duration > 0 {
		timer := time.AfterFunc(duration, func() { ph.stop.Store(true) })
		defer timer.Stop()
	}
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		var operations int64
		for _, r := range p.recorders {
			operations += r.operations()
		}
		progress(operations, time.Since(began))
		if operations != seen {
			seen, moved = operations, time.Now()
		} else if time.Since(moved) > p.hungAfter {
			cancel(fmt.Errorf("the server hangs: nothing was answered for %s", p.hungAfter))
		}
	}
}

// lost says in one line how a connection ended.
func lost(address string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("%s closed a connection", address)
	}
	return fmt.Errorf("%s: %w", address, err)
}
