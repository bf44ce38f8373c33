package sim

import (
	"container/heap"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

// scenario is a cluster without clients and faults, whose replicas are told one by one what homes would tell
// them. All is about key b.
type scenario struct {
	*Sim
	t *testing.T
}

func newScenario(t *testing.T, members int) scenario {
	seed := int64(1)
	if members == 5 {
		seed = 4
	}
	s := scenario{New(Options{Mode: "calm", Seed: seed, Clients: 1}), t}
	s.clients[0].left = 0
	require.Len(t, s.latest().members, members)
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
		m.Epoch, m.From, m.To, m.Key = epoch, m.Ballot.Member(), id, []byte("b")
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

// unreachable says which members the control plane cannot reach from now on.
func (s scenario) unreachable(members ...uint16) {
	clear(s.blocked)
	for _, id := range members {
		s.blocked[[2]uint16{0, id}] = true
	}
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
	require.Nil(s.t, s.change)
	require.False(s.t, s.latest().joint())
}

// held returns what a member holds durably.
func (s scenario) held(id uint16) record.Record {
	im := &s.nodes[id].store.durable.slots[0]
	if rec, ok := im.records["b"]; ok {
		return rec
	}
	return record.Record{Version: im.meta.Cleared}
}

// readable returns what a majority of the members hold in one version, which clients are answered (R10).
func (s scenario) readable() (record.Record, bool) {
	votes := map[record.Version]int{}
	for _, id := range s.latest().members {
		rec := s.held(id)
		if votes[rec.Version]++; votes[rec.Version] == quorum.Majority(len(s.latest().members)) {
			return rec, true
		}
	}
	return record.Record{}, false
}

// requireNoMajorityWithout demands that every majority of the members has one that holds v or something later.
func (s scenario) requireNoMajorityWithout(v record.Version) {
	s.t.Helper()
	without := 0
	for _, id := range s.latest().members {
		s.t.Logf("node %d: %v %s", id, s.held(id).Version, show(s.held(id).State))
		if s.held(id).Version.Less(v) {
			without++
		}
	}
	require.Less(s.t, without, quorum.Majority(len(s.latest().members)), "a majority holds nothing of %v, which was acknowledged", v)
}

// requireNothingBesides demands that what is readable is the beginning of all that is newer: nothing is found later that
// was not built on what clients may have read.
func (s scenario) requireNothingBesides() {
	s.t.Helper()
	read, ok := s.readable()
	for _, id := range s.latest().members {
		rec := s.held(id)
		s.t.Logf("node %d: %v %s", id, rec.Version, show(rec.State))
		if ok && read.Version.Less(rec.Version) {
			require.Contains(s.t, show(rec.State), show(read.State), "%v is readable, and node %d holds %v, which knows nothing of it", read.Version, id, rec.Version)
		}
	}
}
