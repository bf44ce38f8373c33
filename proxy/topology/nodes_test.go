package topology

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/ring"
)

// TestEachSlotIsItsHomes, or this node's if nobody is its home.
func TestEachSlotIsItsHomes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "nodes")
		p := &Placement{}
		for i := range n {
			p.Nodes = append(p.Nodes, Node{Address: fmt.Sprintf("10.0.0.%d:6379", i), Alive: rapid.Bool().Draw(t, "alive")})
		}
		width := rapid.IntRange(1, ring.Slots).Draw(t, "width")
		homes := rapid.SliceOfN(rapid.IntRange(-1, n-1), 1, 50).Draw(t, "homes")
		for slot := range p.Homes {
			p.Homes[slot] = int16(homes[slot/width%len(homes)])
			if slot/width%2 == 0 && n > 1 {
				p.Replicas[slot] = []int16{int16(n - 1)}
			}
		}
		self := fmt.Sprintf("10.0.0.%d:6379", rapid.IntRange(0, n).Draw(t, "self")) // maybe none of them
		members := (&Nodes{Announce: self, Placement: func() *Placement { return p }}).Members(nil)
		var of [ring.Slots]string
		selves := 0
		for _, m := range members {
			address, last := fmt.Sprintf("%s:%d", m.Host, m.Port), 0
			if m.Self {
				selves++
				require.Equal(t, self, address)
				require.True(t, m.Alive)
			}
			for i, s := range m.Slots {
				require.Less(t, s.First, s.End)
				require.True(t, i == 0 || s.First > last || !slices.Equal(s.Replicas, m.Slots[i-1].Replicas), "no two ranges of a member touch that have the same replicas")
				last = s.End
				for slot := s.First; slot < s.End; slot++ {
					require.Empty(t, of[slot])
					of[slot] = address
					require.Equal(t, p.Replicas[slot], s.Replicas)
				}
			}
		}
		require.Equal(t, 1, selves)
		for slot, home := range p.Homes {
			want := self
			if home >= 0 {
				want = p.Nodes[home].Address
			}
			require.Equal(t, want, of[slot])
		}
	})
}

// TestFollowersHoldAllSlots of a member.
func TestFollowersHoldAllSlots(t *testing.T) {
	m := Member{Slots: []Slots{{0, 1, []int16{1, 2, 3}}, {5, 7, []int16{0, 1, 3}}, {9, 12, []int16{1, 3, 4}}}}
	require.Equal(t, []int16{1, 3}, m.Followers())
	require.Equal(t, []int16{1, 2, 3}, m.Slots[0].Replicas, "nothing is changed")
	m.Slots = append(m.Slots, Slots{First: 20, End: 21})
	require.Empty(t, m.Followers())
	require.Empty(t, (&Member{}).Followers())
}

// TestClientsAreSentToTheHome once that is known for a while, and never before anything is known.
func TestClientsAreSentToTheHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var known *Placement
		nodes := &Nodes{Announce: "a:1", Placement: func() *Placement { return known }}
		elsewhere := func(slot uint16) string {
			address, is := nodes.Elsewhere(slot)
			if !is {
				return ""
			}
			return address
		}
		require.Empty(t, elsewhere(0))
		require.Len(t, nodes.Members(nil), 1)
		known = &Placement{Nodes: []Node{{Address: "a:1", Alive: true}, {Address: "b:1", Alive: true}}, Since: time.Now()}
		known.Homes[1], known.Homes[2] = 1, -1
		require.Empty(t, elsewhere(1), "others may not know yet")
		<-time.After(settled)
		require.Equal(t, "b:1", elsewhere(1))
		require.Empty(t, elsewhere(0), "it is this node's")
		require.Empty(t, elsewhere(2), "it is nobody's")
	})
}
