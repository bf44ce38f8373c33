package route

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDivide: the first replica that answers and serves clients is the home, the others are in the order of the nodes.
func TestDivide(t *testing.T) {
	index := []int16{0, 3, 0, 1, 2} // by ID: 2 does not answer
	for _, c := range []struct {
		replicas []uint16
		home     int16
		others   []int16
	}{
		{[]uint16{1, 4, 3}, 2, []int16{0, 1}},
		{[]uint16{2, 3, 1}, 0, []int16{2}},
		{[]uint16{2, 4}, 1, nil},
		{[]uint16{2}, -1, nil},
	} {
		home, all := divide([]int16{9}, c.replicas, index)
		require.Equal(t, c.home, home, c)
		require.Equal(t, append([]int16{9}, c.others...), all, c)
	}
}
