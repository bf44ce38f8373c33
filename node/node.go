package node

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/broker"
	"github.com/quolldb/quoll/node/collect"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/exec"
	"github.com/quolldb/quoll/node/membership"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/rebuild"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/repair"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/node/replicate"
	"github.com/quolldb/quoll/node/watch"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
	"github.com/quolldb/quoll/ring/gossip"
)

// Options say what a node is.
type Options struct {
	Name        string
	ClusterName string
	// Initial is the initial cluster, which has Name. A node without one waits for a ring that names it, and is reached at Peer.
	Initial ring.Initial
	Peer    string
	// Join are peer addresses of members of a ring that the node asks to join, where it has no Initial. AutoJoin: it plans that itself, and commits it.
	Join     []string
	AutoJoin bool
	Replicas int
	Rack     string
	Weight   int
	// Listener accepts peers; the node closes it. Its address as others reach it is in Initial.
	Listener net.Listener
	// Dial connects to a peer at its address in Initial, nil for TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Clients is where clients of a Redis Cluster reach what serves them in this process, a proxy of the package of that name; empty if nothing does. Proxies are told.
	Clients string
	// ReplicaClients is where they reach the port of that whose connections are READONLY from the start, empty if there is none.
	ReplicaClients string
	// GossipListen is where to gossip, host:port; GossipAdvertise where others reach
	// it, empty for the real address of GossipListen.
	GossipListen, GossipAdvertise string
	// GossipNetwork, if not nil, is what to gossip over: then GossipListen is not looked at.
	GossipNetwork *gossip.Network
	// Engine stores the records; the node closes it.
	Engine engine.Engine
	// EngineName and Fsync are what the status shows of the engine and of when it makes
	// writes durable: FsyncAlways, or how often.
	EngineName, Fsync string
	// Identity is what the node keeps over restarts, nil if nothing.
	Identity membership.Identity
	// Data is the directory that Identity keeps, for messages.
	Data string
	// OpenLog opens what keeps how this node votes on changes of the ring (package consensus), nil if nothing does: then a node without Identity keeps it in memory, and
	// one that has an Identity does not take part in deciding them, for it would forget its votes.
	OpenLog func() (consensus.Storage, error)
	// Forgotten are rings that were given up: the node does not learn them from others any more.
	Forgotten membership.Forgotten
	// Reform is called once, and must not block, when the node has been told to give up its ring: whoever started it closes it, and
	// starts another one in its place with an empty store and what it is given as Forgotten. nil: the node refuses.
	Reform func(membership.Forgotten)
	// Failed is told once, and must not block, that the node cannot go on: it is to be closed. That its store has failed is no such
	// reason, as long as it can say so. A *membership.ConfigError says which setting is wrong.
	Failed func(error)
	// Secret guards the peer and gossip ports, empty for none.
	Secret []byte
	// TLS encrypts the connections with other nodes and proxies; nil for none.
	TLS *wire.TLS
	// GossipKeys encrypt gossip: the first does, and each decrypts. None: GossipKey of Secret does, if there is one.
	GossipKeys [][]byte
	// Certificate says when the node's certificate expires, and whether it is to be replaced soon. nil: it has none.
	Certificate func() (expires time.Time, due bool)
	// OperationTimeout is what proxies use: one second. Requests that are older than
	// that are not executed any more.
	OperationTimeout time.Duration
	// SlowTimeout is what proxies use for operations that take longer because nodes are behind with their work:
	// five minutes.
	SlowTimeout time.Duration
	// ScriptTime is how long a script may run: five seconds.
	ScriptTime     time.Duration
	MaxConnections int
	// MaxPending bounds the bytes of the requests that the node works on: 256 MiB.
	MaxPending int64
	// MaxValue is the length in bytes that no command makes a value exceed: 64 MiB.
	MaxValue int
	// MaxCollection is the same for a hash, list, set or sorted set: MaxValue. A store with a journal takes no more than its journal does in one operation, 129 MiB.
	MaxCollection int
	// DataMemory is the most that clients can set as what the data of a node in memory may take; 0: any number. What a node begins with is its engine's limit.
	DataMemory int64
	// RepairInterval is the time between two comparisons of the replicas: 10 s; negative: they are
	// not compared, and what they miss is not noted.
	RepairInterval time.Duration
	// RepairRate bounds the bytes of keys and values that this node has written again in a
	// second: 25 MiB; negative: the background only compares.
	RepairRate int64
	// HintDir is the directory of what is noted of the other nodes, empty to note it in
	// memory only. HintLimit bounds the memory that it takes for each of them: 16 MiB; negative:
	// nothing is noted.
	HintDir   string
	HintLimit int64
	Version   string
	Logger    *slog.Logger

	manyRequests int                     // 0 for that of package exec
	stableAfter  time.Duration           // 0 for that of package peer
	deciding     func(*consensus.Config) // nil for what package consensus says
	// Random are the node's random numbers, nil for others each time. It must be safe to be used by several goroutines.
	Random *rand.Rand
	// SystemClock is the machine's clock in Unix milliseconds, which may be wrong: nil for the process' (package clock).
	SystemClock func() int64
	// Now is the wall clock in Unix milliseconds, nil for the process' (package clock).
	Now func() int64
}

func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.OperationTimeout == 0 {
		o.OperationTimeout = time.Second
	}
	if o.SlowTimeout == 0 {
		o.SlowTimeout = 5 * time.Minute
	}
	if o.RepairInterval == 0 {
		o.RepairInterval = 10 * time.Second
	}
	if o.RepairRate == 0 {
		o.RepairRate = repair.DefaultRate
	}
	if o.MaxValue == 0 {
		o.MaxValue = 64 << 20
	}
	if o.MaxPending == 0 {
		o.MaxPending = 256 << 20
	}
}

// FsyncAlways is Options.Fsync of a node that acknowledges nothing before it is durable.
const FsyncAlways = "always"

// settings are those that nodes compare.
func (o *Options) settings() protocol.Settings {
	s := protocol.Settings{MaxValue: o.MaxValue, MaxCollection: cmp.Or(o.MaxCollection, o.MaxValue)}
	switch {
	case o.Identity == nil:
	case o.Fsync == FsyncAlways:
		s.Keeps = protocol.OnDisk
	default:
		s.Keeps = protocol.OnDiskSoon
	}
	return s
}

// Node is a running node.
type Node struct {
	// Metrics counts what the node does.
	Metrics metrics.Node

	opt     Options
	log     *slog.Logger
	initial ring.Initial
	engine  engine.Engine
	started time.Time
	resumed bool // it was part of the ring before it was started

	peers  peer.Set
	server *wire.Server
	conns  conns // that server has accepted
	gossip *gossip.Gossip
	calls  atomic.Int64 // that are being answered

	// The rooms: what serves requests, and what stands beside it.
	replicas  *replica.Host
	exec      *exec.Executor
	watched   watch.Table // what proxies want to hear of
	replicate *replicate.Replicator
	broker    *broker.Broker
	members   *membership.Membership
	comer     *comer
	decisions *decisions
	repairs   *repair.Repairer
	rebuilds  *rebuild.Rebuilder
	collects  *collect.Collector

	returned   atomic.Bool // those who use it have found it again
	clock      clock.Common
	clockWrong atomic.Int64          // by so many nanoseconds
	limits     *limiter              // nil if the engine has no limit to its memory
	toldClock  int64                 // when it told its peers the time, in monotonic milliseconds; tick's
	toldSlow   int64                 // when it told those that it finds slow, in monotonic milliseconds; tick's
	toldExcess int64                 // the same of how many bytes it has beyond its limit
	toldFull   int64                 // when it told them that it is full, in monotonic milliseconds, 0 for never; tick's
	end        atomic.Pointer[error] // why it cannot go on
	work       work
	entering   sync.Mutex // while it becomes part of a ring, or learns of a peer whether it is

	backups  sync.Mutex                       // held while one is made
	hints    atomic.Pointer[map[uint16]noted] // by member ID; set before slots name the member
	watchers []func(change.Document)          // who is told of each version of the ring; set before the first one

	linking context.Context    // of the links to peers, nil until they begin to dial; n.entering is locked when it is set
	life    context.Context    // of what the node does by itself,
	rest    context.CancelFunc // which ends it
	cancel  context.CancelFunc // ends all else
	wait    sync.WaitGroup
}

// tickInterval is how often homes with something in flight look after it.
const tickInterval = 20 * time.Millisecond

// Start starts a node. It serves as soon as the cluster has formed, which needs
// every member of the initial cluster once; with an Identity that knows a ring it has formed
// already. Close stops it.
func Start(opt Options) (*Node, error) {
	opt.setDefaults()
	n := &Node{opt: opt, log: opt.Logger, initial: opt.Initial, engine: opt.Engine, started: time.Now()}
	n.rebuilds = newRebuilder(n)
	if e, ok := opt.Engine.(engine.Evicting); ok {
		n.limits = newLimiter(e, opt.DataMemory, opt.Logger)
	}
	n.clock.Start(n.mono(), n.system())
	n.broker = broker.New(&n.Metrics)
	n.replicas = newReplicas(n)
	n.exec = exec.New(n.replicas, &n.peers, exec.Options{OperationTimeout: opt.OperationTimeout, SlowTimeout: opt.SlowTimeout, ScriptTime: opt.ScriptTime, Awake: n.awake,
		MaxPending: opt.MaxPending, ManyRequests: opt.manyRequests, Clients: n.broker.Clients, Metrics: &n.Metrics, Logger: opt.Logger})
	n.collects = newCollector(n)
	n.replicate = replicate.New(n.replicas, &n.Metrics, n.log)
	cluster := n.initial.Cluster(opt.ClusterName, opt.Replicas)
	var err error
	n.comer = &comer{node: n}
	if n.members, err = newMembership(n); err != nil {
		return nil, err
	}
	n.decisions = newDecisions(n, n.members)
	n.watchers = append(n.watchers, n.collect, n.decisions.look)
	for _, m := range cluster.Members {
		if m.Name != opt.Name {
			n.peers.Add(n.newPeer(m, false))
		}
	}
	if n.resumed, err = n.members.Resume(); err != nil {
		return nil, err
	}
	if err := n.startGossip(); err != nil { // it asks for the peers from now on
		n.closeHints()
		return nil, err
	}
	n.server = wire.NewServer(wire.ServerConfig{Options: n.wireOptions(), Handler: n, Accept: n.accept, MaxConns: opt.MaxConnections,
		Working: n.working, Stuck: n.stuck})
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	n.life, n.rest = context.WithCancel(ctx)
	n.repairs = newRepairer(n)
	n.decisions.start(ctx)
	n.startPeers(ctx)
	n.wait.Go(n.servePeers)
	n.wait.Go(func() { n.members.Run(ctx) })
	n.wait.Go(func() { n.comer.run(n.life) })
	n.wait.Go(func() { n.keepAddress(n.life) })
	n.wait.Go(func() { every(ctx, tickInterval, n.tick) })
	n.wait.Go(func() { every(ctx, replica.SlowCommit, n.lookAtWork) })
	n.wait.Go(func() { every(ctx, storeInterval, n.lookAtStore) })
	n.wait.Go(func() { every(n.life, expireStep, newExpirer(n).step) })
	if e, ok := opt.Engine.(engine.Evicting); ok {
		n.wait.Go(func() { newEvictor(n, e).run(n.life) })
	}
	n.wait.Go(func() { every(n.life, dropStep, newDropper(n).step) })
	n.wait.Go(func() { n.rebuilds.Run(n.life) })
	n.wait.Go(func() { n.collects.Run(n.life) })
	if e, ok := opt.Engine.(damageReporter); ok {
		e.ReportDamage(n.replicas.Unreadable)
	}
	n.wait.Go(n.repairs.Run)
	return n, nil
}

// self is what the node is in a ring.
func (n *Node) self() ring.Member { return n.members.Self() }

// startPeers begins to dial all peers, and from now on those that come.
func (n *Node) startPeers(ctx context.Context) {
	n.entering.Lock()
	defer n.entering.Unlock()
	n.linking = ctx
	for _, p := range n.peers.All() {
		p.Start(ctx)
	}
}

// closePeers closes the links to all peers.
func (n *Node) closePeers() {
	for _, p := range n.peers.All() {
		p.Close()
	}
}

// timing says how long homes wait.
func (o *Options) timing() register.Timing {
	t := register.DefaultTiming()
	t.Request = o.OperationTimeout.Milliseconds() * 3 / 2
	t.Slow = o.SlowTimeout.Milliseconds()
	return t
}

// awake is for how long the process has not been stopped.
func (n *Node) awake() time.Duration { return n.server.Awake() }

// tick is done every tickInterval.
func (n *Node) tick() {
	n.lookForRoom()
	n.lookAtPace()
	n.lookAtClock()
	n.lookAtReturn()
	if n.replicas.Tick() {
		n.work.slow.Store(n.mono())
	}
}

// every calls do again and again, until ctx ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}

// Formed is closed when the node has become part of a ring.
func (n *Node) Formed() <-chan struct{} { return n.members.Formed() }

// Address returns where the node listens for peers.
func (n *Node) Address() string { return n.opt.Listener.Addr().String() }

// Close stops the node in order: what it does by itself, new work, what is under way, its part in deciding changes of the ring, gossip, links,
// store. It waits for everything the node started, for what is under way or queued at most until ctx ends.
func (n *Node) Close(ctx context.Context) error {
	n.repairs.Close()
	n.rest()
	n.leave(ctx)
	n.decisions.close() // the others decide without it
	n.server.Shutdown(ctx)
	n.cancel()
	n.closePeers()
	n.replicas.Close()
	n.exec.Close()
	n.wait.Wait()
	n.closePeers()   // one may have come meanwhile
	n.backups.Lock() // none begins any more
	defer n.backups.Unlock()
	if n.gossip != nil {
		if err := n.gossip.Close(); err != nil {
			n.log.Debug("closing gossip", "err", err)
		}
	}
	err := n.engine.Close() // the last commits may note something
	n.closeHints()
	return err
}

// now is the time that decides what has expired.
func (n *Node) now() int64 {
	if n.opt.Now != nil {
		return n.opt.Now()
	}
	return n.clock.Now(n.mono())
}

// system is this machine's clock.
func (n *Node) system() int64 {
	if n.opt.SystemClock != nil {
		return n.opt.SystemClock()
	}
	return clock.UnixMilli()
}

// mono is a monotonic clock in milliseconds, above zero.
func (n *Node) mono() int64 { return time.Since(n.started).Milliseconds() + 1 }
