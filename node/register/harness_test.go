package register

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// fakeStore is a Store that counts what is staged and can be made to fail.
type fakeStore struct {
	meta    record.SlotMeta
	records map[string]record.Record
	writes  int
	failed  error
	full    bool
	// metaFits: there is room for the state of the slot though the store is full.
	metaFits bool
}

func (s *fakeStore) write(change func()) error {
	if s.full {
		return ErrNoRoom
	}
	if s.failed == nil {
		s.writes++
		change()
	}
	return s.failed
}

func (s *fakeStore) Slot(uint16) (record.SlotMeta, error) { return s.meta, s.failed }

func (s *fakeStore) PutSlot(_ uint16, meta record.SlotMeta) error {
	if s.full && s.metaFits {
		s.meta = meta
		return nil
	}
	return s.write(func() { s.meta = meta })
}

func (s *fakeStore) Get(_ uint16, key []byte) (record.Record, bool, error) {
	rec, ok := s.records[string(key)]
	return rec, ok, s.failed
}

func (s *fakeStore) Names(_ uint16, id database.ID, visit func(key []byte) bool) error {
	for _, name := range slices.Sorted(maps.Keys(s.records)) {
		if of, _ := database.Split([]byte(name)); of == id && s.records[name].State.Live() && !visit([]byte(name)) {
			break
		}
	}
	return s.failed
}

func (s *fakeStore) Stage(_ uint16, version record.Version, changes []record.Change) error {
	return s.write(func() {
		for i := range changes {
			c := &changes[i]
			if c.IsDelta && !c.State.Live() { // a patch, which overwrites what somebody may have borrowed
				rec := s.records[string(c.Key)]
				if p, ok := record.PatchOf(rec.State, c.Delta); ok && rec.Version == c.Base {
					copy(rec.State.Value[p.At:], p.Bytes)
				}
				s.records[string(c.Key)] = record.Record{Version: version, State: rec.State}
				continue
			}
			s.records[string(c.Key)] = record.Record{Version: version, State: c.State.Keep()}
		}
	})
}

func (s *fakeStore) Delete(_ uint16, key []byte) error {
	return s.write(func() { delete(s.records, string(key)) })
}

func (s *fakeStore) Clear(_ uint16, meta record.SlotMeta) error {
	return s.write(func() {
		s.meta = meta
		maps.DeleteFunc(s.records, func(_ string, rec record.Record) bool { return !meta.Cleared.Less(rec.Version) })
	})
}

func (s *fakeStore) Reset(_ uint16, meta record.SlotMeta) error {
	return s.write(func() {
		s.meta = meta
		clear(s.records)
	})
}

// process is one member: replica and home. It is the Env of its home, and does what this makes ready.
type process struct {
	*cluster
	id       uint16
	store    *fakeStore
	acceptor *Acceptor
	home     *Home
	loop     []Message // replies of the own replica, not handled yet
	ready    Ready
	away     []*Evaluation // that have not been run
	slow     bool          // run leaves loop alone
	// unreadable is what executing a command finds of a state.
	unreadable error
}

// cluster is one slot with its members. Nothing moves unless a test says so.
type cluster struct {
	t         require.TestingT
	wall      int64
	mono      int64
	processes []*process // by ID - 1
	mail      []Message  // sent and not delivered
	sent      []Message  // everything that was ever sent to others
	dead      map[uint16]bool
	behind    map[uint16]bool
	connected map[uint16]int64 // since when its connection is there
	stable    map[uint16]bool
	full      map[uint16]bool
	leaving   map[uint16]bool
	standIn   map[uint16]uint16 // as a process learned when it came back
	events    map[Event]int
	instant   bool
	stuck     Kind // run leaves requests of this kind alone
	missed    []string
}

var testTiming = Timing{Resend: 100, Acquire: 150, Patience: 1200, Backoff: 1, Request: 1500, Linger: 1000, HandBack: 200}

// newCluster returns processes 1 to size. The slot's replicas are all of them, the
// first one preferred as home.
func newCluster(t require.TestingT, size int) *cluster {
	c := &cluster{t: t, wall: 1_000_000, mono: 1, dead: map[uint16]bool{}, behind: map[uint16]bool{}, connected: map[uint16]int64{}, stable: map[uint16]bool{}, full: map[uint16]bool{}, leaving: map[uint16]bool{}, standIn: map[uint16]uint16{}, events: map[Event]int{}}
	var members []uint16
	for id := uint16(1); int(id) <= size; id++ {
		members = append(members, id)
	}
	config := NewConfig(1, members, nil)
	for _, id := range members {
		p := &process{cluster: c, id: id, store: &fakeStore{records: map[string]record.Record{}}}
		c.processes = append(c.processes, p)
		p.start(config, uint64(id))
	}
	return c
}

// start starts a process, or starts it again with what its store holds.
func (p *process) start(config *Config, unique uint64) {
	acceptor, err := NewAcceptor(0, p.store, datatype.Apply)
	require.NoError(p.t, err)
	p.acceptor = &acceptor
	home := NewHome(p, &testTiming, 0, p.id, record.NewIncarnation(unique, p.id), config, p.acceptor)
	p.home, p.loop = &home, nil
}

func (c *cluster) process(id uint16) *process { return c.processes[id-1] }
func (c *cluster) home(id uint16) *Home       { return c.process(id).home }

func (p *process) Rand(int64) int64         { return 0 }
func (p *process) Alive(member uint16) bool { return !p.dead[member] }
func (p *process) Behind(member uint16, since int64) bool {
	return p.behind[member] && p.connected[member] <= since
}
func (p *process) Stable(member uint16) bool  { return p.stable[member] }
func (p *process) Leaving(member uint16) bool { return p.leaving[member] }
func (p *process) StandIn(_, _ uint16) uint16 { return p.standIn[p.id] }

func (p *process) moment() Moment {
	return Moment{Now: p.wall, Mono: p.mono, Full: p.full[p.id], Instant: p.instant}
}

// step lets something happen to the home.
func (p *process) step(in Input) {
	in.Moment = p.moment()
	p.home.Step(&in, &p.ready)
	p.persist()
	p.act()
}

// persist has written what the own replica wants to have persisted.
func (p *process) persist() {
	for p.ready.Write.Wanted() {
		in := Input{Moment: p.moment(), Happening: Persisted, Err: p.ready.Write.To(p.store)}
		p.home.Step(&in, &p.ready)
	}
}

// execute has a replica execute a request, and what it wants to have persisted written.
func execute(a *Acceptor, m, reply *Message) error {
	var w Write
	if err := a.Step(m, reply, &w); err != nil {
		return err
	}
	return persist(a, &w)
}

func persist(a *Acceptor, w *Write) error {
	if !w.Wanted() {
		return nil
	}
	return a.Persisted(w, w.To(a.store.(*fakeStore)))
}

// adopt raises a replica's epoch.
func adopt(a *Acceptor, epoch uint64) (bool, error) {
	var w Write
	current := a.Adopt(epoch, &w)
	return current, persist(a, &w)
}

// fence has a replica promise the ballot of a rebuild.
func fence(a *Acceptor, epoch uint64, b record.Ballot) (bool, error) {
	var w Write
	current, err := a.Fence(epoch, b, &w)
	if err != nil {
		return false, err
	}
	return current, persist(a, &w)
}

// rebuilt has written what a rebuild wants to have persisted, if there was no error.
func rebuilt(r *Rebuild, err error) error {
	if err != nil || !r.Write.Wanted() {
		return err
	}
	return r.Persisted(r.Write.To(r.home.local.store.(*fakeStore)))
}

func (p *process) reply(m *Message) { p.step(Input{Happening: Replied, Reply: m}) }
func (p *process) learn(c *Config)  { p.step(Input{Happening: Learned, Config: c}) }
func (p *process) tick()            { p.step(Input{Happening: Tick}) }

// stepDown has the home give up its term.
func (p *process) stepDown() {
	now := p.moment()
	p.home.in, p.home.out = &now, &p.ready
	p.home.stepDown()
	p.act()
}

// rebuild begins to rebuild the process' replica.
func (p *process) rebuild() (*Rebuild, error) {
	r, err := p.home.Rebuild(&p.ready)
	p.act()
	if err != nil {
		return nil, err
	}
	return r, rebuilt(r, nil)
}

// act does what is ready.
func (p *process) act() {
	for i := range p.ready.Messages {
		out := &p.ready.Messages[i]
		for _, id := range out.To {
			if m := copyOf(&out.Message); id != p.id {
				m.To = id
				p.mail, p.sent = append(p.mail, m), append(p.sent, copyOf(&m))
			}
		}
	}
	for _, answered := range p.ready.Answers {
		a := answered.Answer
		a.Reply = slices.Clone(a.Reply)
		asked, ok := answered.Request.Origin.(*asked)
		require.True(p.t, ok, "answered after it went back to the pool")
		asked.answers = append(asked.answers, a)
		require.Len(p.t, asked.answers, 1, "answered twice: %s", asked.command)
	}
	p.away = append(p.away, p.ready.Evaluations...)
	for _, m := range p.ready.Missed {
		require.Zero(p.t, m.Slot)
		require.NotEqual(p.t, p.id, m.Member)
		what := string(m.Key)
		if m.Key == nil {
			what = "all keys"
		}
		p.missed = append(p.missed, fmt.Sprintf("%d %s", m.Member, what))
	}
	for _, e := range p.ready.Events {
		p.events[e]++
	}
	for i := range p.ready.Votes {
		p.loop = append(p.loop, copyOf(&p.ready.Votes[i]))
	}
	p.ready.Reset()
}

func (p *process) Execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect, error) {
	if req.Op == command.OpClear {
		return append(dst, "+OK\r\n"...), record.Effect{Kind: record.Replaced}, nil
	}
	if req.Op == opAgain {
		return dst, datatype.WriteAgain(st), nil
	}
	dst, effect := datatype.Execute(dst, st, req, now)
	return dst, effect, p.unreadable
}

func copyOf(m *Message) Message {
	c := *m
	c.Key, c.Delta = slices.Clone(m.Key), slices.Clone(m.Delta)
	c.State.Value, c.Found.Value = slices.Clone(m.State.Value), slices.Clone(m.Found.Value)
	return c
}

// asked is a command that was given to a home, and what came back.
type asked struct {
	command string
	answers []Answer
}

// opAgain writes a key again as it is, as a repair does.
const opAgain command.Op = 1 << 15

var opsByName = map[string]command.Op{"get": command.OpGet, "set": command.OpSet, "setnx": command.OpSetNX,
	"append": command.OpAppend, "del": command.OpDel, "hset": command.OpHSet, "hget": command.OpHGet, "psetex": command.OpPSetEX, "clear": command.OpClear, "again": opAgain}

// ask gives a command to a home.
func (c *cluster) ask(id uint16, words string) *asked { return c.give(id, words, 0) }

// force is ask for a proxy that cannot reach the leader.
func (c *cluster) force(id uint16, words string) *asked { return c.give(id, words, AllOthers) }

// exceptions are what a request may come with.
var exceptions = []uint16{0, AllOthers, 1, 2, 3}

func (c *cluster) give(id uint16, words string, except uint16) *asked {
	a := &asked{command: words}
	c.process(id).step(Input{Happening: Asked, Request: NewRequest(commandOf(c.t, words), a, 0, c.mono), Except: except})
	return a
}

// commandOf is a command, words between spaces.
func commandOf(t require.TestingT, words string) *command.Request {
	var args [][]byte
	for word := range strings.FieldsSeq(words) {
		args = append(args, []byte(word))
	}
	op, known := opsByName[string(args[0])]
	require.True(t, known, words)
	return &command.Request{Op: op, Args: args}
}

func (c *cluster) open(requests ...*asked) {
	helper(c.t)
	for _, a := range requests {
		require.Empty(c.t, a.answers, "answered already: %s", a.command)
	}
}

func (c *cluster) done(a *asked, reply string) {
	helper(c.t)
	require.Equal(c.t, []Answer{{Outcome: Done, Reply: []byte(reply)}}, a.answers, a.command)
}

func (c *cluster) failed(a *asked, outcome Outcome, reason Reason, hint uint16) {
	helper(c.t)
	require.Equal(c.t, []Answer{{Outcome: outcome, Reason: reason, Hint: hint}}, a.answers, a.command)
}

func helper(t require.TestingT) {
	if t, ok := t.(testing.TB); ok {
		t.Helper()
	}
}

// deliver hands a message to its receiver; a reply to a request is sent back.
func (c *cluster) deliver(m Message) {
	p := c.process(m.To)
	if m.Reply {
		p.reply(&m)
		return
	}
	var reply Message
	if err := execute(p.acceptor, &m, &reply); err == nil {
		c.mail = append(c.mail, copyOf(&reply))
	}
}

// run delivers all messages among some members, all members if none is named, until
// they are quiet.
func (c *cluster) run(among ...uint16) {
	in := func(id uint16) bool { return len(among) == 0 || slices.Contains(among, id) }
	for steps := 0; ; steps++ {
		require.Less(c.t, steps, 10_000, "they never become quiet")
		if p := c.withLoop(in); p != nil {
			m := p.loop[0]
			p.loop = p.loop[1:]
			p.reply(&m)
			continue
		}
		m, ok := c.take(func(m *Message) bool { return in(m.From) && in(m.To) && (m.Reply || m.Kind != c.stuck) })
		if !ok {
			return
		}
		c.deliver(m)
	}
}

func (c *cluster) withLoop(in func(uint16) bool) *process {
	for _, p := range c.processes {
		if in(p.id) && !p.slow && len(p.loop) > 0 {
			return p
		}
	}
	return nil
}

// take removes the first message that fits from the mail.
func (c *cluster) take(fits func(*Message) bool) (Message, bool) {
	for i := range c.mail {
		if fits(&c.mail[i]) {
			m := c.mail[i]
			c.mail = slices.Delete(c.mail, i, i+1)
			return m, true
		}
	}
	return Message{}, false
}

// one delivers the first request of a kind to a member, and returns the reply
// instead of sending it.
func (c *cluster) one(kind Kind, to uint16) Message {
	helper(c.t)
	m, ok := c.take(func(m *Message) bool { return !m.Reply && m.Kind == kind && m.To == to })
	require.True(c.t, ok, "no %v for %d", kind, to)
	c.deliver(m)
	reply, ok := c.take(func(r *Message) bool { return r.Reply && r.Kind == kind && r.From == to && r.Round == m.Round })
	require.True(c.t, ok)
	return reply
}

// propose runs the cluster until what was asked has been proposed, and holds the
// proposals.
func (c *cluster) propose() {
	c.stuck = Accept
	c.run()
	c.stuck = 0
}

// lose forgets everything that is on its way.
func (c *cluster) lose() { c.mail = nil }

// advance lets time pass and homes look after their work.
func (c *cluster) advance(milliseconds int64) {
	c.wall += milliseconds
	c.mono += milliseconds
	for _, p := range c.processes {
		p.tick()
	}
}

// lead makes a process the home of the slot.
func (c *cluster) lead(id uint16) {
	helper(c.t)
	a := c.force(id, "set warm up")
	c.run()
	c.done(a, "+OK\r\n")
	require.True(c.t, c.home(id).Leading())
	c.sent, c.events = nil, map[Event]int{}
}

// rival is a ballot of another process, above all that were used.
func rival(member uint16) record.Ballot {
	return record.Ballot{Counter: 100, Incarnation: record.NewIncarnation(99, member)}
}

// by hands a message of a home that is not simulated to some members' replicas.
func (c *cluster) by(m Message, members ...uint16) {
	helper(c.t)
	m.Epoch, m.Version.Ballot = 1, m.Ballot
	for _, id := range members {
		m.To = id
		var reply Message
		require.NoError(c.t, execute(c.process(id).acceptor, &m, &reply))
		require.Equal(c.t, OK, reply.Result)
	}
}

// write is an Accept of a whole value.
func write(b record.Ballot, seq uint64, key, value string) Message {
	return Message{Kind: Accept, Ballot: b, Version: record.Version{Seq: seq}, Change: record.Change{Key: []byte(key), State: text(value)}}
}

// text is the state of a string; the empty one stands for a deleted key.
func text(value string) record.State {
	if value == "" {
		return record.State{}
	}
	return record.State{Type: record.String, Value: []byte(value)}
}

// kinds names the kinds of what was sent to one member, in order, and forgets it.
func (c *cluster) kinds(to uint16) string {
	var names []string
	for _, m := range c.sent {
		if m.To == to {
			names = append(names, m.Kind.String())
		}
	}
	c.sent = nil
	return strings.Join(names, " ")
}

// value returns what a replica holds of a key.
func (c *cluster) value(id uint16, key string) string {
	return string(c.process(id).store.records[key].State.Value)
}

// long is a value to which a command with little effect makes a delta.
var long = strings.Repeat("x", 1000)

func appendRequest(suffix string) *command.Request {
	return &command.Request{Op: command.OpAppend, Args: [][]byte{[]byte("append"), []byte("k"), []byte(suffix)}}
}
