package change

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/ring"
)

// forked is a ring of five in the middle of a replacement, and what others have made of it whom the survivors can't ask.
func forked(t require.TestingT) (known, theirs Document) {
	d := do(t, first(t, 5, 3), join(6), stage(Staged{Kind: ReplaceMember, Name: "n1", By: "n6"}))
	d = commit(t, d)
	slots := NextWave(d, Limits{Joint: 8, Alive: Alive})
	known = do(t, d, begin(d, slots...))
	theirs = complete(t, known, slots[:3]...)
	return known, do(t, theirs, Entry{Rate: &Rate{Bytes: 1 << 20}})
}

// TestRefound: who holds what is as it was, in an epoch of its own that is later than any, and nothing is joint.
func TestRefound(t *testing.T) {
	known, theirs := forked(t)
	d, err := Refound(known, 7, "ops", 2000, []string{"n2", "n3", "n4"})
	require.NoError(t, err)
	require.NoError(t, d.Validate())
	require.Greater(t, d.Version, theirs.Version+1<<31)
	require.Equal(t, d.Version, d.Refounded)
	require.Empty(t, d.Joint)
	require.NotNil(t, d.Plan)
	for slot := range ring.Slots {
		require.Equal(t, ring.Assignment{Epoch: d.Version, Replicas: known.Slots[slot].Replicas}, d.Slots[slot])
	}
	require.Equal(t, "founds the group anew that decides on the ring, without n2, n3, n4", d.History[len(d.History)-1].What)
	require.Equal(t, known.Members, d.Members)

	// The plan goes on, and ends.
	d = do(t, d, begin(d, NextWave(d, Limits{Alive: Alive})...))
	for _, l := range d.Members {
		var collected []SlotEpoch
		for _, p := range d.Joint {
			if slices.Contains(p.Waiting, l.ID) {
				collected = append(collected, SlotEpoch{p.Slot, d.Slots[p.Slot].Epoch})
			}
		}
		if collected != nil {
			d = do(t, d, Entry{Complete: &Complete{l.ID, collected}})
		}
	}
	require.Nil(t, d.Plan)
	_, there := d.ByName("n1")
	require.False(t, there)
}

// TestTheOthersTakeItUp: whatever those who come back have made of the ring meanwhile, they learn the one that was founded again, and nobody learns theirs.
func TestTheOthersTakeItUp(t *testing.T) {
	known, theirs := forked(t)
	d, err := Refound(known, 0, "ops", 2000, []string{"n2"})
	require.NoError(t, err)
	d = do(t, d, Entry{Pause: &Pause{}})
	next, err := theirs.Update(d.Since(theirs.Version))
	require.ErrorIs(t, err, ErrDiverged)
	require.Equal(t, theirs, next)
	next, err = theirs.Update(d.Encode())
	if err != nil { // then they ask as one that knows nothing
		require.ErrorIs(t, err, ErrDiverged)
		next, err = Document{}.Update(d.Encode())
	}
	require.NoError(t, err)
	require.Equal(t, d.Digest(), next.Digest())
	require.Equal(t, d.Refounded, next.Refounded)
	for _, old := range []Document{known, theirs} {
		stays, err := d.Update(old.Encode())
		require.NoError(t, err)
		require.Equal(t, d.Digest(), stays.Digest())
	}
	same, err := known.Update(d.Since(known.Version))
	require.NoError(t, err)
	require.Equal(t, d.Digest(), same.Digest())
}

// TestTwoRefoundings: of two at the same time one is the later one, whatever both decide next.
func TestTwoRefoundings(t *testing.T) {
	known, _ := forked(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint32().Draw(t, "a"), rapid.Uint32().Draw(t, "b")
		one, err := Refound(known, a, "ops", 2000, nil)
		require.NoError(t, err)
		two, err := Refound(known, b, "ops", 2000, nil)
		require.NoError(t, err)
		again, err := Refound(one, b, "ops", 2000, nil)
		require.NoError(t, err)
		require.Greater(t, again.Version, max(one.Version, two.Version))
		if a/2 != b/2 {
			require.NotEqual(t, one.Refounded, two.Refounded)
		}
	})
	known.Version = math.MaxUint64 - 1
	_, err := Refound(known, 1, "ops", 2000, nil)
	require.ErrorIs(t, err, ErrFull)
}

func TestLosses(t *testing.T) {
	d := first(t, 5, 3)
	alive := func(id uint16) bool { return id != 1 && id != 2 && id != 3 }
	l := d.Losses(alive)
	require.NotEmpty(t, l.Gone)
	require.NotEmpty(t, l.Minority)
	count := map[int]int{}
	for _, a := range d.Slots {
		n := 0
		for _, id := range a.Replicas {
			if alive(id) {
				n++
			}
		}
		count[n]++
	}
	require.Len(t, l.Gone, count[0])
	require.Len(t, l.Minority, count[1])
	require.Empty(t, d.Losses(Alive))
}
