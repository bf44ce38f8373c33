package change

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

// A collector that has reported, and then loses what it has collected, has collected
// nothing.
func TestACollectorIsLostAfterItsReport(t *testing.T) {
	d := do(t, first(t, 4, 3), join(5), join(6), stage(Staged{Kind: ReplaceMember, Name: "n1", By: "n5"}), stage(Staged{Kind: ReplaceMember, Name: "n2", By: "n6"}))
	d = commit(t, d)
	i := slices.IndexFunc(d.Plan.Moves, func(m Move) bool { return slices.Contains(m.To, 5) && slices.Contains(m.To, 6) })
	slot := d.Plan.Moves[i].Slot
	before := d.Slots[slot].Replicas
	d = do(t, d, begin(d, slot))
	d = do(t, d, Entry{Complete: &Complete{Member: 5, Slots: []SlotEpoch{{slot, d.Version}}}})
	require.Equal(t, []Progress{{slot, []uint16{6}, []uint16{5}}}, d.Joint)
	d = do(t, d, rejoin(d, "n5", 55))
	require.Empty(t, d.Joint)
	require.Equal(t, before, d.Slots[slot].Replicas)
	require.Contains(t, d.Goal(slot), uint16(7), "its next life collects instead")
}

// Who loses its state over and over while nothing moves does not fill the document.
func TestAMemberIsLostOverAndOver(t *testing.T) {
	d := do(t, first(t, 3, 3), Entry{Pause: &Pause{}})
	for i := range 20 {
		d = do(t, d, rejoin(d, "n2", uint64(100+i)))
	}
	require.Len(t, d.Members, 4, "the life that slots name, and the last one")
	require.Equal(t, Lost, d.Members[1].State)
	d = carryOut(t, do(t, d, Entry{Pause: &Pause{Off: true}}))
	require.Len(t, d.Members, 3)
}

// An entry that comes late takes no later life's place.
func TestALateRejoin(t *testing.T) {
	d := first(t, 3, 3)
	late := rejoin(d, "n2", 22)
	d = do(t, d, late, rejoin(do(t, d, late), "n2", 23))
	for _, now := range []Document{d, carryOut(t, d)} {
		_, err := Apply(now, late, 0)
		require.ErrorIs(t, err, ErrOtherLife)
	}
}

// What a member collected while a slot was joint before counts for nothing when it is
// joint again.
func TestAReportOfAnEarlierEpoch(t *testing.T) {
	d := commit(t, do(t, first(t, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"})))
	slot := d.Plan.Moves[0].Slot
	d = do(t, d, begin(d, slot))
	late := Entry{Complete: &Complete{Member: d.Joint[0].Waiting[0], Slots: []SlotEpoch{{slot, d.Version}}}}
	d = do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID}})
	require.Nil(t, d.Plan, "nothing had moved")
	d = commit(t, do(t, d, stage(Staged{Kind: JoinMember, Name: "n5"})))
	d = do(t, d, begin(d, slot))
	_, err := Apply(d, late, 0)
	require.ErrorIs(t, err, ErrStale)
}

func TestAMemberStaysIfItsLeavingIsAborted(t *testing.T) {
	d := first(t, 5, 3)
	before := replicasOf(d)
	d = commit(t, do(t, d, stage(Staged{Kind: LeaveMember, Name: "n2"})))
	wave := NextWave(d, Limits{Joint: 50, Alive: Alive})
	d = collectAll(t, do(t, d, begin(d, wave...)))
	d = carryOut(t, do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID}}))
	require.Equal(t, Active, stateOf(d, "n2"))
	require.Equal(t, before, replicasOf(d))
}

// A member dies while a plan is turned back that took its slots away: to go on with the
// plan is the way out.
func TestAnAbortIsTakenBack(t *testing.T) {
	d := first(t, 5, 3)
	d = commit(t, do(t, d, stage(Staged{Kind: LeaveMember, Name: "n2"}), stage(Staged{Kind: SetWeight, Name: "n1", Number: 2})))
	_, err := Apply(d, Entry{Abort: &Abort{Plan: d.Plan.ID, Off: true}}, 0)
	require.ErrorIs(t, err, ErrNothing)
	d = collectAll(t, do(t, d, begin(d, NextWave(d, Limits{Joint: 50, Alive: Alive})...)))
	d = do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID}})
	d = do(t, d, begin(d, NextWave(d, Limits{Joint: 10, Alive: Alive})...))
	for _, slot := range NextWave(d, Limits{Alive: func(id uint16) bool { return id != 2 }}) {
		require.NotContains(t, d.Goal(slot), uint16(2), "without the member these can't move")
	}
	d = do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID, Off: true}})
	require.Empty(t, d.Joint, "what was on its way back is given up")
	d = carryOut(t, d)
	require.Zero(t, stateOf(d, "n2"))
	n1, _ := d.ByName("n1")
	require.Equal(t, 2, n1.Weight)
}

// A plan that is committed again is another one: what was meant for the first is refused.
func TestNoTwoPlansHaveTheSameID(t *testing.T) {
	staged := do(t, first(t, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"}))
	c, err := Propose(staged)
	require.NoError(t, err)
	d := do(t, staged, Entry{Commit: c}, Entry{Abort: &Abort{Plan: c.ID}}, stage(Staged{Kind: JoinMember, Name: "n5"}))
	_, err = Apply(d, Entry{Commit: c}, 0)
	require.ErrorIs(t, err, ErrOtherPlan)
}

// Who comes back without its state, and then dies for good, is replaced as anybody else:
// the plan of its return does not stand in the way.
func TestWhoTakesItsPlaceAgainIsReplaced(t *testing.T) {
	d := first(t, 4, 3)
	before := replicasOf(d)
	d = do(t, d, rejoin(d, "n2", 22), join(6)) // IDs 5 and 6
	wave := NextWave(d, Limits{Joint: 100, Alive: Alive})
	d = complete(t, do(t, d, begin(d, wave...)), wave[:60]...)
	d = do(t, d, stage(Staged{Kind: ReplaceMember, Name: "n2", By: "n6"}))
	c, err := Propose(d)
	require.NoError(t, err)
	moves, err := c.Decode()
	require.NoError(t, err)
	for _, m := range moves {
		require.Equal(t, substitute(m.From, 5, 6), m.To)
	}
	_, err = Apply(do(t, d, rejoin(d, "n3", 33)), Entry{Commit: c}, 0)
	require.ErrorIs(t, err, ErrOtherPlan, "it does not know of the other return")

	d = do(t, d, Entry{Commit: c})
	require.Empty(t, d.Joint, "what the member was collecting is given up")
	back := carryOut(t, do(t, d, Entry{Abort: &Abort{Plan: c.ID}}))
	for slot, ids := range before {
		require.Equal(t, substitute(ids, 2, 5), back.Slots[slot].Replicas)
	}
	for d.Plan != nil {
		wave := NextWave(d, Limits{Alive: func(id uint16) bool { return id != 5 }})
		require.NotEmpty(t, wave)
		d = collectAll(t, do(t, d, begin(d, wave...)))
	}
	for slot, ids := range before {
		require.Equal(t, substitute(ids, 2, 6), d.Slots[slot].Replicas)
	}
	require.Len(t, d.Members, 4)
}

// Changes that are committed while a plan is under way are part of it, and of its abort.
func TestAPlanTakesUpFurtherChanges(t *testing.T) {
	first := do(t, first(t, 5, 3), join(6), join(7))
	d := commit(t, do(t, first, stage(Staged{Kind: ReplaceMember, Name: "n2", By: "n6"}), stage(Staged{Kind: SetWeight, Name: "n1", Number: 2})))
	d = collectAll(t, do(t, d, begin(d, NextWave(d, Limits{Joint: 50, Alive: Alive})...)))
	d = do(t, d, begin(d, NextWave(d, Limits{Joint: 50, Alive: Alive})...), stage(Staged{Kind: LeaveMember, Name: "n6"}),
		stage(Staged{Kind: JoinMember, Name: "n7"}), stage(Staged{Kind: SetWeight, Name: "n1", Number: 3}))
	d = commit(t, d) // n6 has died
	require.Len(t, d.Plan.Changes, 5)

	back := do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID}}, stage(Staged{Kind: SetWeight, Name: "n3", Number: 2}))
	_, err := Propose(back)
	require.ErrorIs(t, err, ErrAborting)
	back = carryOut(t, back)
	require.Equal(t, replicasOf(first), replicasOf(back))
	require.Equal(t, first.Members, back.Members, "with the states and weights of before")

	for d.Plan != nil {
		wave := NextWave(d, Limits{Alive: func(id uint16) bool { return id != 2 && id != 6 }})
		require.NotEmpty(t, wave)
		d = collectAll(t, do(t, d, begin(d, wave...)))
	}
	require.Zero(t, stateOf(d, "n2"))
	require.Zero(t, stateOf(d, "n6"))
	require.Equal(t, Active, stateOf(d, "n7"))
	n1, _ := d.ByName("n1")
	require.Equal(t, 3, n1.Weight)
}

// Where all members of a slot are gone, one member begins, and the others join it.
func TestAllAreGone(t *testing.T) {
	d := first(t, 3, 3)
	for i, name := range []string{"n1", "n2", "n3"} {
		d = do(t, d, rejoin(d, name, uint64(11+i)))
	}
	require.Empty(t, NextWave(d, Limits{Alive: Alive}))
	d = do(t, d, Entry{Accept: &AcceptLoss{Cluster: "test"}})
	for slot, a := range d.Slots {
		require.Equal(t, d.Goal(uint16(slot))[:1], a.Replicas, "one begins")
	}
	d = carryOut(t, d)
	require.Equal(t, ring.Slots, holds(d, "n3"))
	require.Len(t, d.Members, 3)
}

func TestWhoReplacesAMemberHasItsWeight(t *testing.T) {
	c := cluster(5, 3)
	c.Members[1].Weight = 3
	d, err := FromCluster(c)
	require.NoError(t, err)
	held := holds(d, "n2")
	d = commit(t, do(t, d, join(6), stage(Staged{Kind: ReplaceMember, Name: "n2", By: "n6"})))
	by, _ := d.ByName("n6")
	require.Equal(t, 3, by.Weight)
	d = do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID}})
	by, _ = d.ByName("n6")
	require.Equal(t, 1, by.Weight, "as before")
	d = carryOut(t, commit(t, do(t, d, stage(Staged{Kind: ReplaceMember, Name: "n2", By: "n6"}))))
	require.Equal(t, held, holds(d, "n6"))
}
