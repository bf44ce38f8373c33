package change

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

func TestTheFirstDocument(t *testing.T) {
	c := cluster(5, 3)
	c.Epoch = 4
	d, err := FromCluster(c)
	require.NoError(t, err)
	require.EqualValues(t, 4, d.Version)
	planned, err := ring.Plan(c)
	require.NoError(t, err)
	table, err := d.Table()
	require.NoError(t, err)
	require.Equal(t, planned.Digest(), table.Digest())
	_, err = FromCluster(cluster(2, 3))
	require.ErrorIs(t, err, ring.ErrInvalid)
}

func TestAMemberJoins(t *testing.T) {
	d := do(t, first(t, 4, 3), join(5))
	require.Equal(t, Waiting, stateOf(d, "n5"))
	d = do(t, d, stage(Staged{Kind: JoinMember, Name: "n5"}))
	d = commit(t, d)
	require.Equal(t, Joining, stateOf(d, "n5"))
	require.Empty(t, d.Staged)
	d = carryOut(t, d)
	require.Equal(t, Active, stateOf(d, "n5"))
	require.InEpsilon(t, 3*ring.Slots/5, holds(d, "n5"), 0.06)
	require.Contains(t, d.History[len(d.History)-1].What, "is done")
}

func TestAMemberLeaves(t *testing.T) {
	d := commit(t, do(t, first(t, 5, 3), stage(Staged{Kind: LeaveMember, Name: "n2"})))
	require.Equal(t, Leaving, stateOf(d, "n2"))
	d = carryOut(t, d)
	_, found := d.ByName("n2")
	require.False(t, found)
	_, found = d.Member(2)
	require.False(t, found)
}

func TestAMemberIsReplacedInItsPlaces(t *testing.T) {
	d := first(t, 5, 3)
	before := holds(d, "n2")
	d = do(t, d, stage(Staged{Kind: SetWeight, Name: "n2", Number: 1}), join(6), stage(Staged{Kind: ReplaceMember, Name: "n2", By: "n6"}))
	d = commit(t, d)
	require.Len(t, d.Plan.Moves, before)
	for _, m := range d.Plan.Moves {
		require.Equal(t, substitute(m.From, 2, 6), m.To)
	}
	d = carryOut(t, d)
	require.Equal(t, before, holds(d, "n6"))
}

func TestReplicasGrowAndShrink(t *testing.T) {
	d := first(t, 6, 3)
	d = carryOut(t, commit(t, do(t, d, stage(Staged{Kind: SetReplicas, Number: 5}))))
	require.Len(t, d.Slots[0].Replicas, 5)
	d = carryOut(t, commit(t, do(t, d, stage(Staged{Kind: SetReplicas, Number: 3}))))
	require.Len(t, d.Slots[0].Replicas, 3)
}

// An abort in the middle of a plan, interrupted by a member that loses its state,
// leads back to the ring before, with the member's new life in its places.
func TestAbortHalfway(t *testing.T) {
	d := do(t, first(t, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"}), stage(Staged{Kind: SetWeight, Name: "n1", Number: 2}))
	before := replicasOf(d)
	d = commit(t, d)
	wave := NextWave(d, Limits{Joint: 100, Alive: Alive})
	d = complete(t, do(t, d, begin(d, wave...)), wave[:60]...)
	d = do(t, d, Entry{Abort: &Abort{Plan: d.Plan.ID}})
	require.Empty(t, d.Joint, "what was joint is given up")
	_, err := Apply(d, Entry{Abort: &Abort{Plan: d.Plan.ID}}, 0)
	require.ErrorIs(t, err, ErrNothing)
	back := NextWave(d, Limits{Joint: 10, Alive: Alive})
	require.Len(t, back, 10)
	d = do(t, d, begin(d, back...), rejoin(d, "n3", 33))
	d = carryOut(t, d)
	require.Equal(t, Waiting, stateOf(d, "n5"))
	n1, _ := d.ByName("n1")
	require.Equal(t, 1, n1.Weight)
	n3, _ := d.ByName("n3")
	require.EqualValues(t, 6, n3.ID)
	for slot, ids := range before {
		require.Equal(t, substitute(ids, 3, n3.ID), d.Slots[slot].Replicas)
	}
}

func TestAMemberWithoutItsStateTakesItsPlaceAgain(t *testing.T) {
	d := first(t, 3, 3)
	before := replicasOf(d)
	d = do(t, d, rejoin(d, "n2", 22))
	require.Len(t, d.Plan.Moves, ring.Slots)
	_, err := Apply(d, Entry{Abort: &Abort{Plan: d.Plan.ID}}, 0)
	require.ErrorIs(t, err, ErrRejoining)
	old, _ := d.Member(2)
	require.Equal(t, Lost, old.State)

	// It loses its state again while it collects: what it has collected counts for nothing.
	wave := NextWave(d, Limits{Joint: 10, Alive: Alive})
	d = do(t, d, begin(d, wave...))
	epoch := d.Slots[wave[0]].Epoch
	d = do(t, d, rejoin(d, "n2", 222))
	require.Empty(t, d.Joint)
	_, err = Apply(d, Entry{Complete: &Complete{Member: 4, Slots: []SlotEpoch{{wave[0], epoch}}}}, 0)
	require.ErrorIs(t, err, ErrStale)

	// Another one as well: nobody can tell any more what the slots hold.
	lost := do(t, d, rejoin(d, "n3", 33))
	require.Empty(t, NextWave(lost, Limits{Alive: Alive}))
	require.ErrorContains(t, Check(lost, lost.Plan.Moves, Alive), fmt.Sprintf("n1 is the only live holder of %d slots", ring.Slots))
	lost = carryOut(t, do(t, lost, Entry{Accept: &AcceptLoss{Cluster: "test"}}))
	require.Equal(t, ring.Slots, holds(lost, "n2"))

	d = carryOut(t, d)
	life, _ := d.ByName("n2")
	require.EqualValues(t, 5, life.ID)
	require.Equal(t, Active, life.State)
	require.Len(t, d.Members, 3)
	for slot, ids := range before {
		require.Equal(t, substitute(ids, 2, 5), d.Slots[slot].Replicas)
	}
}

func TestTwoOfThreeAreGoneForGood(t *testing.T) {
	d := do(t, first(t, 3, 3), join(4), join(5), stage(Staged{Kind: ReplaceMember, Name: "n1", By: "n4"}), stage(Staged{Kind: ReplaceMember, Name: "n2", By: "n5"}))
	onlyThree := func(id uint16) bool { return id > 2 }
	c, err := Propose(d)
	require.NoError(t, err)
	moves, err := c.Decode()
	require.NoError(t, err)
	err = Check(d, moves, onlyThree)
	require.ErrorIs(t, err, ErrLoss)
	require.ErrorContains(t, err, fmt.Sprintf("n3 is the only live holder of %d slots: they stay where they are until enough of n1, n2 are back", ring.Slots))
	d = commit(t, d)
	require.Empty(t, NextWave(d, Limits{Alive: onlyThree}))
	for _, refused := range []struct {
		l   AcceptLoss
		err error
	}{{AcceptLoss{Cluster: "other", Gone: []uint16{1, 2}}, ErrOtherCluster}, {AcceptLoss{Cluster: "test", Gone: []uint16{1}}, ErrNoLoss},
		{AcceptLoss{Cluster: "test", Gone: []uint16{1, 2, 3}}, ErrStillHolds}} {
		_, err := Apply(d, Entry{Accept: &refused.l}, 0)
		require.ErrorIs(t, err, refused.err)
	}
	d = do(t, d, Entry{Accept: &AcceptLoss{Cluster: "test", Gone: []uint16{1, 2}}})
	require.Equal(t, []uint16{3}, d.Slots[9].Replicas)
	_, err = Apply(d, Entry{Abort: &Abort{Plan: d.Plan.ID}}, 0)
	require.ErrorIs(t, err, ErrLossAccepted)
	d = commit(t, do(t, d, stage(Staged{Kind: SetWeight, Name: "n4", Number: 2})))
	_, err = Apply(d, Entry{Abort: &Abort{Plan: d.Plan.ID}}, 0)
	require.ErrorIs(t, err, ErrLossAccepted, "nor with further changes")
	d = carryOut(t, d)
	require.Equal(t, ring.Slots, holds(d, "n4"))
}

// TestMembersChangePlaces: each says where it is now, one after the other; in between an address is of one only.
func TestMembersChangePlaces(t *testing.T) {
	at := func(n, place int) Entry {
		m := member(n)
		m.Peer = member(place).Peer
		return Entry{Join: &Join{m}}
	}
	d := do(t, first(t, 4, 3), at(1, 2))
	_, err := Apply(d, at(2, 1), 0)
	require.ErrorIs(t, err, ErrNothing, "what else could have become of it")

	d = do(t, first(t, 4, 3), at(1, 2), at(2, 3))
	_, err = Apply(d, at(3, 1), 0)
	require.ErrorIs(t, err, ErrNothing)
	for n, place := range map[uint16]int{1: 2, 2: 3, 3: 1, 4: 4} {
		l, _ := d.Member(n)
		require.Equal(t, member(place).Peer, l.Peer)
	}
}

func TestWhatIsRefused(t *testing.T) {
	d := do(t, first(t, 3, 3), join(4), join(5))
	other := member(2)
	other.Generation = 9
	same := member(7)
	same.Peer = member(2).Peer
	for name, c := range map[string]struct {
		e   Entry
		err error
	}{
		"nothing":                   {Entry{}, ErrEntry},
		"two things":                {Entry{Pause: &Pause{}, Rate: &Rate{5}}, ErrEntry},
		"a name that is taken":      {Entry{Join: &Join{other}}, ErrNameTaken},
		"an address that is taken":  {Entry{Join: &Join{same}}, ErrAddressTaken},
		"asks again":                {join(4), ErrNothing},
		"rejoin, nobody":            {Entry{Rejoin: &Rejoin{Name: "x"}}, ErrUnknown},
		"rejoin, same generation":   {Entry{Rejoin: &Rejoin{Name: "n2", Generation: 2}}, ErrNothing},
		"rejoin, too late":          {Entry{Rejoin: &Rejoin{Name: "n2", Generation: 9, Was: 1}}, ErrOtherLife},
		"forget a member":           {Entry{Forget: &Forget{"n1"}}, ErrNotWaiting},
		"join of a member":          {stage(Staged{Kind: JoinMember, Name: "n1"}), ErrNotWaiting},
		"leave of who waits":        {stage(Staged{Kind: LeaveMember, Name: "n4"}), ErrNotMember},
		"leave of nobody":           {stage(Staged{Kind: LeaveMember, Name: "x"}), ErrUnknown},
		"replace by a member":       {stage(Staged{Kind: ReplaceMember, Name: "n1", By: "n2"}), ErrNotWaiting},
		"a weight of nothing":       {stage(Staged{Kind: SetWeight, Name: "n1"}), ErrImpossible},
		"a rack that is none":       {stage(Staged{Kind: SetRack, Name: "n1", By: "a b"}), ErrImpossible},
		"an unknown change":         {stage(Staged{Kind: 99, Name: "n1"}), ErrImpossible},
		"unstage nothing":           {Entry{Unstage: &Unstage{}}, ErrNothingStaged},
		"commit nothing":            {Entry{Commit: &Commit{}}, ErrEncoding},
		"abort nothing":             {Entry{Abort: &Abort{}}, ErrNoPlan},
		"begin without a plan":      {Entry{Begin: &Begin{Slots: []uint16{1}}}, ErrNoPlan},
		"complete what isn't joint": {Entry{Complete: &Complete{Member: 1, Slots: []SlotEpoch{{1, 1}, {65535, 1}}}}, ErrStale},
		"resume what isn't paused":  {Entry{Pause: &Pause{Off: true}}, ErrNothing},
		"a rate below nothing":      {Entry{Rate: &Rate{-1}}, ErrImpossible},
		"a database there is not":   {Entry{Place: &Place{Database: 16, Close: true}}, ErrImpossible},
		"a database below nothing":  {Entry{Place: &Place{Database: -1, Close: true}}, ErrImpossible},
		"closed, and placed":        {Entry{Place: &Place{Close: true, Together: true}}, ErrImpossible},
		"place what is not closed":  {Entry{Place: &Place{Together: true}}, ErrNothing},
		"a loss without a plan":     {Entry{Accept: &AcceptLoss{Cluster: "test"}}, ErrNoPlan},
	} {
		after, err := Apply(d, c.e, 0)
		require.ErrorIs(t, err, c.err, name)
		require.Equal(t, d.Digest(), after.Digest(), name)
	}
	d = do(t, d, stage(Staged{Kind: ReplaceMember, Name: "n1", By: "n4"}))
	for _, s := range []Staged{{Kind: LeaveMember, Name: "n1"}, {Kind: ReplaceMember, Name: "n2", By: "n4"}, {Kind: JoinMember, Name: "n4"}} {
		_, err := Apply(d, stage(s), 0)
		require.ErrorIs(t, err, ErrStagedAlready, s.String())
	}
}

func TestAPlanIsCommittedOnceByItsID(t *testing.T) {
	d := do(t, first(t, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"}))
	c, err := Propose(d)
	require.NoError(t, err)
	again, err := Propose(do(t, d, Entry{Rate: &Rate{1}}))
	require.NoError(t, err)
	require.Equal(t, c.ID, again.ID, "what has nothing to do with it changes nothing")

	more := do(t, d, stage(Staged{Kind: SetWeight, Name: "n5", Number: 3}))
	_, err = Apply(more, Entry{Commit: c}, 0)
	require.ErrorIs(t, err, ErrOtherPlan)
	forged := &Commit{Moves: encodeMoves([]Move{{3, d.Slots[3].Replicas, []uint16{1, 2, 2}}})}
	forged.ID = d.planID(forged.Moves)
	_, err = Apply(d, Entry{Commit: forged}, 0)
	require.ErrorIs(t, err, ErrImpossible)

	d = do(t, d, Entry{Commit: c})
	_, err = Apply(d, Entry{Commit: c}, 0)
	require.ErrorIs(t, err, ErrNothingStaged)
	d = do(t, d, stage(Staged{Kind: LeaveMember, Name: "n1"}))
	_, err = Apply(d, Entry{Commit: c}, 0)
	require.ErrorIs(t, err, ErrOtherPlan)

	d = do(t, d, Entry{Pause: &Pause{}})
	slot := NextWave(do(t, d, Entry{Pause: &Pause{Off: true}}), Limits{Joint: 1, Alive: Alive})[0]
	_, err = Apply(d, begin(d, slot), 0)
	require.ErrorIs(t, err, ErrPaused)
	require.Empty(t, NextWave(d, Limits{Alive: Alive}))
	d = do(t, d, Entry{Pause: &Pause{Off: true}}, begin(d, slot))
	_, err = Apply(d, begin(d, slot), 0)
	require.ErrorIs(t, err, ErrStale, "no slot is joint twice")
}

// An ID is given again only when all others have had their turn, and never while
// anything names it.
func TestIDsWrap(t *testing.T) {
	d := first(t, 3, 3)
	d.LastID = 65534
	d = do(t, d, join(4), join(5), join(6))
	var ids []uint16
	for _, name := range []string{"n4", "n5", "n6"} {
		l, _ := d.ByName(name)
		ids = append(ids, l.ID)
	}
	require.Equal(t, []uint16{65535, 4, 5}, ids)
	d.Version = 1<<64 - 1
	_, err := Apply(d, join(7), 0)
	require.Error(t, err, "versions do not wrap")
}
