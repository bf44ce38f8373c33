package verify

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/timeline"
)

// Options say what to verify, and how.
type Options struct {
	// Addresses are host:port of proxies of one cluster, or of one server. Password is what they want, if anything.
	Addresses []string
	Password  string
	// Dial connects to them, as [net.Dialer.DialContext] does. Nil: by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Database is the number of the one to work in.
	Database int
	// For is how long clients work.
	For time.Duration
	// Clients work at the same time. Keys is the number of registers.
	Clients, Keys int
	// Transfers has the clients move amounts between accounts, by transactions and by commands of several keys.
	Transfers bool
	// Queues, if there are any, has the clients produce and consume instead: it is the number of queues of each kind. Keys and Transfers do not count then.
	Queues int
	// MayEvict: the servers may evict keys, so any may be gone at any moment. It goes neither with Transfers nor with Queues.
	MayEvict bool
	// Keep leaves the keys where they are.
	Keep bool
	// Progress, if there is one, is told how far it is, several times a second, by one goroutine.
	Progress func(Progress)
}

// Prefix is what the names of all keys begin with, followed by the run's number.
const Prefix = "quoll-verify:"

const (
	counters = 4
	// pause is how long a client waits after a failure.
	pause            = 50 * time.Millisecond
	progressInterval = 200 * time.Millisecond
	// readBackTime and removeTime bound what is done at the end.
	readBackTime        = 30 * time.Second
	readBackInterrupted = 10 * time.Second
	removeTime          = 10 * time.Second
)

// Run verifies a server or cluster until the time is over or ctx ends, reads everything back, and removes what it wrote. It blocks for that long, and
// some seconds more. The error says why it could not begin; whatever happens later is in the report.
func Run(ctx context.Context, opt Options) (Report, error) {
	s := newServers(opt)
	defer s.close()
	r := newRun(opt, s)
	for i, address := range opt.Addresses {
		if err := r.probe(ctx, i); err != nil {
			return Report{}, explain(address, err)
		}
	}
	return r.run(ctx), nil
}

// run is one run under way.
type run struct {
	opt    Options
	store  store
	prefix string
	began  time.Time
	phase  atomic.Value
	// patience is how long everything may take to be read back.
	patience time.Duration

	findings                     findings
	line                         *timeline.Timeline
	operations, refused, unknown atomic.Int64
	lastError                    atomic.Value

	pool   pool
	arena  *arena
	bank   *bank
	queues *queues // nil without any
}

func newRun(opt Options, s store) *run {
	var id [4]byte
	_, _ = rand.Read(id[:]) // does not fail
	r := &run{opt: opt, store: s, prefix: Prefix + hex.EncodeToString(id[:]) + ":", began: time.Now(), line: timeline.New(""), patience: readBackTime}
	r.phase.Store(working)
	if opt.Queues > 0 {
		r.queues = newQueues(r)
	} else {
		r.pool.evicts = opt.MayEvict
		r.pool.open(r.prefix, opt.Keys, counters)
	}
	r.arena = newArena(r)
	r.bank = newBank(r)
	return r
}

// probe finds out whether an address can be verified at all.
func (r *run) probe(ctx context.Context, address int) error {
	key := r.prefix + "probe"
	if r.queues != nil {
		return r.queues.probe(ctx, address, key)
	}
	for _, command := range [][]any{{"SET", key, "1", "EX", "60"}, {"HSET", key, "f", "1"}, {"RPUSH", key, "1"}, {"SADD", key, "1"}, {"ZADD", key, "1", "f"}} {
		for _, command := range [][]any{command, {"DEL", key}} {
			if _, err := r.store.do(ctx, address, command...); err != nil {
				return err
			}
		}
	}
	if !r.opt.Transfers {
		return nil
	}
	return r.bank.probe(ctx, address)
}

// id tells the run from others.
func (r *run) id() string { return r.prefix[len(Prefix) : len(r.prefix)-1] }

// run does all of it.
func (r *run) run(ctx context.Context) Report {
	stop := r.tell()
	defer stop()
	r.work(ctx)
	elapsed := time.Since(r.began)
	interrupted := ctx.Err() != nil
	patience := r.patience
	if interrupted {
		patience = min(patience, readBackInterrupted)
	}
	report := Report{Run: r.id(), Addresses: r.opt.Addresses, Clients: r.opt.Clients,
		Elapsed: elapsed, Interrupted: interrupted, Operations: r.operations.Load(), Refused: r.refused.Load(), Unknown: r.unknown.Load(),
		P50: r.line.Percentile(r.began, time.Now(), 0.5), P99: r.line.Percentile(r.began, time.Now(), 0.99)}
	report.Rate = float64(report.Operations) / max(elapsed.Seconds(), 1e-3)
	report.Unread = r.readBack(context.WithoutCancel(ctx), patience)
	report.Left = r.remove(context.WithoutCancel(ctx))
	report.Histories, report.Undecided = r.arena.checked, r.arena.undecided
	report.LastError, _ = r.lastError.Load().(string)
	r.bank.into(&report)
	r.queues.into(&report)
	r.findings.into(&report)
	return report
}

// work lets clients work until the time is over. Commands that are under way then are waited for.
func (r *run) work(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.opt.For)
	defer cancel()
	if r.queues != nil {
		r.queues.work(ctx)
	}
	var clients sync.WaitGroup
	for i := range r.opt.Clients {
		clients.Go(func() { newClient(r, i).work(ctx) })
	}
	clients.Wait()
	r.phase.Store(checking)
	r.arena.close()
	if r.queues != nil {
		r.queues.close()
	}
}

// tell reports progress until stop is called.
func (r *run) tell() (stop func()) {
	over := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(progressInterval):
				if r.opt.Progress != nil {
					r.opt.Progress(r.progress())
				}
			}
		}
	})
	return func() {
		close(over)
		wait.Wait()
	}
}

func (r *run) progress() Progress {
	return Progress{
		Phase: r.phase.Load().(string), Elapsed: time.Since(r.began), For: r.opt.For,
		Operations: r.operations.Load(), Refused: r.refused.Load(), Unknown: r.unknown.Load(),
		Violations: r.findings.total(),
	}
}

// do sends a command, and counts how it went.
func (r *run) do(ctx context.Context, address int, args ...any) (answer, error) {
	began := time.Now()
	reply, err := r.store.do(ctx, address, args...)
	r.count(began, address, !reads(args[0]), err)
	return reply, err
}

// count counts how a command went that began then and is over now. Changes says that it is not one that only reads.
func (r *run) count(began time.Time, address int, changes bool, err error) {
	now, outcome := time.Now(), timeline.OK
	switch {
	case errors.Is(err, errUnknown) && changes:
		outcome = timeline.Unknown
		r.unknown.Add(1)
	case err != nil && asReply(err) == "":
		outcome = timeline.Refused
		r.refused.Add(1)
	}
	if outcome != timeline.OK {
		r.lastError.Store(fmt.Sprintf("%s: %v", r.name(address), err))
	}
	r.operations.Add(1)
	r.line.Add(now, now.Sub(began), outcome)
}

func (r *run) name(address int) string {
	if address < len(r.opt.Addresses) {
		return r.opt.Addresses[address]
	}
	return fmt.Sprint("address ", address+1)
}

// rest waits for the pause, or until ctx ends.
func rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}
