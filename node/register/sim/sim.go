package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/lineage"
	"github.com/quolldb/quoll/node/register"
)

type event struct {
	time, order int
	run         func()
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].time < q[j].time || q[i].time == q[j].time && q[i].order < q[j].order
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// Times are in milliseconds of the simulated time.
const (
	horizon = 1600 // faults stop here
	quiet   = 7000 // clocks stop ticking here: everything is over long before
	theEnd  = 8000
)

// firstClient is the address of the first client; nodes have lower ones.
const firstClient = 1000

// Options say which history to simulate.
type Options struct {
	// Mode is one of Modes.
	Mode string
	Seed int64
	// Clients is the number of clients, Operations how many each of them runs. 0 means
	// the usual number.
	Clients, Operations int
	// Members is the number of members at the beginning, 0 for the usual one.
	Members int
	// Trace is called with every event, if it is not nil.
	Trace func(line string)
}

// Sim is one simulated cluster.
type Sim struct {
	// Stats counts what happened: events of the register and of the simulator.
	Stats map[string]int

	options Options
	base    string // the mode, or that which mode batches has taken
	weather weather
	rand    *rand.Rand
	now     int
	order   int
	queue   eventQueue

	nodes        []*node // by ID, from 1; nodes[0] is nil
	clients      []*client
	version      uint64             // of the ring: every change of a slot raises it
	epochs       [slots][]*epoch    // of each slot, the oldest first
	changes      [slots]*transfer   // members are being replaced, nil if they are not
	notes        bool               // members note how far they have come with collecting
	clock        map[uint16]int     // by how much the clock of a node or client differs from now
	silent       map[[2]uint16]bool // old members that show nothing to a new one (in tests)
	blocked      map[[2]uint16]bool
	healed       bool // a majority is healed for good (mode liveness)
	incarnations int
	rivalry      int // percentage of requests that go to a random member, by force
	think        int // how long a client pauses at most between pipelines
	token        int
	ghosts       int

	history    []porcupine.Operation
	states     map[stateName]string // what each version names
	chosen     map[chosenName]shown // what clients have seen a majority agree on
	lineage    *lineage.Check
	watched    []lineage.Key // what it watches
	violations []string      // of invariants
	evictions  []*eviction
	overdue    []string // operations that took too long though a majority was well
}

// New prepares a history.
func New(o Options) *Sim {
	w, base, ok := weatherOf(o)
	if !ok {
		panic("sim: no mode " + o.Mode)
	}
	if o.Clients == 0 {
		o.Clients = 5
	}
	if o.Operations == 0 {
		o.Operations = 11
		if w.batches { // the checker has both keys of a slot at once
			o.Operations = 8
		}
	}
	s := &Sim{Stats: map[string]int{}, options: o, base: base, weather: w, rand: rand.New(rand.NewPCG(uint64(o.Seed), 0)),
		nodes: []*node{nil}, clock: map[uint16]int{}, blocked: map[[2]uint16]bool{}, states: map[stateName]string{}, chosen: map[chosenName]shown{}}
	s.lineage = s.newLineage()
	for slot := range uint16(slots) {
		for _, name := range s.keysOf(slot) {
			s.watched = append(s.watched, lineage.Key{Slot: slot, Key: name})
		}
	}
	if s.think = w.think; s.think == 0 {
		s.think = []int{8, 8, 60}[s.rand.IntN(3)]
	}
	size := 3
	switch {
	case o.Seed%4 == 0:
		size = 5
	case base == "churn" && o.Seed%8 == 2: // those that shrink most
		size = 7
	case base == "rot" && o.Seed%8 == 1: // to rebuild takes all others, however many these are
		size = []int{2, 4}[o.Seed/8%2]
	}
	if o.Members > 0 {
		size = o.Members
	}
	members := make([]uint16, size)
	for i := range members {
		members[i] = uint16(i + 1)
	}
	s.notes = o.Seed%3 == 0
	s.found(members)
	for _, id := range members {
		s.addNode(id)
	}
	for i := range o.Clients {
		p := &client{sim: s, id: firstClient + uint16(i), epochs: [slots]uint64{1, 1}, left: o.Operations}
		s.clock[p.id] = s.rand.IntN(61) - 30
		s.clients = append(s.clients, p)
		s.after(s.rand.IntN(10), p.next)
	}
	return s
}

// addNode starts a process that has never run before. It knows the ring of now: whatever was sent to a former member with its number is
// of older epochs (R17).
func (s *Sim) addNode(id uint16) *node {
	n := &node{sim: s, id: id, commit: []int{0, 0, 12, 120}[s.rand.IntN(4)], eager: s.chance(2)}
	n.timing = register.Timing{Resend: 35, Acquire: 40, Patience: 150, Backoff: 30, Request: 1000, Slow: 1000, Linger: 80, HandBack: 40}
	n.timing.Large = []int{0, 1}[n.id%2]
	if s.chance(3) {
		n.timing.Request, n.timing.Slow = 200, 600
	}
	n.store = newStore(n)
	n.store.instant = n.commit == 0 && s.chance(2)
	if int(id) == len(s.nodes) {
		s.nodes = append(s.nodes, n)
	}
	s.nodes[id] = n
	for slot := range n.epochs {
		n.epochs[slot] = s.latest(uint16(slot))
	}
	s.clock[n.id] = s.rand.IntN(61) - 30
	n.boot()
	for slot := range uint16(slots) {
		n.adopt(slot, n.epochs[slot].number)
	}
	n.store.commit(n.store.stagedAt)
	s.ticks(n)
	return n
}

func (s *Sim) ticks(n *node) {
	var tick func()
	tick = func() {
		if !n.paused {
			n.tick()
		}
		if s.now < quiet {
			s.after(10+s.rand.IntN(25), tick)
		}
	}
	s.after(s.rand.IntN(30), tick)
}

// Run runs the history to its end.
func (s *Sim) Run() {
	s.weather.begin(s)
	if s.base == "liveness" {
		s.after(horizon, s.heal)
	}
	for len(s.queue) > 0 && s.now < theEnd {
		e := heap.Pop(&s.queue).(event)
		if s.now = e.time; s.now > horizon && !s.healed {
			s.blocked = map[[2]uint16]bool{}
		}
		e.run()
	}
	for _, p := range s.clients {
		for _, o := range p.pipeline {
			if !o.done { // it began late, and may yet have an effect
				o.finish(register.Unknown, "")
			}
		}
	}
	s.endEvictions()
	s.count("operations", len(s.history))
	if s.healed {
		s.requireQuiet()
	}
}

func (s *Sim) chance(n int) bool        { return s.rand.IntN(n) == 0 }
func (s *Sim) percent(n int) bool       { return s.rand.IntN(100) < n }
func (s *Sim) count(name string, n int) { s.Stats[name] += n }

func (s *Sim) after(delay int, run func()) {
	s.order++
	heap.Push(&s.queue, event{s.now + delay, s.order, run})
}

// every repeats an action at random intervals until the horizon.
func (s *Sim) every(low, high int, action func()) {
	var again func()
	again = func() {
		if s.now < horizon {
			action()
			s.after(low+s.rand.IntN(high-low), again)
		}
	}
	s.after(low+s.rand.IntN(high-low), again)
}

// faults reports whether the network may do harm now.
func (s *Sim) faults() bool { return s.weather.faulty && !s.healed }

func (s *Sim) trace(format string, args ...any) {
	if s.options.Trace != nil {
		s.options.Trace(fmt.Sprintf("%5d  ", s.now) + fmt.Sprintf(format, args...))
	}
}
