package world

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/node"
)

const (
	peerPort   = 7000
	clientPort = 6379
	gossipPort = 7946
)

// machine is a host with a node, and what is kept there while the node does not run. The schedule has it: one goroutine.
type machine struct {
	world  *World
	name   string
	host   *host
	store  store
	node   *node.Node // nil while it does not run
	lives  int
	stores int
	joins  bool // it comes to a ring that has formed
	// retired: it has left the ring, and does not come back.
	retired bool
	lost    []store      // what it had before it lost its state
	ahead   atomic.Int64 // by so many milliseconds its clock is wrong
}

// start starts the node, if it does not run.
func (m *machine) start() error {
	if m.node != nil || m.retired {
		return nil
	}
	m.host.revive()
	w := m.world
	listener, err := m.host.listen(peerPort)
	if err != nil {
		return err
	}
	opt := node.Options{Name: m.name, ClusterName: clusterName, Initial: w.initial, Replicas: 3, Weight: 1, Listener: listener, Dial: m.host.Dial,
		RepairInterval: 3 * time.Second, SystemClock: m.clock, Random: sharedRandom(w.cfg.Seed, m.name, fmt.Sprint(m.lives)), Version: "world", Logger: w.log.With("node", m.name)}
	if m.joins {
		opt.Initial, opt.Join, opt.Peer = nil, w.addresses(), m.host.at(peerPort)
	}
	if err := m.store.open(&opt); err != nil {
		m.host.close()
		return fmt.Errorf("node %s: %w", m.name, err)
	}
	if w.cfg.Gossip {
		if opt.GossipNetwork, err = m.host.gossipNetwork(m.lives); err != nil {
			m.host.close()
			return fmt.Errorf("node %s: %w", m.name, errors.Join(err, opt.Engine.Close()))
		}
	}
	n, err := node.Start(opt)
	if err != nil {
		m.host.close()
		return fmt.Errorf("node %s: %w", m.name, errors.Join(err, opt.Engine.Close()))
	}
	m.node = n
	m.lives++
	w.note("node %s runs, life %d", m.name, m.lives)
	return nil
}

// left reports whether the node was a member, and has left the ring.
func (m *machine) left() bool {
	doc := m.store.ring()
	if doc == nil {
		return false
	}
	_, named := doc.LifeOf(m.name, m.store.Generation())
	return !named
}

// ready reports whether the node says so.
func (m *machine) ready() bool { return m.node != nil && m.node.Ready(context.Background()) == nil }

// emptyStore returns what a node has that has never run, or has lost everything.
func (m *machine) emptyStore() store {
	m.stores++
	generation := randomOf(m.world.cfg.Seed, "generation", m.name, fmt.Sprint(m.stores)).Uint64() | 1
	return newStore(m.world.cfg.Engine, generation, m.world.replicas.holder(generation))
}

// clock is the machine's.
func (m *machine) clock() int64 { return time.Now().UnixMilli() + m.ahead.Load() }

// stop ends the node in order, if it runs.
func (m *machine) stop() error {
	if m.node == nil {
		return nil
	}
	m.world.note("node %s is stopped", m.name)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := m.node.Close(ctx)
	m.node = nil
	m.host.die(killed)
	if err != nil {
		return fmt.Errorf("node %s: %w", m.name, err)
	}
	return nil
}

// crash ends the node in the middle of whatever it does: how says what the others see of that.
func (m *machine) crash(how hostState) {
	if m.node == nil {
		return
	}
	m.world.note("node %s is %s", m.name, map[hostState]string{killed: "killed", silent: "without power"}[how])
	m.host.die(how)
	m.store.crash(how)
	m.bury()
}

// bury waits for the goroutines of a node that has crashed: whatever they do reaches nobody.
func (m *machine) bury() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.node.Close(ctx); err != nil {
		m.world.log.Debug("closing a node that has crashed", "err", err)
	}
	m.node = nil
}

// logger is that of a process.
func (w *World) logger(name string) *slog.Logger { return w.log.With("process", name) }
