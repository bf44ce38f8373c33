package change

import (
	"slices"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring"
)

// Document is everything that is decided about a ring. It is a value: whoever has one
// changes nothing in it, for documents share what has not changed.
type Document struct {
	// Version counts the changes of the document, from 1. Cluster is the cluster's name.
	Version uint64
	Cluster string
	// Formation tells the ring from every other one of that name, before and after it: it is the digest of the cluster as it
	// formed, with its members' random generations. It never changes, and is not 0.
	Formation uint64
	// Refounded is the version with which those who decide began anew, because a majority of them was gone for good; 0 as the ring formed.
	Refounded uint64
	// Replicas is how many members hold a slot when no plan is under way.
	Replicas int
	// Members are ordered by ID. Every ID that a slot or the plan names is here.
	Members []Life
	// LastID is the ID that was given out last.
	LastID uint16
	// MembersAt is the version in which Members, or Replicas, changed last.
	MembersAt uint64

	// Slots has the assignment of every slot.
	Slots []ring.Assignment
	// Joint says how far the joint slots are, ordered by slot.
	Joint []Progress

	// Staged is what an operator has put together, to be committed as the next plan.
	Staged   []Staged
	StagedAt uint64
	// Plan is the plan under way, nil if there is none.
	Plan *Plan
	// Paused says that no slot begins to move. Rate bounds the bytes a second that
	// each node copies, 0 for the default.
	Paused bool
	Rate   int64
	// Placements says how the keys of each database are placed.
	Placements database.Placements
	// Users are those of the clients, ordered by name, and UsersAt is the version in which they changed last; 0 if they never did.
	Users   []User
	UsersAt uint64
	// Parameters are those of CONFIG that clients have set for the whole cluster, ordered by name, and ParametersAt is the version in which they changed last; 0 if they never did.
	Parameters   []Parameter
	ParametersAt uint64

	// History has the last MaxHistory events, the latest last.
	History []Event
}

// Life is a member from when it asks to join until it has left, or lost its state.
// The ID is its identity: it votes under it, and nobody else ever does. IDs are given
// out in turn, from 1 to 65,535 and then from 1 again without those that are in the
// document. So an ID is used again only after some 64,000 other lives, and never while
// a slot or a plan names it. Whoever has to tell lives apart for longer compares
// generations.
type Life struct {
	ring.Member
	State State
}

// State is what a life has to do with the ring.
type State uint8

// The states of a life.
const (
	// Waiting: it has asked to join, and holds nothing.
	Waiting State = iota + 1
	// Joining: the plan gives it slots.
	Joining
	// Active: it is a member.
	Active
	// Leaving: the plan takes all its slots.
	Leaving
	// Lost: its state is gone, and it never votes again. Slots name it until the member's
	// next life has taken its place.
	Lost
)

var stateNames = []string{"invalid", "waiting", "joining", "active", "leaving", "lost"}

func (s State) String() string {
	if int(s) >= len(stateNames) {
		s = 0
	}
	return stateNames[s]
}

// MarshalText makes a state a word in JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Progress is how far a joint slot is.
type Progress struct {
	Slot uint16
	// Waiting are the collectors that have not reported yet, Done those that have.
	Waiting, Done []uint16
}

// Event is a line of the history.
type Event struct {
	Version uint64
	// At is when it happened, in milliseconds since 1970, by the clock of who proposed it.
	At       int64
	By, What string
}

// The limits of a document, beside those of package ring.
const (
	// MaxHistory is the number of events that are kept, MaxStaged that of changes that
	// can be staged at a time.
	MaxHistory = 64
	MaxStaged  = 2 * ring.MaxMembers
	// maxText bounds an event's text, and maxLives the lives in a document: each member
	// may have lost one life, and more are refused until the plan is over.
	maxText  = 300
	maxLives = 4 * ring.MaxMembers
)

// FromCluster returns the document that a cluster begins with: the version is its
// epoch, all members are active, and Plan says who holds what. It returns the error
// of c.Validate.
func FromCluster(c ring.Cluster) (Document, error) {
	table, err := ring.Plan(c)
	if err != nil {
		return Document{}, err
	}
	d := Document{Version: c.Epoch, Cluster: c.Name, Formation: max(c.Digest(), 1), Replicas: c.Replicas, MembersAt: c.Epoch, StagedAt: c.Epoch}
	for _, m := range c.Members {
		d.Members = append(d.Members, Life{m, Active})
		d.LastID = max(d.LastID, m.ID)
	}
	slices.SortFunc(d.Members, byID)
	for slot := range uint16(ring.Slots) {
		d.Slots = append(d.Slots, ring.Assignment{Epoch: c.Epoch, Replicas: table.Replicas(slot)})
	}
	return d, nil
}

func byID(a, b Life) int { return int(a.ID) - int(b.ID) }

// Table returns who holds which slot.
func (d Document) Table() (*ring.Table, error) { return ring.NewTable(d.Version, d.Slots) }

// Ring returns the members as a cluster whose epoch is the version: those who hold
// slots, or are to. Slots may name lives that are not among them: see Lives.
func (d Document) Ring() ring.Cluster {
	c := ring.Cluster{Name: d.Cluster, Epoch: d.Version, Replicas: d.Replicas}
	for _, l := range d.Members {
		if l.State != Waiting && l.State != Lost {
			c.Members = append(c.Members, l.Member)
		}
	}
	return c
}

// Lives returns everybody that is in the document as such a cluster, ordered by ID: whoever waits to join, and lives that are
// lost, too. So several may have the same name, and it is no valid cluster.
func (d Document) Lives() ring.Cluster {
	c := ring.Cluster{Name: d.Cluster, Epoch: d.Version, Replicas: d.Replicas}
	for _, l := range d.Members {
		c.Members = append(c.Members, l.Member)
	}
	return c
}

// LifeOf returns the life that a process is: that of its name and generation, be it lost.
func (d Document) LifeOf(name string, generation uint64) (Life, bool) {
	for _, l := range d.Members {
		if l.Generation == generation && l.Name == name {
			return l, true
		}
	}
	return Life{}, false
}

// Untouched reports whether the ring is as it formed: no entry has been applied.
func (d Document) Untouched() bool { return d.MembersAt == d.Version && len(d.History) == 0 }

// Member returns the life with the ID.
func (d Document) Member(id uint16) (Life, bool) {
	i, found := d.at(id)
	if !found {
		return Life{}, false
	}
	return d.Members[i], true
}

// ByName returns the life that bears the name now: not one that is lost.
func (d Document) ByName(name string) (Life, bool) {
	for _, l := range d.Members {
		if l.Name == name && l.State != Lost {
			return l, true
		}
	}
	return Life{}, false
}

func (d Document) at(id uint16) (int, bool) {
	return slices.BinarySearchFunc(d.Members, id, func(l Life, id uint16) int { return int(l.ID) - int(id) })
}

// progress returns where in Joint the slot is, or would be.
func (d Document) progress(slot uint16) (int, bool) {
	return slices.BinarySearchFunc(d.Joint, slot, func(p Progress, slot uint16) int { return int(p.Slot) - int(slot) })
}

// name returns a member's name, for messages.
func (d Document) name(id uint16) string {
	l, _ := d.Member(id)
	return l.Name
}
