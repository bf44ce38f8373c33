package admin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

// five is a cluster of five nodes with three replicas of each slot, and its status.
func five(t *testing.T) (*ring.Table, Status) {
	c := ring.Cluster{Name: "c", Epoch: 1, Replicas: 3}
	var s Status
	for i := range uint16(5) {
		name := string(rune('a' + i))
		c.Members = append(c.Members, ring.Member{ID: i + 1, Name: name, Peer: fmt.Sprintf("127.0.0.1:%d", 7000+i), Weight: 1})
		s.Nodes = append(s.Nodes, NodeStatus{Name: name, ID: i + 1, State: Voting, Volatile: true})
	}
	table, err := ring.Plan(c)
	require.NoError(t, err)
	return table, s
}

func TestSurvivalIsThatOfTheWeakestSlot(t *testing.T) {
	table, s := five(t)
	s.Complete(table)
	require.Equal(t, Survival{Failures: 1, Slots: ring.Slots}, *s.Survival)
	require.Equal(t, "Every slot survives 1 more failure.", s.Survival.String())
	require.Empty(t, s.Warnings)

	_, s = five(t)
	s.Nodes[4].State = LostState
	s.Complete(table)
	held := table.ReplicaSlots(5)
	require.Equal(t, Survival{Slots: held}, *s.Survival)
	require.Equal(t, fmt.Sprintf("%d slots survive no more failure, all others more.", held), s.Survival.String())
	require.Len(t, s.Warnings, 4, "each of the others holds some of its slots")

	_, s = five(t)
	s.Nodes[3].State, s.Nodes[4].State = Unreachable, Failed
	s.Complete(table)
	both := 0
	for slot := range uint16(ring.Slots) {
		if table.Contains(slot, 4) && table.Contains(slot, 5) {
			both++
		}
	}
	require.Equal(t, both, s.Survival.NoMajority)
	require.Zero(t, s.Survival.Failures)
	require.True(t, strings.HasPrefix(s.Survival.String(), fmt.Sprintf("%d slots are without a majority: commands on their keys are refused. All others have one, ", both)))
}

// TestADamagedSlotDoesNotCount: its node votes, but not for it.
func TestADamagedSlotDoesNotCount(t *testing.T) {
	table, s := five(t)
	damaged := &s.Nodes[table.Replicas(7)[1]-1]
	damaged.DamagedSlots, damaged.DamagedSlotNumbers = 1, []uint16{7}
	s.Complete(table)
	require.Equal(t, Survival{Slots: 1}, *s.Survival)
	require.Equal(t, "1 slot survives no more failure, all others more.", s.Survival.String())
	require.Len(t, s.Warnings, 2, "the other two replicas")
	require.Equal(t, "No slot has a majority: commands are refused.", Survival{NoMajority: ring.Slots}.String())
}

func TestAClusterThatLostAllIsNotSaidToForm(t *testing.T) {
	_, s := five(t)
	for i := range s.Nodes {
		s.Nodes[i].State = LostState
	}
	require.Contains(t, s.Faults()[0], "no node has its state any more")
	s.Nodes[2].State = Forming
	require.Equal(t, "the cluster is not formed yet", s.Faults()[0])
}

// TestASlotThatMovesNeedsTwoMajorities: of those that have it, and of those that get it.
func TestASlotThatMovesNeedsTwoMajorities(t *testing.T) {
	_, s := five(t)
	slots := make([]ring.Assignment, ring.Slots)
	for i := range slots {
		slots[i] = ring.Assignment{Epoch: 1, Replicas: []uint16{1, 2, 3}}
	}
	slots[7].Next = []uint16{3, 4, 5}
	table, err := ring.NewTable(1, slots)
	require.NoError(t, err)
	s.Nodes[3].State = Unreachable
	s.Complete(table)
	require.Equal(t, Survival{Slots: 1}, *s.Survival)
	require.Len(t, s.Warnings, 2, "3 and 5 are needed")

	s.Warnings, s.Nodes[4].State = nil, Unreachable
	s.Complete(table)
	require.Equal(t, Survival{Failures: 0, Slots: 0, NoMajority: 1}, *s.Survival)
	require.Len(t, s.Warnings, 3, "1, 2 and 3 have the last copies")
}
