package consensus

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/quolldb/quoll/internal/wire"
)

// sim is a cluster of cores and a network, as one sequence of events: one seed is one history.
type sim struct {
	t         *testing.T
	random    *rand.Rand
	now       time.Time
	events    events
	count     int
	proposals int

	nodes   []*simNode
	members []*simNode // of the ring
	nextID  uint64

	// The network: how many of 100 messages are lost, or come twice, how late they come at most, and from whom to whom nothing comes.
	loss, twice int
	delay       time.Duration
	cut         map[[2]uint64]bool
	dropped     func(header) bool      // more that is lost,
	droppedRaft func(*pb.Message) bool // and of the library's messages
	inspect     func(*simNode, header, []byte)
	sent        map[kind]int
	crashes     int // of 10,000 messages, after so many its sender's power fails at once

	// What was applied anywhere, in each group of the formation, and what proposers were told.
	histories map[uint64]*history
	outcomes  map[string]error
	wrong     []string
}

// history is what was applied anywhere in a group: behind what it was founded with, by the index.
type history struct {
	base   []logged
	global map[uint64]string
	at     map[string]uint64
	last   uint64
}

func newHistory(base []logged) *history {
	h := &history{base: base, global: map[uint64]string{}, at: map[string]uint64{}}
	for _, l := range base {
		h.at[l.Text] = 0
	}
	return h
}

// simNode is one life of a node's storage.
type simNode struct {
	s    *sim
	id   uint64
	name string
	rack string
	disk *testDisk
	core *core
	*machine
	up, lost bool
	knows    uint64 // which group of the formation is the newest that it has heard of
	leads    bool
	ended    error
	left     *testDisk // what the power cut in the middle of this event leaves
	lives    uint64
	initial  *Initial
	warnings bytes.Buffer // and errors
}

type simEvent struct {
	at  time.Time
	seq int
	do  func()
}

type events []simEvent

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at.Before(e[j].at) || e[i].at.Equal(e[j].at) && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(simEvent)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// newSim forms a group of members in these racks. The first of them begin as its voters.
func newSim(t *testing.T, seed uint64, racks ...string) *sim {
	cryptotest.SetGlobalRandom(t, seed) // the library's election timeouts
	s := &sim{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1e9, 0), delay: 5 * time.Millisecond,
		cut: map[[2]uint64]bool{}, sent: map[kind]int{}, histories: map[uint64]*history{0: newHistory(nil)}, outcomes: map[string]error{},
	}
	for i, rack := range racks {
		s.add(fmt.Sprintf("n%d", i+1), rack)
	}
	initial := &Initial{Voters: Choose(nil, s.candidates()), Snapshot: []byte("[]")}
	for _, n := range s.nodes {
		if slices.Contains(initial.Voters, n.id) {
			n.initial = initial
		}
		n.start()
	}
	return s
}

// add makes a node with an identity of its own, a member of the ring. It is not started.
func (s *sim) add(name, rack string) *simNode {
	s.nextID++
	n := &simNode{s: s, id: s.nextID, name: name, rack: rack, disk: newTestDisk(), machine: &machine{}}
	_, err := Create(n.disk, n.id)
	require.NoError(s.t, err)
	s.nodes = append(s.nodes, n)
	s.members = append(s.members, n)
	return n
}

// join adds a member and starts it.
func (s *sim) join(name, rack string) *simNode {
	n := s.add(name, rack)
	n.start()
	return n
}

// leave takes a node out of the ring.
func (s *sim) leave(n *simNode) {
	s.members = slices.DeleteFunc(slices.Clone(s.members), func(m *simNode) bool { return m == n })
}

// forget has a node lose its storage: it comes back under its name, with another identity.
func (s *sim) forget(n *simNode) *simNode {
	n.stop()
	n.lost = true
	s.leave(n)
	return s.join(n.name, n.rack)
}

func (s *sim) candidates() []Candidate {
	all := make([]Candidate, len(s.members))
	for i, n := range s.members {
		all[i] = Candidate{ID: n.id, Name: n.name, Rack: n.rack, Alive: n.up || n.core == nil}
	}
	return all
}

// config has small bounds, so that they matter.
func (n *simNode) config() Config {
	cfg := Default()
	cfg.ID, cfg.Transport, cfg.Machine, cfg.Candidates, cfg.Initial = n.id, n, n.machine, n.s.candidates, n.initial
	cfg.Refounded = n.knows
	cfg.Logger = slog.New(slog.NewTextHandler(&n.warnings, &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg.MaxMessage, cfg.SnapshotEntries, cfg.SnapshotBytes, cfg.ReplaceAfter = leastMessage, 20, 8<<10, 20*time.Second
	n.lives++
	cfg.session = n.id<<32 | n.lives
	return cfg
}

// start opens the node's storage and begins.
func (n *simNode) start() {
	n.machine = &machine{check: func(log []logged, applied uint64) { n.s.check(n.s.histories[n.knows], log, applied) }}
	cfg := n.config()
	var err error
	cfg.Storage, err = Open(n.disk, n.id)
	require.NoError(n.s.t, err)
	n.core, err = newCore(cfg, n.s.now)
	require.NoError(n.s.t, err)
	n.core.lead = n.isTold
	n.up, n.leads, n.ended = true, false, nil
	n.s.after(time.Duration(n.s.random.IntN(int(cfg.Tick))), func() { n.ticks(n.core) })
}

// isTold is told who leads: the one who does knows all that was acknowledged.
func (n *simNode) isTold(leading bool) {
	n.leads = leading
	if !leading {
		return
	}
	for text, err := range n.s.outcomes {
		if _, here := n.s.histories[n.knows].at[text]; err == nil && here && !n.has(text) {
			n.s.fail("%s (%d) leads, and does not know %q, which is acknowledged", n.name, n.id, text)
		}
	}
}

func (n *simNode) ticks(life *core) {
	if !n.up || n.core != life {
		return
	}
	n.call(func() error { return n.core.tick(n.s.now) })
	n.s.after(n.core.cfg.Tick, func() { n.ticks(life) })
}

// call runs a step of the core.
func (n *simNode) call(step func() error) {
	if err := step(); err != nil {
		n.ended = err
		n.up = false
	}
	if n.left != nil {
		n.disk, n.left = n.left, nil
		n.down()
		n.s.after(time.Second, n.restart)
	}
}

// Send implements Transport.
func (n *simNode) Send(to uint64, message []byte) {
	s := n.s
	d := wire.NewDecoder(message)
	h := readHeader(&d)
	s.sent[h.kind]++
	body := d.Rest()
	if s.inspect != nil {
		s.inspect(n, h, body)
	}
	if m := (&pb.Message{}); s.droppedRaft != nil && h.kind == kindRaft && proto.Unmarshal(body, m) == nil && s.droppedRaft(m) {
		return
	}
	if n.left != nil || s.cut[[2]uint64{n.id, to}] || s.random.IntN(100) < s.loss || s.dropped != nil && s.dropped(h) {
		return
	}
	if s.random.IntN(10000) < s.crashes {
		n.left = n.disk.afterPowerCut(s.random)
	}
	copies := 1
	if s.random.IntN(100) < s.twice {
		copies = 2
	}
	for range copies {
		s.after(1+time.Duration(s.random.Int64N(int64(s.delay))), func() {
			for _, other := range s.nodes {
				if other.id == to && other.up {
					other.call(func() error { return other.core.receive(s.now, message) })
				}
			}
		})
	}
}

// down ends the process: its proposals are lost.
func (n *simNode) down() {
	n.up, n.leads = false, false
	n.core.end()
}

func (n *simNode) stop() {
	if n.up {
		n.disk = n.disk.afterPowerCut(n.s.random)
		n.down()
	}
}

func (n *simNode) restart() {
	if !n.up && !n.lost {
		n.start()
	}
}

// propose proposes a text and notes the outcome.
func (n *simNode) propose(text string) {
	s := n.s
	n.call(func() error {
		life := n.core
		seq, err := n.core.propose(s.now, []byte(text), func(r Result, err error) {
			s.outcomes[text] = err
			if global := s.histories[n.knows].global; err == nil && global[r.Index] != text {
				s.fail("%q is acknowledged at %d, where %q was applied", text, r.Index, global[r.Index])
			}
		})
		s.after(n.core.cfg.Patience, func() {
			if n.core == life && n.up {
				n.call(func() error { life.giveUp(s.now, seq); return nil })
			}
		})
		return err
	})
}

func (s *sim) after(d time.Duration, do func()) {
	s.count++
	heap.Push(&s.events, simEvent{s.now.Add(d), s.count, do})
}

// run lets time pass.
func (s *sim) run(d time.Duration) { s.until(d, func() bool { return false }) }

// until lets time pass until something is the case, at most so long, and reports whether it is.
func (s *sim) until(d time.Duration, is func() bool) bool {
	end := s.now.Add(d)
	for !is() {
		if len(s.events) == 0 || s.events[0].at.After(end) {
			s.now = end
			return is()
		}
		e := heap.Pop(&s.events).(simEvent)
		s.now = e.at
		e.do()
	}
	return true
}

func (s *sim) fail(format string, args ...any) {
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// check compares what one machine has with what any in its group has.
func (s *sim) check(h *history, log []logged, applied uint64) {
	switch {
	case applied > 0: // the last one is new
		log = log[len(log)-1:]
	case len(log) < len(h.base) || !slices.Equal(log[:len(h.base)], h.base):
		s.fail("a snapshot does not begin with what the group was founded with")
	default:
		log = log[len(h.base):]
	}
	for _, l := range log {
		if before, ok := h.global[l.Index]; ok && before != l.Text {
			s.fail("at %d %q was applied, and %q", l.Index, before, l.Text)
		}
		if at, ok := h.at[l.Text]; ok && at != l.Index {
			s.fail("%q was applied twice, at %d and %d", l.Text, at, l.Index)
		}
		h.global[l.Index], h.at[l.Text], h.last = l.Text, l.Index, max(h.last, l.Index)
	}
}

// all is all that was applied in the group, in order.
func (h *history) all() []logged {
	all := slices.Clone(h.base)
	for i := uint64(0); i <= h.last; i++ {
		if text, ok := h.global[i]; ok {
			all = append(all, logged{i, text})
		}
	}
	return all
}

// checkAll compares the machines with everything, and with what proposers were told.
func (s *sim) checkAll() {
	for _, n := range s.nodes {
		all := s.histories[n.knows].all()
		if len(n.log) > len(all) || !slices.Equal(n.log, all[:len(n.log)]) {
			s.fail("what %s (%d) has applied is no prefix of the log", n.name, n.id)
		}
		if n.ended != nil {
			s.fail("%s (%d) has ended: %v", n.name, n.id, n.ended)
		}
	}
	for text, err := range s.outcomes {
		at, applied := uint64(0), false
		for _, h := range s.histories {
			if i, found := h.at[text]; found {
				at, applied = max(at, i), true
			}
		}
		switch {
		case err == nil && !applied:
			s.fail("%q is acknowledged and was not applied", text)
		case applied && (errors.Is(err, ErrNoLeader) || errors.Is(err, ErrRefused) || errors.Is(err, ErrClosed)):
			s.fail("%q had no effect, its proposer was told, but was applied at %d", text, at)
		}
	}
}

func (s *sim) requireRight() {
	s.t.Helper()
	s.checkAll()
	require.Empty(s.t, s.wrong)
}

// leader returns who leads, of those who are told so the one with the highest term; nil if nobody does.
func (s *sim) leader() (leader *simNode) {
	for _, n := range s.nodes {
		if n.up && n.leads && (leader == nil || n.knows > leader.knows ||
			n.knows == leader.knows && n.core.node.BasicStatus().GetTerm() > leader.core.node.BasicStatus().GetTerm()) {
			leader = n
		}
	}
	return leader
}

// elect waits for a leader.
func (s *sim) elect() *simNode {
	s.t.Helper()
	require.True(s.t, s.until(time.Minute, func() bool { return s.leader() != nil }), "nobody leads")
	return s.leader()
}

// settled reports whether the group is what Choose says, and all voters have all.
func (s *sim) settled() bool {
	l := s.leader()
	if l == nil || len(l.core.conf.Learners) > 0 || len(l.core.conf.VotersOutgoing) > 0 ||
		!slices.Equal(slices.Sorted(slices.Values(l.core.conf.Voters)), Choose(l.core.conf.Voters, s.candidates())) {
		return false
	}
	for _, n := range s.nodes {
		if n.up && n.knows != s.newest() {
			return false
		}
	}
	for _, n := range s.members {
		if slices.Contains(l.core.conf.Voters, n.id) && (!n.up || len(n.log) != len(s.histories[l.knows].all()) || !slices.Equal(n.core.members(), l.core.members())) {
			return false
		}
	}
	return true
}

// decide has a node propose a text, and waits until it is acknowledged.
func (s *sim) decide(n *simNode, text string) {
	s.t.Helper()
	n.propose(text)
	require.True(s.t, s.until(time.Minute, func() bool { _, done := s.outcomes[text]; return done }))
	require.NoError(s.t, s.outcomes[text])
}

// isolate cuts the links of some nodes to all others, in both directions.
func (s *sim) isolate(nodes ...*simNode) {
	for _, a := range nodes {
		for _, b := range s.nodes {
			if !slices.Contains(nodes, b) {
				s.cut[[2]uint64{a.id, b.id}], s.cut[[2]uint64{b.id, a.id}] = true, true
			}
		}
	}
}

func (s *sim) heal() { clear(s.cut) }
