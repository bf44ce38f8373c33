package consensus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// three is a group of three voters.
func three(t *testing.T) *sim { return newSim(t, 1, "", "", "") }

func (s *sim) others(not *simNode) []*simNode {
	return slices.DeleteFunc(slices.Clone(s.nodes), func(n *simNode) bool { return n == not })
}

func TestAnotherLeader(t *testing.T) {
	s := three(t)
	first := s.elect()
	s.decide(first, "one")
	first.stop()
	require.True(t, s.until(2*first.core.cfg.election(), func() bool { return s.leader() != nil }))
	s.decide(s.leader(), "two")
	first.start()
	require.True(t, s.until(5*time.Second, func() bool { return first.has("one") && first.has("two") }))
	s.requireRight()
}

func TestRestartOfAll(t *testing.T) {
	s := three(t)
	s.decide(s.elect(), "one")
	for _, n := range s.nodes {
		n.stop()
	}
	for _, n := range s.nodes {
		n.start()
	}
	s.decide(s.elect(), "two")
	require.True(t, s.until(time.Second, s.settled))
	s.requireRight()
}

func TestAMinorityDecidesNothing(t *testing.T) {
	s := three(t)
	old := s.elect()
	s.decide(old, "one")
	s.isolate(old)
	require.True(t, s.until(old.core.cfg.election(), func() bool { return !old.leads }), "a leader without a majority leads")
	require.True(t, s.until(old.core.cfg.election(), func() bool { return s.leader() != nil }))
	s.run(old.core.cfg.election()) // what was heard from them is no longer of late
	old.propose("nothing")
	s.decide(s.leader(), "two")
	s.run(old.core.cfg.Patience)
	err := s.outcomes["nothing"]
	require.ErrorIs(t, err, ErrNoLeader)
	silent := s.others(old)
	require.EqualError(t, err, fmt.Sprintf("the ring cannot be changed now: a majority of the Raft group n1, n2, n3 is needed: %s, %s do not answer", silent[0].name, silent[1].name))
	term := s.leader().core.node.BasicStatus().GetTerm()
	s.heal()
	require.True(t, s.until(5*time.Second, s.settled))
	require.Equal(t, term, s.leader().core.node.BasicStatus().GetTerm(), "who comes back has disturbed the group")
	s.requireRight()
}

func TestALeaderThatIsNotHeardBy(t *testing.T) {
	for name, cut := range map[string]func(leader, other *simNode) [2]uint64{
		"it hears nobody": func(l, o *simNode) [2]uint64 { return [2]uint64{o.id, l.id} },
		"nobody hears it": func(l, o *simNode) [2]uint64 { return [2]uint64{l.id, o.id} },
	} {
		t.Run(name, func(t *testing.T) {
			s := three(t)
			old := s.elect()
			for _, other := range s.others(old) {
				s.cut[cut(old, other)] = true
			}
			require.True(t, s.until(2*old.core.cfg.election(), func() bool { return s.leader() != nil && s.leader() != old }))
			s.decide(s.leader(), "one")
			s.requireRight()
		})
	}
}

func TestNodesThatDoNotVotePropose(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	outside := s.nodes[3]
	s.elect()
	s.decide(outside, "one")
	require.Empty(t, outside.log)
	require.Equal(t, []uint64{1, 2, 3}, outside.core.voters().IDs)
	long := strings.Repeat("long ", 4000)
	s.decide(outside, long)
	require.True(t, s.until(time.Second, func() bool { return s.nodes[0].has(long) && s.nodes[1].has(long) }))
	outside.propose("refuse")
	s.run(time.Second)
	require.ErrorIs(t, s.outcomes["refuse"], ErrRefused)
	require.ErrorContains(t, s.outcomes["refuse"], "the machine does not like it")
	outside.propose(strings.Repeat("x", outside.core.cfg.MaxEntry+1))
	require.ErrorIs(t, s.outcomes[strings.Repeat("x", outside.core.cfg.MaxEntry+1)], ErrTooLarge)
	for _, n := range s.nodes[:3] {
		n.stop()
	}
	s.run(time.Minute)
	outside.propose("two")
	s.run(outside.core.cfg.Patience)
	require.ErrorContains(t, s.outcomes["two"], "n1, n2, n3 do not answer")
	s.requireRight()
}

func TestProposalsWhoseAnswersAreLost(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	s.elect()
	s.twice = 100
	s.dropped = func(h header) bool { return h.kind == kindResult }
	s.nodes[3].propose("one")
	s.run(5 * time.Second)
	require.Greater(t, s.sent[kindPropose], 3)
	require.Contains(t, s.histories[0].at, "one")
	require.NotContains(t, s.outcomes, "one")
	s.elect().stop() // and another leader is asked
	s.run(2 * time.Second)
	s.dropped = nil
	require.True(t, s.until(10*time.Second, func() bool { _, done := s.outcomes["one"]; return done }))
	require.NoError(t, s.outcomes["one"])
	s.requireRight()
}

func TestAnUnknownOutcome(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	s.elect()
	s.dropped = func(h header) bool { return h.kind == kindResult }
	s.nodes[3].propose("one")
	s.run(11 * time.Second)
	require.ErrorIs(t, s.outcomes["one"], ErrUnknown)
	require.NotErrorIs(t, s.outcomes["one"], ErrNoLeader)
}

// TestACopyThatComesLate: a copy of a proposal comes when its outcome is forgotten.
func TestACopyThatComesLate(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	leader := s.elect()
	var late []byte
	s.inspect = func(_ *simNode, h header, body []byte) {
		if h.kind == kindPropose {
			late = slices.Clone(body)
		}
	}
	s.decide(s.nodes[3], "one")
	s.inspect = nil
	for i := range window + 10 {
		s.decide(leader, fmt.Sprint("later ", i))
	}
	_, known := leader.core.recent.find(request{s.nodes[3].core.session, 1})
	require.False(t, known)
	require.LessOrEqual(t, len(leader.core.recent.order), window+1)
	leader.core.accept(s.nodes[3].id, late)
	leader.call(leader.core.work)
	s.decide(leader, "last")
	s.requireRight()
}

// TestAProposalAfterManyOthers: who proposes now and then learns how long the log is by now.
func TestAProposalAfterManyOthers(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	leader := s.elect()
	s.decide(s.nodes[3], "one")
	for i := range window + 10 {
		s.decide(leader, fmt.Sprint("more ", i))
	}
	s.decide(s.nodes[3], "two")
	s.requireRight()
}

func TestACopyOfTheFormerLeader(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	old := s.elect()
	// The old leader has the proposal in its log, and nobody else.
	s.dropped = func(h header) bool { return h.kind == kindRaft && h.from == old.id }
	s.nodes[3].propose("one")
	require.True(t, s.until(10*time.Second, func() bool { return s.leader() != nil && s.leader() != old }))
	s.dropped = nil
	s.run(10 * time.Second)
	require.NoError(t, s.outcomes["one"])
	require.True(t, s.settled())
	s.requireRight()
}

func TestASnapshotForWhoIsFarBehind(t *testing.T) {
	s := three(t)
	leader := s.elect()
	behind := s.others(leader)[0]
	s.isolate(behind)
	for i := range 60 {
		s.decide(leader, fmt.Sprintf("%d %s", i, strings.Repeat(".", 300)))
	}
	s.heal()
	lost := 0
	s.dropped = func(h header) bool { // the first snapshot does not arrive
		if h.kind == kindPiece && lost < 3 {
			lost++
			return true
		}
		return false
	}
	require.True(t, s.until(30*time.Second, s.settled))
	require.Greater(t, s.sent[kindPiece], 20)
	behind.stop()
	behind.start()
	require.Len(t, behind.log, 60, "the snapshot was not stored")
	s.requireRight()
}

// TestALostSnapshotThatIsNeededToDecide: the leader and one more know everything, a majority needs one of two that need a snapshot.
func TestALostSnapshotThatIsNeededToDecide(t *testing.T) {
	s := newSim(t, 1, "", "", "", "", "")
	s.elect()
	behind := s.nodes[3:]
	s.isolate(behind...)
	s.run(3 * time.Second)
	for i := range 60 {
		s.decide(s.elect(), fmt.Sprintf("%d %s", i, strings.Repeat(".", 300)))
	}
	s.run(time.Second)
	s.nodes[2].stop()
	s.run(5 * time.Second)
	require.Nil(t, s.leader())
	s.heal()
	lost := 0
	s.dropped = func(h header) bool {
		if h.kind == kindPiece {
			lost++
		}
		return h.kind == kindPiece && lost < 100
	}
	require.True(t, s.until(40*time.Second, func() bool { return s.leader() != nil }), "nobody decides")
	require.Greater(t, lost, 100)
	s.decide(s.leader(), "one")
	s.requireRight()
}

// TestOutcomesOutliveSnapshots: what was applied is known after a restart from a snapshot.
func TestOutcomesOutliveSnapshots(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	leader := s.elect()
	s.dropped = func(h header) bool { return h.kind == kindResult }
	s.nodes[3].propose("one")
	for i := range 50 {
		s.decide(leader, fmt.Sprint("more ", i))
	}
	for _, n := range s.nodes[:3] {
		n.stop()
	}
	for _, n := range s.nodes[:3] {
		require.NotZero(t, n.core.snapshotAt)
		n.start()
	}
	s.dropped = nil
	require.True(t, s.until(10*time.Second, func() bool { _, done := s.outcomes["one"]; return done }))
	require.NoError(t, s.outcomes["one"])
	s.requireRight()
}

// TestAVoterLearnsFirst: a new node that cannot be reached does not take the place of one that leaves.
func TestAVoterLearnsFirst(t *testing.T) {
	s := three(t)
	leader := s.elect()
	unreachable := s.join("n4", "")
	s.isolate(unreachable)
	s.leave(s.others(leader)[0])
	s.run(30 * time.Second)
	require.Equal(t, []uint64{unreachable.id}, leader.core.conf.Learners)
	require.NotContains(t, leader.core.conf.Voters, unreachable.id, "it votes and has nothing")
	s.decide(leader, "one")
	s.heal()
	require.True(t, s.until(30*time.Second, s.settled))
	require.True(t, unreachable.has("one"))
	s.requireRight()
}

func TestMessagesForAFormerLife(t *testing.T) {
	s := three(t)
	n := s.elect()
	s.run(time.Second)
	ask := func(from, to uint64) (answers int) {
		s.inspect = func(_ *simNode, h header, _ []byte) {
			if h.kind == kindTold {
				answers++
			}
		}
		require.NoError(t, n.core.receive(s.now, header{kindAsk, from, to, 0}.append(nil)))
		return answers
	}
	require.Equal(t, 1, ask(9, n.id))
	require.Zero(t, ask(9, n.id+100), "what is meant for another life of the node was taken")
	require.Zero(t, ask(n.id, n.id))
	require.NoError(t, n.core.receive(s.now, []byte{1, 2, 3}))
}

func TestALostStorageIsAnotherNode(t *testing.T) {
	s := three(t)
	s.decide(s.elect(), "one")
	for _, n := range s.members {
		again := s.forget(n)
		require.True(t, s.until(time.Minute, s.settled), "%s is no voter again", n.name)
		require.True(t, again.has("one"))
		require.NotContains(t, s.leader().core.members(), n.id)
	}
	s.decide(s.leader(), "two")
	s.requireRight()
}

func TestAllVotersAreReplaced(t *testing.T) {
	s := newSim(t, 1, "a", "b", "c", "a", "b", "c", "a")
	require.True(t, s.until(time.Minute, s.settled))
	first := s.elect().core.members()
	require.Len(t, first, MaxVoters)
	for i, n := range s.members {
		if !slices.Contains(first, n.id) {
			continue
		}
		s.decide(s.elect(), fmt.Sprint(i))
		s.join(fmt.Sprintf("m%d", i), n.rack)
		s.leave(n)
		require.True(t, s.until(time.Minute, s.settled))
		n.stop()
	}
	voters := s.elect().core.conf.Voters
	require.Len(t, voters, MaxVoters)
	require.Empty(t, slices.DeleteFunc(slices.Clone(voters), func(id uint64) bool { return !slices.Contains(first, id) }))
	s.decide(s.elect(), "last")
	require.True(t, s.until(time.Second, s.settled))
	s.requireRight()
}

func TestADeadVoterIsReplaced(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	dead := s.others(s.elect())[0]
	dead.stop()
	after := dead.core.cfg.ReplaceAfter
	s.run(after - time.Second)
	require.Contains(t, s.elect().core.conf.Voters, dead.id, "it may come back")
	require.True(t, s.until(10*time.Second, s.settled))
	require.Equal(t, slices.DeleteFunc([]uint64{1, 2, 3, 4}, func(id uint64) bool { return id == dead.id }), s.elect().core.conf.Voters)

	// It comes back, hears of it, and lets the others alone.
	dead.start()
	s.sent = map[kind]int{}
	dead.core.hear(s.elect().core.voters())
	s.inspect = func(n *simNode, h header, _ []byte) {
		if n == dead && h.kind == kindRaft {
			s.fail("%s asks for votes", n.name)
		}
	}
	s.run(time.Minute)
	s.requireRight()
}

func TestALeaderThatLeavesHandsOver(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	old := s.elect()
	s.leave(old)
	without := time.Duration(0)
	for range 200 {
		if s.leader() == nil {
			without += 50 * time.Millisecond
		}
		s.run(50 * time.Millisecond)
	}
	require.True(t, s.settled())
	require.NotContains(t, s.leader().core.members(), old.id)
	require.LessOrEqual(t, without, 200*time.Millisecond, "it did not hand over")
	s.requireRight()
}

func TestTheOnlyVoterLeaves(t *testing.T) {
	s := newSim(t, 1, "")
	old := s.elect()
	s.decide(old, "one")
	another := s.join("n2", "")
	require.True(t, s.until(time.Minute, s.settled))
	require.Equal(t, []uint64{1, 2}, old.core.conf.Voters)
	s.leave(old)
	require.True(t, s.until(time.Minute, s.settled))
	require.Equal(t, another, s.leader())
	s.decide(another, "two")
	s.requireRight()
}

// TestNoChangeThatTheRestCannotBear: of five voters two are away for a moment, when a third one leaves the ring. Three of the four that stay are needed.
func TestNoChangeThatTheRestCannotBear(t *testing.T) {
	s := newSim(t, 1, "", "", "", "", "")
	leader := s.elect()
	away := s.others(leader)[:2]
	for _, n := range away {
		n.stop()
	}
	s.run(leader.core.cfg.election())
	s.leave(s.others(leader)[2])
	s.run(10 * time.Second)
	s.decide(leader, "one")
	for _, n := range away {
		n.start()
	}
	require.True(t, s.until(time.Minute, s.settled))
	require.Len(t, s.leader().core.conf.Voters, 3)
	s.requireRight()
}

// TestNoChangeByALeaderThatKnowsNobody: the same, but the leader has died with another one, and the new one has yet to hear who is there.
func TestNoChangeByALeaderThatKnowsNobody(t *testing.T) {
	s := newSim(t, 1, "", "", "", "", "")
	leader := s.elect()
	s.decide(leader, "one")
	away := []*simNode{leader, s.others(leader)[0]}
	for _, n := range away {
		n.stop()
	}
	s.leave(s.others(leader)[1])
	s.run(20 * time.Second)
	s.decide(s.elect(), "two")
	for _, n := range away {
		n.start()
	}
	require.True(t, s.until(time.Minute, s.settled))
	s.requireRight()
}

// TestDurableBeforeSent: whatever a node has said of its log and its vote it knows after a power cut, whenever that comes.
func TestDurableBeforeSent(t *testing.T) {
	s := three(t)
	votes, appends := 0, 0
	s.inspect = func(n *simNode, h header, body []byte) {
		m := &pb.Message{}
		if h.kind != kindRaft || proto.Unmarshal(body, m) != nil || m.GetReject() {
			return
		}
		l := reopenedAs(t, n.disk.afterPowerCut(s.random), n.id)
		last, err := l.LastIndex()
		require.NoError(t, err)
		switch m.GetType() {
		case pb.MsgVoteResp:
			votes++
			require.Equal(t, m.GetTerm(), l.hard.GetTerm(), "a vote was sent before it was durable")
			require.Equal(t, m.GetTo(), l.hard.GetVote(), "a vote was sent before it was durable")
		case pb.MsgAppResp:
			appends++
			require.GreaterOrEqual(t, last, m.GetIndex(), "entries were acknowledged before they were durable")
		}
	}
	for i := range 5 {
		s.decide(s.elect(), fmt.Sprint(i))
		l := s.elect()
		l.stop()
		s.elect()
		l.start()
	}
	require.Greater(t, votes, 3)
	require.Greater(t, appends, 10)
	s.requireRight()
}

func TestAStorageThatFails(t *testing.T) {
	s := three(t)
	leader := s.elect()
	leader.disk.fail = errors.New("no disk")
	leader.propose("one")
	require.ErrorIs(t, leader.ended, ErrStorage)
	require.ErrorContains(t, leader.ended, "no disk")
	leader.ended = nil
	s.decide(s.elect(), "two")
	leader.disk.fail = nil
	leader.disk = leader.disk.afterPowerCut(s.random)
	leader.start()
	require.True(t, s.until(10*time.Second, s.settled))
	s.requireRight()
}

func TestALogStaysShort(t *testing.T) {
	s := three(t)
	for i := range 200 {
		s.decide(s.elect(), fmt.Sprint(i))
	}
	n := s.elect()
	first, err := n.core.disk.FirstIndex()
	require.NoError(t, err)
	require.Greater(t, first, uint64(150))
	require.Less(t, len(n.disk.names[fileName].data), 40<<10)
	require.Equal(t, []string{fileName}, keys(n.disk.names))
}

func keys(names map[string]*testFile) (all []string) {
	for name := range names {
		all = append(all, name)
	}
	return all
}

// reopenedAs is reopened for another identity.
func reopenedAs(t *testing.T, fs FileSystem, id uint64) *log {
	t.Helper()
	s, err := Open(fs, id)
	require.NoError(t, err)
	l, err := readLog(s)
	require.NoError(t, err)
	return l
}
