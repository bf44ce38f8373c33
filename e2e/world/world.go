package world

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/history"
	"github.com/quolldb/quoll/ring"
)

// Config says what a world is made of. What is zero follows from the seed.
type Config struct {
	Seed     uint64
	Schedule string // of Schedules
	// Engine is memory, disk or pebble, if the schedule can have that: see enginesFor.
	Engine string
	// Gossip says that nodes gossip. They do in every fourth world.
	Gossip bool
	Plan
	// Log gets what the product logs, nil for nobody.
	Log slog.Handler
}

const clusterName = "world"

// The clients of a world meet every so often.
const (
	leastTempo = 150 * time.Millisecond
	mostTempo  = 600 * time.Millisecond
)

// patience is how long what must happen may take once all faults have ended.
const patience = 2 * time.Minute

// World is a cluster with its clients.
type World struct {
	cfg      Config
	random   *rand.Rand // of the fault, or of what the schedule does before all
	fault    int        // the number of the last one
	net      *network
	initial  ring.Initial
	machines []*machine
	proxies  []*proxyHost
	clients  []*client
	recorder *history.Recorder
	keys     *history.Keys
	log      *slog.Logger
	trace    trace
	replicas *replicas
	began    time.Time
	tempo    time.Duration // from one bout of the clients to the next
	stopped  atomic.Bool   // clients begin nothing more
	working  sync.WaitGroup
	stats    Stats
	failures []error // of the schedule
	// losing is who has lost its state last, and losingLife the life in which it came back.
	losing     *machine
	losingLife int
}

// build makes a world in which nothing runs.
func build(cfg Config) *World {
	cfg = cfg.complete()
	if cfg.Log == nil {
		cfg.Log = slog.DiscardHandler
	}
	w := &World{cfg: cfg, random: randomOf(cfg.Seed, "schedule", cfg.Schedule), net: newNetwork(cfg.Seed), recorder: history.NewRecorder(),
		keys: history.NewKeys("k"), log: slog.New(cfg.Log), replicas: newReplicas(), began: time.Now(), tempo: cfg.tempo()}
	for i := range cfg.Nodes {
		m := w.newMachine(string(rune('a' + i)))
		w.initial = append(w.initial, ring.InitialMember{Name: m.name, Peer: m.host.at(peerPort)})
	}
	for i := range cfg.Proxies {
		name := fmt.Sprint("proxy", i+1)
		w.proxies = append(w.proxies, &proxyHost{world: w, name: name, host: w.net.host(name)})
	}
	for _, i := range cfg.Clients {
		name := fmt.Sprint("client", i)
		w.clients = append(w.clients, &client{world: w, name: name, host: w.net.host(name), random: randomOf(cfg.Seed, name), recorded: w.recorder.Client()})
	}
	return w
}

// newMachine adds a machine whose node has never run.
func (w *World) newMachine(name string) *machine {
	m := &machine{world: w, name: name, host: w.net.host(name)}
	m.store = m.emptyStore()
	w.machines = append(w.machines, m)
	return m
}

// tempo is the time from one bout of the clients to the next.
func (cfg Config) tempo() time.Duration {
	return leastTempo + time.Duration(randomOf(cfg.Seed, "tempo").Int64N(int64(mostTempo-leastTempo)))
}

// Live is the whole life of a world. It is called in a bubble of testing/synctest, and Check outside of it. The error says what is wrong
// even without looking at the histories. The world is never nil.
func Live(cfg Config) (*World, error) {
	w := build(cfg)
	err := w.live()
	if err != nil {
		w.note("%v", err)
		w.abandon()
	}
	return w, errors.Join(err, w.replicas.wrong())
}

// Check judges the histories of a world that has lived, with so much time for each key.
func (w *World) Check(perKey time.Duration) history.Result { return w.recorder.Check(perKey) }

// Trace is what happened, one event a line, with the times since the world began.
func (w *World) Trace() string { return w.trace.String() }

// String says how the world was.
func (w *World) String() string {
	s := &w.stats
	return fmt.Sprintf("trace %016x; %v simulated, replicas equal after %v; %d operations: %d answered, %d refused, %d of unknown outcome",
		w.trace.hash(), s.Simulated, s.Converged, s.Operations.Load(), s.Answered.Load(), s.Refused.Load(), s.Unknown.Load())
}

// live goes from the first node's start to the last one's end.
func (w *World) live() error {
	if schedules[w.cfg.Schedule] == nil {
		return fmt.Errorf("there is no schedule %q; there are %v", w.cfg.Schedule, Schedules())
	}
	w.replicas.watch()
	if err := w.start(); err != nil {
		return err
	}
	for _, c := range w.clients {
		w.working.Go(c.work)
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.cfg.For)
	schedules[w.cfg.Schedule](ctx, w)
	<-ctx.Done()
	cancel()
	if err := errors.Join(append(w.failures, w.settle())...); err != nil {
		return err
	}
	if err := w.atRest(); err != nil {
		return err
	}
	if err := w.converge(); err != nil {
		return err
	}
	if w.cfg.Gossip {
		if err := w.acquainted(); err != nil {
			return err
		}
	}
	w.readAll()
	if bugs := w.stats.Bugs.Load(); bugs > 0 {
		return fmt.Errorf("%d commands ended with an internal error of a proxy", bugs)
	}
	return w.end()
}

// start starts all machines, and waits until they have formed a cluster.
func (w *World) start() error {
	for _, m := range w.machines {
		if err := m.start(); err != nil {
			return err
		}
	}
	for _, p := range w.proxies {
		if err := p.start(); err != nil {
			return err
		}
	}
	for _, m := range w.machines {
		select {
		case <-m.node.Formed():
		case <-time.After(patience):
			return fmt.Errorf("node %s has not formed: %w", m.name, m.node.Ready(context.Background()))
		}
	}
	return nil
}

// settle ends all faults, starts what does not run, and lets the clients finish.
func (w *World) settle() error {
	w.note("all faults end")
	w.net.heal()
	for _, m := range w.machines {
		m.store.disk().heal()
		if err := m.start(); err != nil {
			return err
		}
	}
	for _, p := range w.proxies {
		if err := p.start(); err != nil {
			return err
		}
	}
	w.stopped.Store(true)
	w.working.Wait()
	return nil
}

// end closes everything in order: nothing may be left.
func (w *World) end() error {
	var errs []error
	for _, c := range w.clients {
		c.hangUp()
	}
	for _, p := range w.proxies {
		errs = append(errs, p.stop())
	}
	for _, m := range w.machines {
		errs = append(errs, m.stop())
	}
	for _, m := range w.machines {
		for _, s := range append(m.lost, m.store) {
			errs = append(errs, s.end())
		}
	}
	if n := w.net.left(); n > 0 {
		errs = append(errs, fmt.Errorf("%d ends of connections were not closed", n))
	}
	w.stats.Simulated = time.Since(w.began)
	w.afterwards()
	return errors.Join(errs...)
}

// abandon ends whatever runs in a world that has failed: synctest wants no goroutine to be left.
func (w *World) abandon() {
	w.net.heal()
	w.stopped.Store(true)
	w.working.Wait()
	for _, c := range w.clients {
		c.hangUp()
	}
	for _, p := range w.proxies {
		p.crash()
	}
	for _, m := range w.machines {
		m.crash(killed)
	}
	w.afterwards()
}

// afterwards waits for what memberlist leaves behind when it ends: a probe, which waits for its answer. When a bubble's first goroutine has ended its time stands still.
func (w *World) afterwards() {
	if w.cfg.Gossip {
		time.Sleep(patience)
	}
}

// note adds an event to the trace, and to the history.
func (w *World) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.stats.Events.Add(1)
	w.trace.add(time.Since(w.began), text)
	w.recorder.Note(text)
}

// addresses are where the nodes of all machines listen.
func (w *World) addresses() (all []string) {
	for _, m := range w.machines {
		if !m.retired {
			all = append(all, m.host.at(peerPort))
		}
	}
	return all
}

// up are the machines that run.
func (w *World) up() []*machine {
	return slices.DeleteFunc(slices.Clone(w.machines), func(m *machine) bool { return m.node == nil })
}
