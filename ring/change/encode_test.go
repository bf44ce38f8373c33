package change

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBadEncodings(t *testing.T) {
	d := commit(t, do(t, first(t, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"})))
	d = do(t, d, begin(d, NextWave(d, Limits{Joint: 20, Alive: Alive})...))
	b := d.Encode()
	same, err := Decode(b)
	require.NoError(t, err)
	require.Equal(t, d.Digest(), same.Digest())
	for _, n := range []int{0, 1, 7, 8, 9, 100, len(b) / 2, len(b) - 9, len(b) - 1} {
		_, err := Decode(b[:n])
		require.Error(t, err, n)
	}
	b[len(b)/2] ^= 1
	_, err = Decode(b)
	require.Error(t, err)

	other := first(t, 4, 3)
	other.Cluster = "other"
	_, err = other.Update(d.Encode())
	require.ErrorIs(t, err, ErrDiverged)
	reformed := first(t, 4, 3) // with other generations
	reformed.Formation++
	_, err = reformed.Update(d.Encode())
	require.ErrorIs(t, err, ErrDiverged)
	_, err = reformed.Update(d.Since(1))
	require.ErrorIs(t, err, ErrDiverged)
	nothing := first(t, 4, 3)
	nothing.Formation = 0
	_, err = Decode(nothing.Encode())
	require.ErrorIs(t, err, ErrEncoding)
	fork := do(t, first(t, 4, 3), Entry{Rate: &Rate{5}})
	_, err = fork.Update(d.Since(fork.Version))
	require.ErrorIs(t, err, ErrDiverged)
}

// TestLives: a formation is one of the cluster's, with the generations that there were, and stays; lives that are lost, or wait, are found.
func TestLives(t *testing.T) {
	d := first(t, 4, 3)
	require.True(t, d.Untouched())
	require.Equal(t, cluster(4, 3).Digest(), d.Formation)
	next := do(t, d, join(5), rejoin(d, "n2", 77))
	require.False(t, next.Untouched())
	require.False(t, do(t, d, Entry{Rate: &Rate{5}}).Untouched())
	require.Equal(t, d.Formation, next.Formation)
	require.Len(t, next.Ring().Members, 4)
	require.Len(t, next.Lives().Members, 6)
	lost, _ := next.LifeOf("n2", 2)
	back, _ := next.LifeOf("n2", 77)
	require.Equal(t, Lost, lost.State)
	require.Equal(t, Joining, back.State)
	require.NotEqual(t, lost.ID, back.ID)
	_, found := next.LifeOf("n3", 77)
	require.False(t, found)
}

func TestADeltaWithAGap(t *testing.T) {
	d := first(t, 4, 3)
	next := do(t, d, Entry{Rate: &Rate{1}}, Entry{Rate: &Rate{2}}, Entry{Rate: &Rate{3}})
	same, err := d.Update(next.Since(2))
	require.ErrorIs(t, err, ErrGap)
	require.Equal(t, d.Digest(), same.Digest())
	_, err = d.Update(next.Since(1))
	require.NoError(t, err)
}

// FuzzUpdate: bytes from somewhere are refused, or make a valid document that is
// encoded and decoded as the same; and the document before stays as it was.
func FuzzUpdate(f *testing.F) {
	d := first(f, 4, 3)
	next := commit(f, do(f, d, join(5), stage(Staged{Kind: JoinMember, Name: "n5"}), stage(Staged{Kind: SetWeight, Name: "n1", Number: 2})))
	joint := do(f, next, begin(next, NextWave(next, Limits{Joint: 20, Alive: Alive})...))
	lost := do(f, joint, rejoin(joint, "n2", 7))
	for _, d := range []Document{next, joint, lost} {
		for _, since := range []uint64{0, 1, d.Version - 1} {
			f.Add(d.body(since))
		}
	}
	digest := d.Digest()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, base := range []Document{{}, d} {
			got, err := base.decode(body)
			if err != nil {
				continue
			}
			require.NoError(t, got.Validate())
			again, err := Decode(got.Encode())
			require.NoError(t, err)
			require.Equal(t, got.Digest(), again.Digest())
			NextWave(got, Limits{Joint: 3, Alive: Alive})
			_, _ = Propose(got)
		}
		require.Equal(t, digest, d.Digest())
	})
}

// FuzzApply: whatever is in the log, applying it does not panic, and a valid document
// stays valid.
func FuzzApply(f *testing.F) {
	d := do(f, first(f, 4, 3), join(5), stage(Staged{Kind: JoinMember, Name: "n5"}))
	c, err := Propose(d)
	require.NoError(f, err)
	moving := do(f, d, Entry{Commit: c})
	wave := NextWave(moving, Limits{Joint: 3, Alive: Alive})
	joint := do(f, moving, begin(moving, wave...))
	for _, e := range []Entry{{}, {By: "x", Join: &Join{member(6)}}, {Forget: &Forget{"n5"}}, {Rejoin: &Rejoin{"n2", 9, 2, "h:1", "h:2"}}, stage(Staged{Kind: SetRack, Name: "n1", By: "r"}),
		{Unstage: &Unstage{}}, {Commit: &Commit{ID: c.ID, Moves: c.Moves[:40]}}, {Abort: &Abort{Plan: moving.Plan.ID}}, {Pause: &Pause{}}, {Rate: &Rate{5}}, begin(moving, wave...),
		{Complete: &Complete{5, []SlotEpoch{{wave[0], joint.Version}}}}, {Accept: &AcceptLoss{"test", []uint16{1, 2}}}, {Place: &Place{Database: 3, Close: true}},
		{Parameters: &Parameters{Set: []Parameter{{"maxmemory", "1"}}}}} {
		text, err := json.Marshal(e)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e Entry
		if json.Unmarshal(text, &e) != nil {
			return
		}
		for _, d := range []Document{d, moving, joint} {
			next, err := Apply(d, e, 1)
			if err != nil {
				require.Equal(t, d.Version, next.Version)
				continue
			}
			require.NoError(t, next.Validate())
			got, err := d.Update(next.Since(d.Version))
			require.NoError(t, err)
			require.Equal(t, next.Digest(), got.Digest())
		}
	})
}
