package consensus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refound founds the group again with the survivor as its only voter whose log goes furthest, and with all that is in it, as package node does.
func (s *sim) refound() *simNode {
	s.t.Helper()
	var founder *simNode
	var furthest Position
	replays := map[*simNode]*machine{}
	for _, n := range s.nodes {
		if !n.up || n.lost || n.knows < s.newest() {
			continue
		}
		m := &machine{}
		at, err := n.core.replay(m)
		require.NoError(s.t, err)
		replays[n] = m
		if at != (Position{}) && (founder == nil || at.Compare(furthest) > 0) {
			founder, furthest = n, at
		}
	}
	if founder == nil {
		return nil
	}
	base, old := replays[founder].log, s.histories[founder.knows]
	for text, err := range s.outcomes {
		_, acknowledged := old.at[text]
		for n, m := range replays {
			if acknowledged && err == nil && m.has(text) && !replays[founder].has(text) {
				s.fail("%q is acknowledged, and %s (%d) has it, but the group is founded again without", text, n.name, n.id)
			}
		}
	}
	number := s.newest() + 10
	base = append(slices.Clone(base), logged{0, fmt.Sprintf("founded again: %d", number)})
	snapshot, err := json.Marshal(base)
	require.NoError(s.t, err)
	s.histories[number] = newHistory(base)
	founder.begin(number, &Initial{Voters: []uint64{founder.id}, Snapshot: snapshot})
	return founder
}

// newest is the newest group of the formation.
func (s *sim) newest() (newest uint64) {
	for number := range s.histories {
		newest = max(newest, number)
	}
	return newest
}

// learn has a node hear of a newer group: it begins in that one, as somebody who has never voted.
func (n *simNode) learn(number uint64) {
	if n.up && n.knows < number {
		n.begin(number, nil)
	}
}

func (n *simNode) begin(number uint64, initial *Initial) {
	n.down()
	n.knows, n.initial = number, initial
	n.start()
	n.initial = nil
}

// spread lets nodes hear of newer groups from others that they reach, now and then, as they hear of the ring.
func (s *sim) spread() {
	n, m := s.nodes[s.random.IntN(len(s.nodes))], s.nodes[s.random.IntN(len(s.nodes))]
	if m.up && !s.cut[[2]uint64{m.id, n.id}] {
		n.learn(m.knows)
	}
	s.after(time.Duration(s.random.IntN(500))*time.Millisecond, s.spread)
}

// strike stops so many voters that the others are no majority. Some of them are gone for good, others come back some time, knowing nothing of what came after.
func (s *sim) strike() bool {
	l := s.leader()
	if l == nil || l.knows != s.newest() || len(l.core.conf.VotersOutgoing) > 0 || len(l.core.conf.Voters) < 3 {
		return false
	}
	voters := slices.Clone(l.core.conf.Voters)
	s.random.Shuffle(len(voters), func(i, j int) { voters[i], voters[j] = voters[j], voters[i] })
	for _, n := range s.nodes {
		if !slices.Contains(voters[:len(voters)/2+1], n.id) || n.lost {
			continue
		}
		n.stop()
		if s.random.IntN(2) == 0 {
			n.lost = true
			s.leave(n)
		} else {
			s.after(time.Duration(s.random.IntN(20_000))*time.Millisecond, n.restart)
		}
	}
	return true
}

// TestRandomRefounding: majorities are lost, and the group is founded again while those that are thought to be gone come back. Each group has one log, which begins
// with whatever was acknowledged and a survivor has; and in the end everybody is in the newest one.
func TestRandomRefounding(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+uint64(*seeds); seed++ {
		s := newSim(t, seed, "a", "b", "c", "a", "b", "c", "a")
		s.spread()
		founded := 0
		for range 4 {
			s.schedule(10 * time.Second)
			if len(s.members) < 5 {
				s.join(fmt.Sprintf("n%d", s.nextID+1), "a")
			}
			if !s.strike() {
				continue
			}
			s.run(time.Duration(s.random.IntN(3000)) * time.Millisecond)
			for s.refound() == nil { // no survivor runs just now
				s.run(time.Second)
			}
			founded++
			for s.random.IntN(4) == 0 { // another operator does it, too
				s.run(time.Duration(s.random.IntN(2000)) * time.Millisecond)
				s.refound()
			}
		}
		s.recover()
		for _, n := range s.nodes {
			if n.up && n.knows != s.newest() {
				s.fail("%s (%d) has not heard of group %d, and is in %d", n.name, n.id, s.newest(), n.knows)
			}
		}
		if s.checkAll(); len(s.wrong) > 0 {
			t.Fatalf("seed %d is wrong; replay: go test ./node/consensus -run TestRandomRefounding -seed %d -seeds 1\n%s", seed, seed, strings.Join(s.wrong, "\n"))
		}
		t.Logf("seed %d: founded %d times", seed, founded)
	}
}

// TestOfTwoLogs the one of the later term has all that was decided, however long the other one is.
func TestOfTwoLogs(t *testing.T) {
	s := three(t)
	old := s.elect()
	s.decide(old, "one")
	s.isolate(old)
	for i := range 5 {
		old.propose(fmt.Sprintf("nothing %d", i))
	}
	require.True(t, s.until(time.Minute, func() bool { return s.leader() != nil && s.leader() != old && !old.leads }))
	decided := s.leader()
	s.decide(decided, "two")
	long, short := &machine{}, &machine{}
	at, err := old.core.replay(long)
	require.NoError(t, err)
	of, err := decided.core.replay(short)
	require.NoError(t, err)
	require.Greater(t, len(long.log), len(short.log))
	require.Equal(t, 1, of.Compare(at))
	require.Equal(t, []string{"one", "two"}, short.texts())
	require.Equal(t, []string{"one"}, old.texts(), "the machine of the group is not told")

	outside := newSim(t, 1, "", "", "").join("n4", "")
	at, err = outside.core.replay(&machine{})
	require.NoError(t, err)
	require.Zero(t, at)
}

// TestTheNewGroupIsThereAfterAPowerCut: or the old one, and never half of it.
func TestTheNewGroupIsThereAfterAPowerCut(t *testing.T) {
	s := three(t)
	founder := s.elect()
	s.decide(founder, "one")
	for _, n := range s.others(founder) {
		n.stop()
		n.lost = true
	}
	require.Equal(t, founder, s.refound())
	s.decide(s.elect(), "two")
	founder.stop()
	founder.knows = 0 // its document was not saved yet
	storage, err := Open(founder.disk, founder.id)
	require.NoError(t, err)
	cfg := founder.config()
	cfg.Storage, founder.machine = storage, &machine{}
	cfg.Machine = founder.machine
	c, err := newCore(cfg, s.now)
	require.NoError(t, err)
	require.Equal(t, s.newest(), c.refounded)
	require.Contains(t, founder.texts(), "one")
	require.NotEqual(t, c.cfg.Formation, c.voters().Formation)
}
