package topology

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/ring"
)

// placed returns a placement of n nodes, whose slots are divided among those that answer, each slot with the homes' next nodes as replicas, copies in all.
func placed(n, copies int, down ...int) *Placement {
	p := &Placement{}
	for i := range n {
		p.Nodes = append(p.Nodes, Node{Address: fmt.Sprintf("10.0.0.%d:6379", i), Replica: fmt.Sprintf("10.0.0.%d:6390", i), Alive: !slices.Contains(down, i)})
	}
	for slot := range p.Homes {
		p.Homes[slot] = -1
		for k := range copies {
			switch node := int16((slot + k) % n); {
			case !p.Nodes[node].Alive:
			case p.Homes[slot] < 0:
				p.Homes[slot] = node
			default:
				p.Replicas[slot] = append(p.Replicas[slot], node)
			}
		}
		slices.Sort(p.Replicas[slot])
	}
	p.Pair()
	return p
}

func mastersOf(p *Placement) (all []int16) {
	for _, n := range p.Nodes {
		all = append(all, n.Master)
	}
	return all
}

// TestEachMasterHasAsManyReplicas as the others, where each node could be that of all; and nobody is one of which it does not hold all.
func TestEachMasterHasAsManyReplicas(t *testing.T) {
	require.Equal(t, []int16{1, 2, 0}, mastersOf(placed(3, 3)), "the next in the order of the ring")
	require.Equal(t, []int16{1, 0, -1}, mastersOf(placed(3, 3, 2)), "one that is down is nobody's, and has none")
	require.Equal(t, []int16{-1, -1, -1}, mastersOf(placed(3, 3, 1, 2)), "it is alone")
	require.Equal(t, []int16{-1, -1, -1, -1}, mastersOf(placed(4, 1)), "nobody else holds any")
	require.Equal(t, []int16{4, 5, 0, 1, 2, 3}, mastersOf(placed(6, 3)), "each holds all of the two before it")
	p := placed(3, 3)
	p.Nodes[1].Replica = ""
	p.Pair()
	require.Equal(t, []int16{1, -1, 0}, mastersOf(p), "one without the port is a master only")
}

// TestWhoLacksOneSlotIsNoReplica of its master, and another one is.
func TestWhoLacksOneSlotIsNoReplica(t *testing.T) {
	p := placed(3, 3)
	p.Replicas[1+3*100] = []int16{2} // without 0, which would be the replica of 1
	p.Pair()
	require.Equal(t, []int16{2, 0, 1}, mastersOf(p), "all go on to another one, so that each has one")
}

// TestPairsAreAsGoodAsTheyCanBe: every node that can be a replica is one, of a master that it may be one of, and no master has more than it must.
func TestPairsAreAsGoodAsTheyCanBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "nodes")
		p := placed(n, 1)
		may := make([][]bool, n)
		for node := range n {
			may[node] = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "may")
			may[node][node] = false
		}
		for slot, home := range p.Homes {
			p.Replicas[slot] = nil
			for node := range n {
				if may[node][home] {
					p.Replicas[slot] = append(p.Replicas[slot], int16(node))
				}
			}
		}
		p.Pair()
		load := make([]int, n)
		for node, m := range mastersOf(p) {
			if m < 0 {
				require.NotContains(t, may[node], true, "node %d could be a replica", node)
				continue
			}
			require.True(t, may[node][m])
			load[m]++
		}
		require.Equal(t, leastLoad(may, 0, make([]int, n)), slices.Max(load))
	})
}

// leastLoad tries everything: how many replicas the master with the most must have.
func leastLoad(may [][]bool, node int, load []int) int {
	if node == len(may) {
		return slices.Max(load)
	}
	if !slices.Contains(may[node], true) {
		return leastLoad(may, node+1, load)
	}
	least := len(may)
	for m, can := range may[node] {
		if can {
			load[m]++
			least = min(least, leastLoad(may, node+1, load))
			load[m]--
		}
	}
	return least
}

// TestReplicaPortsAreNodesOfTheirOwn, each with one master, under a name that stays and is nobody else's. The nodes are masters only then.
func TestReplicaPortsAreNodesOfTheirOwn(t *testing.T) {
	p := placed(3, 3)
	nodes := &Nodes{Announce: "10.0.0.1:6379", AnnounceReplica: "10.0.0.1:6390", Placement: func() *Placement { return p }}
	all := nodes.Members(nil)
	require.Len(t, all, 6)
	ids := map[string]bool{}
	for i, m := range all {
		ids[m.ID] = true
		require.Len(t, m.ID, 40)
		require.Equal(t, i == 1, m.Self)
		require.True(t, m.Alive)
		for _, s := range m.Slots {
			require.Empty(t, s.Replicas)
		}
		if i < 3 {
			require.Empty(t, m.Master)
			require.Equal(t, []int16{3 + int16(i+2)%3}, m.Replicas)
			continue
		}
		require.Empty(t, m.Slots)
		require.Equal(t, fmt.Sprintf("10.0.0.%d:6390", i-3), fmt.Sprintf("%s:%d", m.Host, m.Port))
		require.Equal(t, all[(i-3+1)%3].ID, m.Master)
	}
	require.Len(t, ids, 6)

	at := ReplicaPort{nodes}.Members(nil)
	for i := range at {
		require.Equal(t, i == 4, at[i].Self, "it is the port that is asked")
		at[i].Self = all[i].Self
	}
	require.Equal(t, all, at)

	p = placed(3, 3, 0, 2)
	require.Len(t, nodes.Members(nil), 3, "it is no replica: it is alone")
	at = ReplicaPort{nodes}.Members(nil)
	require.Len(t, at, 4)
	require.True(t, at[3].Self)
	require.Equal(t, all[4].ID, at[3].ID, "its name stays")
	require.Equal(t, at[1].ID, at[3].Master, "to its own clients it has a master")
	require.Equal(t, []int16{3}, at[1].Replicas)

	p = nil
	at = ReplicaPort{nodes}.Members(nil)
	require.Len(t, at, 2)
	require.True(t, at[1].Self && !at[0].Self)
}

// TestWithoutReplicaPortsNodesAreReplicas of slots, as ever.
func TestWithoutReplicaPortsNodesAreReplicas(t *testing.T) {
	p := placed(3, 3)
	for i := range p.Nodes {
		p.Nodes[i].Replica = ""
	}
	p.Pair()
	all := (&Nodes{Announce: "10.0.0.1:6379", Placement: func() *Placement { return p }}).Members(nil)
	require.Len(t, all, 3)
	for i, m := range all {
		require.Empty(t, m.Replicas)
		require.Equal(t, p.Replicas[i], m.Slots[0].Replicas)
	}
}

// TestReplicaPortsSendToTheMaster, who that is as far as it is known, and the own node before that.
func TestReplicaPortsSendToTheMaster(t *testing.T) {
	p := placed(3, 3)
	port := ReplicaPort{&Nodes{Announce: "10.0.0.1:6379", Placement: func() *Placement { return p }}}
	for slot := range uint16(ring.Slots) {
		address, elsewhere := port.Elsewhere(slot)
		require.True(t, elsewhere)
		require.Equal(t, p.Nodes[slot%3].Address, address)
	}
	p.Homes[7] = -1
	address, elsewhere := port.Elsewhere(7)
	require.True(t, elsewhere)
	require.Equal(t, "10.0.0.1:6379", address)
	p = nil
	address, _ = port.Elsewhere(8)
	require.Equal(t, "10.0.0.1:6379", address)
}
