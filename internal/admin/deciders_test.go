package admin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoDecides(t *testing.T) {
	voters := []RingDecider{{"a", true}, {"b", true}, {"c", true}}
	s := Status{Nodes: []NodeStatus{{Name: "a", State: Voting}, {Name: "b", State: Voting, Decides: true}, {Name: "c", State: Unreachable}}}
	s.Decide(voters)
	require.Equal(t, Deciders{Voters: []RingDecider{{"a", true}, {"b", true}, {"c", false}}, Leader: "b", Decides: true}, *s.Deciders)
	require.Equal(t, "Changes of the ring are decided by a, b, c (does not answer); b leads.", s.Deciders.String())
	require.Empty(t, s.Warnings)

	s.Nodes[1] = NodeStatus{Name: "b", State: Voting, Undecided: "its log is lost"}
	s.Decide(voters)
	require.False(t, s.Deciders.Decides)
	require.Equal(t, "Changes of the ring are decided by a, b (does not answer), c (does not answer); nobody leads at the moment.", s.Deciders.String())
	require.Equal(t, []string{"node b takes no part in deciding on the ring: its log is lost",
		"the ring cannot be changed, for of the 3 nodes that decide on it 1 answer: start b, c again; commands go on without. If they are gone for good: quoll ring recover"}, s.Warnings)

	s = Status{Nodes: []NodeStatus{{Name: "a", State: Voting}}}
	s.Decide([]RingDecider{{"a", true}, {"7f", false}}) // a former life, or one that is no member any more
	require.False(t, s.Deciders.Decides)
}
