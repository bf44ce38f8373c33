package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring/change"
)

// TestTwoOfThreeWhoDecideAreGone: the survivor founds the group again, by the cluster's name only; what comes back is in the group then, and contradicts nothing.
func TestTwoOfThreeWhoDecideAreGone(t *testing.T) {
	t.Parallel()
	for name, durable := range map[string]bool{"memory": false, "disk": true} {
		t.Run(name, func(t *testing.T) {
			d := newDisks("a", "b", "c")
			l := newLogs(t, d)
			use := func(o *Options) {
				soon(o)
				if durable {
					d.use(o)
					l.use(o)
				}
			}
			c := newFormed(t, 3, use)
			require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(1)))
			c.set("a", "k", "v")
			a := c.operate("a")
			_, err := a.RecoverRing(t.Context(), "test", admin.RingOption{By: "ann"})
			require.ErrorContains(t, err, "3 of the 3 that decide on the ring answer, and they are a majority")
			c.agreed(func(d *change.Document) bool { return d.Rate == 1 })
			c.stop("b")
			c.stop("c")
			c.eventually(func() bool { return !c.nodes["a"].decisions.isAlive(2) && !c.nodes["a"].decisions.isAlive(3) })

			report, err := a.RecoverRing(t.Context(), "", admin.RingOption{By: "ann"})
			require.NoError(t, err)
			require.Equal(t, []admin.RingDecider{{Name: "a", Alive: true}, {Name: "b"}, {Name: "c"}}, report.Deciders)
			require.Equal(t, []string{"b", "c"}, report.Gone)
			require.Equal(t, 16384, report.SlotsMinority)
			require.Zero(t, report.SlotsGone)
			require.EqualValues(t, 1, report.Keys)
			require.False(t, report.Done)
			_, err = a.RecoverRing(t.Context(), "other", admin.RingOption{By: "ann"})
			require.ErrorContains(t, err, `this cluster is not "other": nothing was done`)
			require.Zero(t, c.nodes["a"].Document().Refounded)

			report, err = a.RecoverRing(t.Context(), "test", admin.RingOption{By: "ann"})
			require.NoError(t, err)
			require.True(t, report.Done)
			doc := c.nodes["a"].Document()
			require.Equal(t, report.Version, doc.Refounded)
			require.EqualValues(t, 1, doc.Rate)
			require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(2)))

			if !durable { // they are replaced
				c.joining("d", use)
				c.joining("e", use)
				c.agreed(func(d *change.Document) bool {
					return stateOf(*d, "d") == change.Waiting && stateOf(*d, "e") == change.Waiting
				})
				changes, err := admin.ParseChanges(strings.Fields("replace b d replace c e"))
				require.NoError(t, err)
				plan, err := a.StageRing(t.Context(), changes, admin.RingOption{})
				require.NoError(t, err)
				status, err := a.CommitRing(t.Context(), plan.ID, "test", admin.RingOption{})
				require.NoError(t, err)
				require.True(t, status.Plan.LossAccepted)
				require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(0)))
				c.awaitRing(func(doc change.Document) bool { moved, _ := doc.Arrived(); return doc.Plan == nil || moved > 0 })
				return
			}
			// They were not gone: two of the three of the old group, which would be a majority.
			c.start("b", use)
			c.start("c", use)
			c.agreed(func(d *change.Document) bool { return d.Rate == 2 && d.Refounded == doc.Refounded })
			c.eventually(func() bool {
				s, err := c.nodes["a"].decisions.status()
				return err == nil && len(s.Voters) == 3
			})
			require.NoError(t, c.nodes["b"].Propose(t.Context(), rate(3)))
			c.requireValue("b", "k", "v")
			c.set("c", "k", "w")

			// And all of it is so after a restart.
			for name := range c.nodes {
				c.stop(name)
			}
			for name := range d {
				c.start(name, use)
			}
			require.NoError(t, c.nodes["c"].Propose(t.Context(), rate(4)))
			c.agreed(func(d *change.Document) bool { return d.Rate == 4 && d.Refounded == doc.Refounded })
			c.requireValue("a", "k", "w")
		})
	}
}

// TestWhoFoundsTheGroupAgain: of those that answer the one that knows most of what was decided.
func TestWhoFoundsTheGroupAgain(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 5, soon)
	require.NoError(t, c.nodes["a"].Propose(t.Context(), rate(1)))
	leader := c.decides()
	for name, n := range c.nodes {
		if n != leader && len(c.nodes) > 2 {
			c.stop(name)
		}
	}
	var reports []admin.RingRecovery
	c.eventually(func() bool {
		reports = nil
		for name := range c.nodes {
			if r, err := c.operate(name).RecoverRing(t.Context(), "", admin.RingOption{}); err == nil {
				reports = append(reports, r)
			}
		}
		return len(reports) > 0
	})
	report, err := c.operate(reports[0].Node).RecoverRing(t.Context(), "test", admin.RingOption{})
	require.NoError(t, err)
	require.True(t, report.Done)
	require.Len(t, report.Gone, 3)
	c.agreed(func(d *change.Document) bool { return d.Refounded == report.Version && d.Rate == 1 })
	c.eventually(func() bool {
		s, err := c.nodes[report.Node].decisions.status()
		return err == nil && len(s.Voters) == 2
	})
	for name := range c.nodes {
		require.NoError(t, c.nodes[name].Propose(t.Context(), change.Entry{Stage: &change.Staged{Kind: change.SetWeight, Name: name, Number: 3}}))
	}
}
