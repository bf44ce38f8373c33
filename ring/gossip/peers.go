package gossip

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// State is what this process believes of a member.
type State uint8

// The states.
const (
	// Alive: it answers.
	Alive State = iota
	// Suspect: it did not answer this process's last pings, but has not been declared
	// dead.
	Suspect
	// Dead: nobody could reach it for a while.
	Dead
	// Left: it said that it was going.
	Left
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case Alive:
		return "alive"
	case Suspect:
		return "suspect"
	case Dead:
		return "dead"
	case Left:
		return "left"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// MarshalText implements encoding.TextMarshaler, for JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Peer is a member as this process sees it.
type Peer struct {
	Name string
	// Addr is the host:port at which the member was last seen.
	Addr  string
	State State
	// Since is when the state began, by this process's clock.
	Since time.Time
	// Meta is a copy of the member's metadata.
	Meta []byte
}

// maxGone is how many dead and left members are remembered. The longest gone are
// forgotten first.
const maxGone = 1000

// peers remembers everybody ever seen. memberlist calls it with its own lock held,
// so it never calls memberlist.
type peers struct {
	heard func(member string, meta []byte)
	log   *slog.Logger

	mu     sync.Mutex
	meta   []byte // of this process
	byName map[string]*peer
}

type peer struct {
	node  memberlist.Node // a copy; memberlist replaces its slices, never changes them
	state State
	since time.Time
	// leaving is set once the member has announced that it goes.
	leaving bool
	// claim is another address at which somebody uses the member's name.
	claim string
}

func (p *peer) gone() bool { return p.state == Dead || p.state == Left }

// NotifyJoin implements memberlist.EventDelegate.
func (ps *peers) NotifyJoin(n *memberlist.Node) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := &peer{node: *n}
	ps.byName[n.Name] = p
	ps.set(p, Alive, slog.LevelInfo)
	ps.tell(n)
}

// tell passes a member's metadata on.
func (ps *peers) tell(n *memberlist.Node) {
	if ps.heard != nil {
		ps.heard(n.Name, slices.Clone(n.Meta))
	}
}

func (ps *peers) setMeta(meta []byte) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.meta = meta
}

// NotifyUpdate implements memberlist.EventDelegate.
func (ps *peers) NotifyUpdate(n *memberlist.Node) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p, known := ps.byName[n.Name]; known {
		p.node = *n
		ps.tell(n)
	}
}

// NotifyLeave implements memberlist.EventDelegate. It is called for the dead as well
// as for those who left, without saying which.
func (ps *peers) NotifyLeave(n *memberlist.Node) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, known := ps.byName[n.Name]
	switch {
	case !known:
		return
	case p.leaving:
		ps.set(p, Left, slog.LevelInfo)
	default:
		ps.set(p, Dead, slog.LevelWarn)
	}
	ps.forget()
}

// NotifyConflict implements memberlist.ConflictDelegate. A member that comes back at
// another address before it was found dead is turned away, and would not try again:
// it sees this process alive. So this process calls it, once its old life is over.
func (ps *peers) NotifyConflict(existing, other *memberlist.Node) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p, known := ps.byName[existing.Name]; known {
		p.claim = other.Address()
	}
}

// left notes that the member announced its leave. The news of its end may have come
// before.
func (ps *peers) left(name string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p, known := ps.byName[name]; known {
		p.leaving = true
		if p.state == Dead {
			ps.set(p, Left, slog.LevelInfo)
		}
	}
}

// pinged notes whether a member that was pinged has answered.
func (ps *peers) pinged(name string, answered bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, known := ps.byName[name]
	switch {
	case !known || p.gone():
	case answered && p.state == Suspect:
		ps.set(p, Alive, slog.LevelDebug)
	case !answered && p.state == Alive:
		ps.set(p, Suspect, slog.LevelDebug)
	}
}

func (ps *peers) set(p *peer, state State, level slog.Level) {
	p.state, p.since = state, time.Now()
	ps.log.Log(context.Background(), level, "gossip: member is "+state.String(), "member", p.node.Name, "address", p.node.Address())
}

func (ps *peers) forget() {
	var gone []*peer
	for _, p := range ps.byName {
		if p.gone() {
			gone = append(gone, p)
		}
	}
	if len(gone) > maxGone {
		longest := slices.MinFunc(gone, func(a, b *peer) int { return a.since.Compare(b.since) })
		delete(ps.byName, longest.node.Name)
	}
}

// others returns the members, except the named one, that are not gone.
func (ps *peers) others(self string) []memberlist.Node {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var nodes []memberlist.Node
	for _, p := range ps.byName {
		if !p.gone() && p.node.Name != self {
			nodes = append(nodes, p.node)
		}
	}
	return nodes
}

// addresses returns where members are, and where dead ones may be.
func (ps *peers) addresses() (alive, dead map[string]bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	alive, dead = make(map[string]bool), make(map[string]bool)
	for _, p := range ps.byName {
		switch p.state {
		case Alive, Suspect:
			alive[p.node.Address()] = true
		case Dead:
			dead[p.node.Address()] = true
			if p.claim != "" {
				dead[p.claim] = true
			}
		}
	}
	return alive, dead
}

// list returns all members, sorted by name.
func (ps *peers) list() []Peer {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	list := make([]Peer, 0, len(ps.byName))
	for _, p := range ps.byName {
		list = append(list, Peer{p.node.Name, p.node.Address(), p.state, p.since, slices.Clone(p.node.Meta)})
	}
	slices.SortFunc(list, func(a, b Peer) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
