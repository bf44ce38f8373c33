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
	"github.com/quolldb/quoll/ring"
)

// Options say what the node is.
type Options struct {
	Name        string
	ClusterName string
	// Initial is the initial cluster; Name is in it.
	Initial  ring.Initial
	Replicas int
	Rack     string
	Weight   int
	Version  string
	// Identity is what the node keeps over restarts, nil if nothing. Data is the directory that it keeps, for messages.
	Identity Identity
	Data     string
	// Forgotten are rings that were given up: the node does not learn them from others any more.
	Forgotten Forgotten
	// Reform is called once when the node has given up its ring, nil if it cannot.
	Reform func(Forgotten)
	Logger *slog.Logger
}

// Membership is a node's part in a ring.
type Membership struct {
	node   Node
	opt    Options
	log    *slog.Logger
	self   ring.Member
	ring   atomic.Pointer[ring.Cluster] // that the node votes in, nil until the cluster has formed
	lost   atomic.Pointer[superseded]   // the ring knows a former life of this node
	formed chan struct{}

	mu        sync.Mutex
	bound     uint64      // digest of the ring that was proposed last
	reforming atomic.Bool // it has given up its ring, and is about to be started anew,
	reformed  sync.Once   // which is asked for once
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
	m := &Membership{node: node, opt: opt, log: opt.Logger, formed: make(chan struct{})}
	self, ok := m.initial().ByName(opt.Name)
	if !ok {
		return nil, fmt.Errorf("node %s is not in the initial cluster %s", opt.Name, opt.Initial)
	}
	m.self = self
	m.self.Rack, m.self.Weight, m.self.Generation = opt.Rack, opt.Weight, rand.Uint64()|1
	return m, nil
}

// initial returns the initial cluster as a ring without generations.
func (m *Membership) initial() ring.Cluster {
	return m.opt.Initial.Cluster(m.opt.ClusterName, m.opt.Replicas)
}

// Self is what the node is in a ring.
func (m *Membership) Self() ring.Member { return m.self }

// SetGossip says where others reach the node's gossip, before they can ask.
func (m *Membership) SetGossip(address string) { m.self.Gossip = address }

// Formed is closed when the node has become part of a ring.
func (m *Membership) Formed() <-chan struct{} { return m.formed }

// decided reports whether the node is part of a ring, or will never be.
func (m *Membership) decided() bool { return m.ring.Load() != nil || m.lost.Load() != nil }

// State says whether the node is part of a ring and, if not, why.
func (m *Membership) State() (admin.State, string) {
	if lost := m.lost.Load(); lost != nil {
		return admin.LostState, lost.reason + "; it does not vote, for it has forgotten what it promised; " + m.wayOut()
	}
	if m.ring.Load() != nil {
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
