package consensus

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/wire"
)

// TestVotersOfAnotherFormation: a cluster that formed again has a log that begins anew, so what the former one says of its voters has a higher index.
func TestVotersOfAnotherFormation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 1)
		defer c.close()
		c.groups[4].Hear(c.leader().Voters())
		time.Sleep(10 * time.Second)
		own := c.groups[4].Voters()
		former := Voters{Formation: 7, Index: 1000, IDs: []uint64{7, 8, 9}}
		for _, g := range c.groups {
			g.Hear(former)
			answer := append(header{kindTold, 9, g.id, 0}.append(nil), told{leading: true, commit: 1000, voters: former}.append(nil)...)
			g.Receive(answer)
		}
		time.Sleep(10 * time.Second)
		for _, g := range c.groups {
			require.Equal(t, []uint64{1, 2, 3}, g.Voters().IDs)
		}
		require.Equal(t, own, c.groups[4].Voters())
	})
}

func TestVotersSayOfWhichFormationTheyAre(t *testing.T) {
	s := three(t)
	n := s.elect()
	n.core.cfg.Formation = 5
	require.EqualValues(t, 5, n.core.voters().Formation)
	before := told{leading: true, commit: 7, voters: n.core.voters()}
	d := wire.NewDecoder(before.append(nil))
	require.Equal(t, before, readTold(&d))
	require.NoError(t, d.Done())
}
