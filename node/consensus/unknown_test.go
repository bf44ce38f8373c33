package consensus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
)

// TestAnEntryOfALaterVersion: a node that is not upgraded yet stops, says why, and goes on where it was when it is.
func TestAnEntryOfALaterVersion(t *testing.T) {
	s := three(t)
	leader := s.elect()
	old := s.others(leader)[0]
	for _, n := range s.nodes {
		n.newer = n != old
	}
	s.decide(leader, "one")
	s.decide(leader, "unknown two")
	s.decide(leader, "three")
	s.run(time.Second)
	require.ErrorIs(t, old.ended, ErrUnknownEntry)
	require.ErrorContains(t, old.ended, `"unknown two"`)
	require.ErrorContains(t, old.ended, "upgrade this node")
	require.Equal(t, []string{"one"}, old.texts())

	old.restart() // in vain
	s.run(10 * time.Second)
	require.ErrorIs(t, old.ended, ErrUnknownEntry)
	require.NotContains(t, old.texts(), "three")

	old.start()
	old.newer = true
	require.True(t, s.until(10*time.Second, s.settled))
	s.requireRight()
}

// TestASnapshotThatIsTooLong is said where somebody sees it. Everything else goes on.
func TestASnapshotThatIsTooLong(t *testing.T) {
	s := three(t)
	leader := s.elect()
	behind := s.others(leader)[0]
	s.isolate(behind)
	leader.padding = maxWhole
	for i := range 30 {
		s.decide(leader, fmt.Sprint(i))
	}
	s.heal()
	sent := s.sent[kindPiece]
	s.run(20 * time.Second)
	require.Equal(t, 1, strings.Count(leader.warnings.String(), "too long to be sent"), leader.warnings.String())
	require.Contains(t, leader.warnings.String(), "level=ERROR")
	require.Contains(t, leader.warnings.String(), "peer="+behind.name)
	require.Equal(t, sent, s.sent[kindPiece], "what cannot arrive is not sent")
	s.decide(leader, "goes on")
	require.Empty(t, behind.texts())

	leader.padding = 0
	require.True(t, s.until(30*time.Second, s.settled))
	s.requireRight()
}

// TestWhatStaysOfTheLogIsShort: a few large entries are not kept because they are few.
func TestWhatStaysOfTheLogIsShort(t *testing.T) {
	s := three(t)
	leader := s.elect()
	for i := range 20 {
		s.decide(leader, fmt.Sprintf("%d %s", i, strings.Repeat(".", 2000)))
	}
	require.LessOrEqual(t, keptBytes(t, leader), int(leader.core.cfg.SnapshotBytes+leader.core.cfg.SnapshotBytes/4+2100))
	for i := range 100 {
		s.decide(leader, fmt.Sprint(i))
	}
	first, err := leader.core.disk.FirstIndex()
	require.NoError(t, err)
	require.LessOrEqual(t, leader.core.applied-first+1, leader.core.cfg.SnapshotEntries*5/4)
	s.requireRight()
}

func keptBytes(t *testing.T, n *simNode) (bytes int) {
	first, err := n.core.disk.FirstIndex()
	require.NoError(t, err)
	last, err := n.core.disk.LastIndex()
	require.NoError(t, err)
	if first > last {
		return 0
	}
	entries, err := n.core.disk.Entries(first, last+1, ^uint64(0))
	require.NoError(t, err)
	for _, e := range entries {
		bytes += len(e.GetData())
	}
	return bytes
}

// TestALeaderAsksAnotherOneToLead, if the first that it asks never does.
func TestALeaderAsksAnotherOneToLead(t *testing.T) {
	s := newSim(t, 1, "", "", "", "")
	old := s.elect()
	deaf := uint64(0)
	s.droppedRaft = func(m *pb.Message) bool {
		if m.GetType() != pb.MsgTimeoutNow {
			return false
		}
		if deaf == 0 {
			deaf = m.GetTo()
		}
		return m.GetTo() == deaf
	}
	s.leave(old)
	require.True(t, s.until(time.Minute, func() bool { return s.leader() != nil && s.leader() != old }), "it asks the same one again and again")
	require.NotZero(t, deaf)
	s.droppedRaft = nil
	require.True(t, s.until(time.Minute, s.settled))
	s.requireRight()
}
