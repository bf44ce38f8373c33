package sim

import (
	"container/heap"
	"fmt"
	"math/rand"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/record"
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

const (
	firstClient = 1000 // clients have addresses from here
	horizon     = 1600 // faults stop here
	theEnd      = 9000
)

var keyNames = []string{"a", "b", "c"}

// Modes are the kinds of weather.
var Modes = []string{"chaos", "duel", "purge", "calm", "failover"}

// Sim is one simulated cluster with one slot.
type Sim struct {
	// Stats counts what happened: events of the register and of the simulator.
	Stats map[string]int

	rand   *rand.Rand
	mode   string
	faults bool
	now    int
	order  int
	queue  eventQueue

	nodes        map[uint16]*node
	order16      []uint16 // node IDs in order
	clients      []*client
	configs      []*register.Config
	offset       map[uint16]int     // clock offsets
	blocked      map[[2]uint16]bool // one-way cuts
	incarnations int
	rivalry      int // percentage of requests that go to a random member, by force
	token        int
	ghosts       int
	history      []porcupine.Operation
}

// New prepares a history. mode is one of Modes.
func New(seed int64, mode string) *Sim {
	s := &Sim{Stats: map[string]int{}, rand: rand.New(rand.NewSource(seed)), mode: mode,
		faults: mode != "calm" && mode != "failover", nodes: map[uint16]*node{}, offset: map[uint16]int{},
		blocked: map[[2]uint16]bool{}, ghosts: 1 << 20}
	size := uint16(3)
	if seed%4 == 0 {
		size = 5
	}
	for id := uint16(1); id <= size; id++ {
		s.order16 = append(s.order16, id)
	}
	s.configs = []*register.Config{register.NewConfig(1, s.order16, nil)}
	slow := s.chance(2)
	for _, id := range s.order16 {
		n := &node{sim: s, id: id, store: newStore(), config: s.configs[0], slow: slow}
		s.nodes[id] = n
		s.offset[id] = s.rand.Intn(61) - 30
		n.boot()
		s.ticks(n)
	}
	for i := uint16(0); i < 5; i++ {
		p := &client{sim: s, id: firstClient + i, epoch: 1, left: 11, home: 1}
		s.offset[p.id] = s.rand.Intn(61) - 30
		s.clients = append(s.clients, p)
		s.after(s.rand.Intn(10), p.next)
	}
	return s
}

func (s *Sim) ticks(n *node) {
	var tick func()
	tick = func() {
		n.do(n.home.Tick)
		if s.now < theEnd-1000 {
			s.after(10+s.rand.Intn(25), tick)
		}
	}
	s.after(s.rand.Intn(30), tick)
}

func (s *Sim) chance(n int) bool        { return s.rand.Intn(n) == 0 }
func (s *Sim) count(name string, n int) { s.Stats[name] += n }

func (s *Sim) config(epoch uint64) *register.Config { return s.configs[epoch-1] }

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
			s.after(low+s.rand.Intn(high-low), again)
		}
	}
	s.after(low+s.rand.Intn(high-low), again)
}

// Run runs the history to its end.
func (s *Sim) Run() {
	switch s.mode {
	case "chaos":
		s.every(60, 300, func() { s.rivalry = []int{0, 0, 10, 40}[s.rand.Intn(4)] })
		s.every(30, 150, s.partition)
		s.every(100, 400, func() { s.crash(s.anyNode()) })
		s.every(250, 900, s.newEpoch)
		s.every(400, 1500, s.loseDisk)
	case "duel": // several homes fight for the slot
		s.rivalry = 40
		s.every(20, 100, s.partition)
		s.every(60, 200, func() { s.crash(s.anyNode()) })
	case "purge": // few failures, many deletes
		s.rivalry = 10
		s.every(200, 500, func() { s.crash(s.anyNode()) })
		s.every(300, 700, s.newEpoch)
	case "failover":
		s.every(150, 300, func() {
			if home := s.clients[0].home; home != 0 {
				s.crash(s.nodes[home])
			}
		})
	}
	for len(s.queue) > 0 && s.now < theEnd {
		e := heap.Pop(&s.queue).(event)
		if s.now = e.time; s.now > horizon {
			s.blocked = map[[2]uint16]bool{}
		}
		e.run()
	}
	s.count("operations", len(s.history))
}

// Check asks Porcupine whether the history is linearizable, key by key.
func (s *Sim) Check(timeout time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model, s.history, timeout)
}

// Dump prints the histories of the keys that are not linearizable, all of them if
// every key is.
func (s *Sim) Dump() string {
	slices.SortFunc(s.history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	text, all := "", ""
	for i, part := range model.Partition(s.history) {
		dump := "key " + keyNames[i] + "\n"
		for _, op := range part {
			dump += fmt.Sprintf("%8d %14d  %v -> %v\n", op.Call, op.Return, op.Input, op.Output)
		}
		all += dump
		if !porcupine.CheckOperations(model, part) {
			text += dump
		}
	}
	if text == "" {
		return all
	}
	return text
}

func (s *Sim) randomCommand() cmd {
	s.token++
	c := cmd{Key: keyNames[max(0, s.rand.Intn(5)-2)], Arg: fmt.Sprintf("%d.", s.token)}
	switch x := s.rand.Intn(100); {
	case x < 34:
		c.Name = "get"
	case x < 50:
		c.Name = "append"
	case x < 60:
		c.Name = "set"
	case x < 67:
		c.Name = "setnx"
	case x < 80:
		c.Name = "del"
	case x < 88:
		c.Name, c.TTL = "setex", int64(15+s.rand.Intn(60))
	case x < 92:
		c.Name = "persist"
	case x < 96:
		c.Name = "getset"
	default:
		c.Name, c.Key = "flush", ""
	}
	if s.mode == "purge" && c.Name == "append" && s.token%2 == 0 {
		c.Name = "del"
	}
	return c
}

// ------------------------------------------------------------------- network

func (s *Sim) delay() int {
	x := s.rand.Intn(100)
	switch {
	case x < 80 || !s.faults:
		return 1 + s.rand.Intn(6)
	case s.mode == "duel":
		return 5 + s.rand.Intn(200)
	case x < 95:
		return 5 + s.rand.Intn(40)
	default:
		return 50 + s.rand.Intn(250)
	}
}

// carry runs deliver zero, one or two times.
func (s *Sim) carry(from, to uint16, deliver func()) {
	copies := 1
	if s.faults && s.rand.Intn(100) < 8 {
		copies = 2
	}
	for ; copies > 0; copies-- {
		if s.faults && s.rand.Intn(100) < 5 {
			continue
		}
		s.after(s.delay(), func() {
			if !s.blocked[[2]uint16{from, to}] {
				deliver()
			}
		})
	}
}

func (s *Sim) send(m register.Message) {
	s.carry(m.From, m.To, func() { s.nodes[m.To].deliver(copyMessage(&m)) })
}

func (s *Sim) sendRead(p *client, to uint16) {
	serial, key, epoch := p.serial, p.cmd.Key, p.epoch
	s.carry(p.id, to, func() { s.nodes[to].read(p, serial, key, epoch) })
}

func (s *Sim) deliverRead(n *node, p *client, serial int, rec record.Record) {
	s.carry(n.id, p.id, func() { p.handleRead(serial, n.id, rec) })
}

// sendRequest carries a command to a home, at most once (R11).
func (s *Sim) sendRequest(p *client, to uint16, force bool) {
	if s.faults && s.rand.Intn(100) < 3 {
		return
	}
	serial, req := p.serial, p.cmd.request()
	s.after(s.delay(), func() {
		n := s.nodes[to]
		switch {
		case !n.up: // connection refused: nothing was sent
			s.after(s.delay(), func() { p.handleAnswer(serial, register.Answer{Outcome: register.NotDone}, p.epoch) })
		case !s.blocked[[2]uint16{p.id, to}]:
			n.do(func() { n.home.HandleClient(register.NewRequest(req, p, uint64(serial), int64(s.now)), force) })
		}
	})
}

func (s *Sim) answer(n *node, p *client, serial int, a register.Answer, epoch uint64) {
	if s.faults && s.rand.Intn(100) < 3 {
		return
	}
	s.after(s.delay(), func() {
		if !s.blocked[[2]uint16{n.id, p.id}] {
			p.handleAnswer(serial, a, epoch)
		}
	})
}

// -------------------------------------------------------------------- faults

func (s *Sim) anyNode() *node { return s.nodes[s.order16[s.rand.Intn(len(s.order16))]] }

func (s *Sim) crash(n *node) {
	if !n.up {
		return
	}
	s.count("crash", 1)
	n.up, n.held = false, nil
	n.life++
	n.store.crash()
	down := 5 + s.rand.Intn(80)
	if s.chance(2) {
		down = 1 + s.rand.Intn(4)
	}
	s.after(down, func() {
		if !n.lost {
			n.boot()
		}
	})
}

// loseDisk takes a minority of nodes away for good.
func (s *Sim) loseDisk() {
	lost := 0
	for _, n := range s.nodes {
		if n.lost {
			lost++
		}
	}
	if lost < (len(s.nodes)-1)/2 {
		n := s.anyNode()
		n.lost = true
		s.count("disk-lost", 1)
		s.crash(n)
	}
}

// newEpoch publishes a configuration with another preferred home. Every process
// learns it in its own time.
func (s *Sim) newEpoch() {
	members := slices.Clone(s.order16)
	s.rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	c := register.NewConfig(uint64(len(s.configs)+1), members, nil)
	s.configs = append(s.configs, c)
	s.count("epoch", 1)
	for _, id := range s.order16 {
		if n := s.nodes[id]; !s.chance(3) {
			s.after(s.delay(), func() { n.learn(c) })
		}
	}
}

func (s *Sim) partition() {
	s.blocked = map[[2]uint16]bool{}
	if s.chance(3) {
		return
	}
	s.count("partition", 1)
	if s.chance(4) { // isolate one node completely
		id := s.anyNode().id
		for _, other := range s.order16 {
			s.blocked[[2]uint16{id, other}], s.blocked[[2]uint16{other, id}] = true, true
		}
		return
	}
	peers := slices.Clone(s.order16)
	for _, p := range s.clients {
		peers = append(peers, p.id)
	}
	for _, a := range s.order16 {
		for _, b := range peers {
			if a != b && s.chance(7) {
				s.blocked[[2]uint16{a, b}] = true
			}
			if a != b && s.chance(7) {
				s.blocked[[2]uint16{b, a}] = true
			}
		}
	}
}
