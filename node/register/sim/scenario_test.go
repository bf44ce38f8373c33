package sim

import (
	"container/heap"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/lineage"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

// scenario is a cluster without clients and faults, whose replicas are told one by one what homes would tell
// them. All is about one key of slot 0, which is the only one that changes its members.
type scenario struct {
	*Sim
	t   *testing.T
	key string
}

func newScenario(t *testing.T, members int) scenario {
	s := scenario{New(Options{Mode: "calm", Seed: 1, Clients: 1, Members: members}), t, "b"}
	s.clients[0].left = 0
	return s
}

// ballot is one of the home of a member.
func ballot(counter uint64, member uint16) record.Ballot {
	return record.Ballot{Counter: counter, Incarnation: record.NewIncarnation(1, member)}
}

// tell delivers a request to some members, and returns the last one's reply.
func (s scenario) tell(m register.Message, epoch uint64, members ...uint16) (reply register.Message) {
	for _, id := range members {
		n := s.nodes[id]
		m.Epoch, m.From, m.To, m.Key = epoch, m.Ballot.Member(), id, []byte(s.key)
		require.NoError(s.t, n.serve(&m, &reply))
		n.store.commit(n.store.stagedAt)
	}
	return reply
}

func prepare(b record.Ballot) register.Message {
	return register.Message{Kind: register.Prepare, Ballot: b}
}

func syncRead(b record.Ballot) register.Message {
	return register.Message{Kind: register.SyncRead, Ballot: b}
}

// write is an Accept of a value, "" for a tombstone.
func write(v record.Version, value string) register.Message {
	m := register.Message{Kind: register.Accept, Ballot: v.Ballot, Version: v}
	if value != "" {
		m.State = record.State{Type: record.String, Value: []byte(value)}
	}
	return m
}

func clearing(v record.Version) register.Message {
	return register.Message{Kind: register.Clear, Ballot: v.Ballot, Version: v}
}

func purge(v record.Version) register.Message {
	return register.Message{Kind: register.Purge, Ballot: v.Ballot, Version: v}
}

// quiet says which old members show nothing of what they hold from now on.
func (s scenario) quiet(members ...uint16) {
	s.silent = map[[2]uint16]bool{}
	for _, id := range members {
		for to := range uint16(len(s.nodes) + 3) {
			s.silent[[2]uint16{id, to}] = true
		}
	}
}

// change begins to change the members.
func (s scenario) change(next ...uint16) *transfer {
	for len(s.nodes) <= int(slices.Max(next)) {
		s.addNode(uint16(len(s.nodes)))
	}
	t := s.beginChange(0, next)
	if t != nil {
		t.step()
	}
	return t
}

// page has a member collect one page, from these old members only.
func (s scenario) page(who uint16, from ...uint16) *collection {
	s.t.Helper()
	e := s.latest(0)
	s.quiet(e.all()...)
	for _, id := range from {
		delete(s.silent, [2]uint16{id, who})
	}
	for range 500 {
		before := 0
		if c := s.nodes[who].collecting[0]; c != nil && c.epoch == e {
			before = c.page
		}
		s.runFor(1)
		if c := s.nodes[who].collecting[0]; c != nil && c.epoch == e && c.page > before {
			s.quiet(e.all()...)
			return c
		}
	}
	s.t.Fatal("the page is not collected")
	return nil
}

// runFor runs what is going on for a while.
func (s scenario) runFor(time int) {
	end := s.now + time
	for len(s.queue) > 0 && s.queue[0].time <= end {
		e := heap.Pop(&s.queue).(event)
		s.now = e.time
		e.run()
	}
	s.now = end
}

// complete runs until the change is over.
func (s scenario) complete() {
	s.runFor(2000)
	require.Nil(s.t, s.changes[0])
	require.False(s.t, s.latest(0).joint())
}

// held returns what a member holds durably.
func (s scenario) held(id uint16) record.Record {
	im := &s.nodes[id].store.durable.slots[0]
	if rec, ok := im.records[s.key]; ok {
		return rec
	}
	return record.Record{Version: im.meta.Cleared}
}

// readable returns what a majority of the members hold in one version, which clients are answered (R10).
func (s scenario) readable() (record.Record, bool) {
	votes := map[record.Version]int{}
	for _, id := range s.latest(0).members {
		rec := s.held(id)
		if _, sure := s.nodes[id].durableVersion(lineage.Key{Key: s.key}); !sure {
			continue
		}
		if votes[rec.Version]++; votes[rec.Version] == quorum.Majority(len(s.latest(0).members)) {
			return rec, true
		}
	}
	return record.Record{}, false
}

// requireNoMajorityWithout demands that every majority of the members has one that holds v or something later.
func (s scenario) requireNoMajorityWithout(v record.Version) {
	s.t.Helper()
	without := 0
	for _, id := range s.latest(0).members {
		s.t.Logf("node %d: %v %s", id, s.held(id).Version, show(s.held(id).State))
		if s.held(id).Version.Less(v) {
			without++
		}
	}
	require.Less(s.t, without, quorum.Majority(len(s.latest(0).members)), "a majority holds nothing of %v, which was acknowledged", v)
}

// requireNothingBesides demands that what is readable is the beginning of all that is newer: nothing is found later that
// was not built on what clients may have read.
func (s scenario) requireNothingBesides() {
	s.t.Helper()
	read, ok := s.readable()
	for _, id := range s.latest(0).members {
		rec := s.held(id)
		s.t.Logf("node %d: %v %s", id, rec.Version, show(rec.State))
		if ok && read.Version.Less(rec.Version) {
			require.Contains(s.t, show(rec.State), show(read.State), "%v is readable, and node %d holds %v, which knows nothing of it", read.Version, id, rec.Version)
		}
	}
}
