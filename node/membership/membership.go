package membership

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// Options say what the node is.
type Options struct {
	Name        string
	ClusterName string
	// Initial is the initial cluster, which has Name. Without one the node forms nothing, and waits for a document that names it; Peer is where others reach it.
	Initial  ring.Initial
	Peer     string
	Replicas int
	Rack     string
	Weight   int
	Version  string
	// Clients is where clients reach the node if it serves them itself, else empty.
	Clients string
	// ReplicaClients is where they reach its replica port, empty if it has none.
	ReplicaClients string
	// Settings are compared with those of nodes that join.
	Settings protocol.Settings
	// Identity is what the node keeps over restarts, nil if nothing. Data is the directory that it keeps, for messages.
	Identity Identity
	Data     string
	// Forgotten are rings that were given up: the node does not learn them from others any more.
	Forgotten Forgotten
	// Reform is called once when the node has given up its ring, nil if it cannot.
	Reform func(Forgotten)
	// Changed, if not nil, is told of each version of the ring that the node takes up, one after the other, when it is durable and in force here. It must not block.
	Changed func(change.Document)
	Logger  *slog.Logger
}

// Membership is a node's part in a ring.
type Membership struct {
	node   Node
	opt    Options
	log    *slog.Logger
	start  uint64 // tells this process from every other one of its identity
	self   atomic.Pointer[ring.Member]
	known  atomic.Pointer[known]      // what the node knows of the ring, nil before there is one
	lost   atomic.Pointer[superseded] // it does not vote in that ring, for this reason
	formed chan struct{}

	offered chan struct{}         // a document waits to be taken up:
	offer   atomic.Pointer[offer] // the latest one
	heard   heard                 // of later versions than known
	former  atomic.Uint64         // the generation of whom it was warned of last that is no member any more

	mu        sync.Mutex
	moved     []relocation // where the machines of the initial cluster are now
	bound     uint64       // digest of the ring that was proposed last
	reforming atomic.Bool  // it has given up its ring, and is about to be started anew,
	reformed  sync.Once    // which is asked for once
	opinions  opinions
}

// Errors of formation; they travel to the other side as text.
var (
	errFormed    = errors.New("node: part of a cluster that has formed already")
	errNotBound  = errors.New("node: this is not the ring that was proposed last")
	errNotMyself = errors.New("node: the proposed ring names another generation of this node")
	errDiffer    = errors.New("the configurations differ")

	errStoreFailed = errors.New("node: the store failed")
)

// New returns the Membership of a node that is in no ring yet. Resume lets it take up the one that it knows, Run forms one.
func New(node Node, opt Options) (*Membership, error) {
	m := &Membership{node: node, opt: opt, log: opt.Logger, start: rand.Uint64() | 1, formed: make(chan struct{}), offered: make(chan struct{}, 1), heard: newHeard()}
	self, ok := m.initial().ByName(opt.Name)
	if !ok && (len(opt.Initial) > 0 || opt.Peer == "") {
		return nil, fmt.Errorf("node %s is not in the initial cluster %s", opt.Name, opt.Initial)
	}
	if !ok {
		self = ring.Member{Name: opt.Name, Peer: opt.Peer}
	}
	self.Rack, self.Weight, self.Generation = opt.Rack, opt.Weight, rand.Uint64()|1
	m.self.Store(&self)
	return m, nil
}

// initial returns the initial cluster as a ring without generations.
func (m *Membership) initial() ring.Cluster {
	return m.opt.Initial.Cluster(m.opt.ClusterName, m.opt.Replicas)
}

// Self is what the node is in a ring. Its ID is that of the initial cluster, 0 if it is not in it, until a ring knows the node.
func (m *Membership) Self() ring.Member { return *m.self.Load() }

// describe changes what the node is in a ring.
func (m *Membership) describe(change func(self *ring.Member)) {
	self := m.Self()
	change(&self)
	m.self.Store(&self)
}

// SetGossip says where others reach the node's gossip, before they can ask.
func (m *Membership) SetGossip(address string) {
	m.describe(func(self *ring.Member) { self.Gossip = address })
}

// Formed is closed when the node has become part of a ring.
func (m *Membership) Formed() <-chan struct{} { return m.formed }

// decided reports whether the node knows a ring. It forms none then.
func (m *Membership) decided() bool { return m.known.Load() != nil }

// State says whether the node is part of a ring and, if not, why.
func (m *Membership) State() (admin.State, string) {
	k := m.known.Load()
	if lost := m.lost.Load(); lost != nil {
		return admin.LostState, lost.reason + "; " + lost.advice
	}
	if k != nil {
		if _, member := protocol.Life(k.document, m.self.Load()); !member {
			return admin.Left, "it has left the ring, and holds nothing any more: stop it, or start it with --join and without its data"
		}
		return admin.Voting, ""
	}
	var missing []string
	for _, p := range m.node.Peers() {
		if !p.Up() {
			missing = append(missing, fmt.Sprintf("%s at %s (%s)", p.Name(), p.Address(), p.Unreachable()))
		}
	}
	if len(missing) == 0 {
		return admin.Forming, "the nodes are agreeing on the ring"
	}
	return admin.Forming, "waits for " + strings.Join(missing, ", ")
}
