package change

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

// Each case of a random history works with 16,384 slots, so fewer than rapid's 100
// unless the command line says otherwise (-rapid.checks).
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func cluster(n, replicas int) ring.Cluster {
	c := ring.Cluster{Name: "test", Epoch: 1, Replicas: replicas}
	for i := range n {
		c.Members = append(c.Members, member(i+1))
	}
	return c
}

func member(n int) ring.Member {
	return ring.Member{ID: uint16(n), Name: fmt.Sprintf("n%d", n), Peer: fmt.Sprintf("10.0.0.1:%d", 1000+n), Weight: 1, Generation: uint64(n)}
}

func first(t require.TestingT, n, replicas int) Document {
	d, err := FromCluster(cluster(n, replicas))
	require.NoError(t, err)
	require.NoError(t, d.Validate())
	return d
}

// do applies entries of which none is refused.
func do(t require.TestingT, d Document, entries ...Entry) Document {
	for _, e := range entries {
		next, err := Apply(d, e, 1000)
		require.NoError(t, err, "%+v", e)
		require.NoError(t, next.Validate(), "%+v", e)
		require.Equal(t, d.Version+1, next.Version)
		d = next
	}
	return d
}

func join(n int) Entry { return Entry{Join: &Join{member(n)}} }

func stage(s Staged) Entry { return Entry{By: "ops", Stage: &s} }

func commit(t require.TestingT, d Document) Document {
	c, err := Propose(d)
	require.NoError(t, err)
	return do(t, d, Entry{By: "ops", Commit: c})
}

// rejoin lets a member come back without its state.
func rejoin(d Document, name string, generation uint64) Entry {
	l, _ := d.ByName(name)
	return Entry{Rejoin: &Rejoin{Name: name, Generation: generation, Was: l.Generation, Peer: l.Peer}}
}

func begin(d Document, slots ...uint16) Entry {
	return Entry{Begin: &Begin{Plan: d.Plan.ID, Slots: slots}}
}

// complete lets collectors of the slots report, until each slot has moved.
func complete(t require.TestingT, d Document, slots ...uint16) Document {
	for _, slot := range slots {
		for i, joint := d.progress(slot); joint; i, joint = d.progress(slot) {
			d = do(t, d, Entry{Complete: &Complete{d.Joint[i].Waiting[0], []SlotEpoch{{slot, d.Slots[slot].Epoch}}}})
		}
	}
	return d
}

// collectAll is complete for all joint slots at once.
func collectAll(t require.TestingT, d Document) Document {
	for len(d.Joint) > 0 {
		c := &Complete{Member: d.Joint[0].Waiting[0]}
		for _, p := range d.Joint {
			c.Slots = append(c.Slots, SlotEpoch{p.Slot, d.Slots[p.Slot].Epoch})
		}
		d = do(t, d, Entry{Complete: c})
	}
	return d
}

// carryOut moves everything that there is to move.
func carryOut(t require.TestingT, d Document) Document {
	for d.Plan != nil {
		wave := NextWave(d, Limits{Joint: 5000, Alive: Alive})
		require.True(t, len(wave)+len(d.Joint) > 0, "nothing can go on")
		if len(wave) > 0 {
			d = do(t, d, begin(d, wave...))
		}
		d = collectAll(t, d)
	}
	return d
}

func replicasOf(d Document) [][]uint16 {
	var all [][]uint16
	for _, a := range d.Slots {
		all = append(all, a.Replicas)
	}
	return all
}

// holds counts the slots that a member holds.
func holds(d Document, name string) int {
	l, _ := d.ByName(name)
	n := 0
	for _, a := range d.Slots {
		if slices.Contains(a.Replicas, l.ID) {
			n++
		}
	}
	return n
}

func stateOf(d Document, name string) State {
	l, _ := d.ByName(name)
	return l.State
}

// needsAllSlots skips a test of figures that are others with so few slots as the tag small makes.
func needsAllSlots(t *testing.T) {
	t.Helper()
	if ring.Slots != 1<<14 {
		t.Skip("it is about the figures of a ring of 16,384 slots")
	}
}
