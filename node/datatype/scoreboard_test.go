package datatype

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// largeZset is a sorted set of so many members, whose scores are less than a hundred.
func largeZset(members int) record.State {
	pairs := make([]string, 0, 2*members)
	for i := range members {
		pairs = append(pairs, strconv.Itoa(i*7919%100), fmt.Sprint("member", i))
	}
	return zsetOf(pairs...)
}

// TestAReplicaHasTheFormOfTheHomeOfASortedSet: it becomes long and short again, a replica gets it whole at any time, and deltas from then on.
func TestAReplicaHasTheFormOfTheHomeOfASortedSet(t *testing.T) {
	home, changes := record.State{}, 0
	replicas := map[int]record.State{}
	for step := range 6 * packedMembers {
		args := []string{"ZADD", "k", strconv.Itoa(step * 7919 % 1000), fmt.Sprint("member", step)}
		switch {
		case step > 2*packedMembers && step%3 == 1:
			args = []string{"ZPOPMIN", "k", "2"}
		case step > 2*packedMembers && step%3 == 2:
			args = []string{"ZINCRBY", "k", "300.5", string(zsetIn(home).at(0).member)}
		}
		_, next, eff := execute(t, home, request(args...), testNow)
		for i, replica := range replicas {
			switch eff.Kind {
			case record.Changed:
				var err error
				replica, err = Apply(replica, eff.Delta)
				require.NoError(t, err)
			default:
				replica = arrived(next)
			}
			replicas[i] = replica
			require.Equal(t, next.Packed(), replica.Packed(), "step %d, replica since %d", step, i)
			require.Equal(t, next.Object == nil, replica.Object == nil)
		}
		if (next.Object != nil) != (home.Object != nil) {
			changes++
		}
		if home = next; step%20 == 0 {
			replicas[step] = arrived(home)
		}
		sameTrees(t, home)
	}
	require.Greater(t, changes, 1, "it did not change its form and back")
}

// sameTrees requires that the two trees of a large sorted set have the same members, and scores.
func sameTrees(t *testing.T, st record.State) {
	board, ok := st.Object.(*scoreboard)
	if !ok {
		return
	}
	require.Equal(t, board.order.Len(), board.scores.Len())
	again, err := scoreboardOf(board.order)
	require.NoError(t, err)
	require.Equal(t, again.scores.AppendTo(nil), board.scores.AppendTo(nil))
}

// TestOldVersionsOfASortedSetStay: who has one keeps it, whatever is made of it.
func TestOldVersionsOfASortedSetStay(t *testing.T) {
	st := largeZset(1000)
	type kept struct {
		st     record.State
		packed []byte
	}
	var all []kept
	for i := range 100 {
		all = append(all, kept{st, bytes.Clone(st.Packed().Value)})
		args := []string{"ZADD", "k", strconv.Itoa(i), fmt.Sprint("member", i*7), strconv.Itoa(i), fmt.Sprint("new", i)}
		if i%5 == 4 {
			args = []string{"ZREMRANGEBYRANK", "k", strconv.Itoa(i), strconv.Itoa(2 * i)}
		}
		_, st, _ = execute(t, st, request(args...), testNow)
	}
	for _, k := range slices.Backward(all) {
		require.Equal(t, k.packed, k.st.Packed().Value)
		sameTrees(t, k.st)
	}
}

// TestABuiltSortedSetIsTheSame, and what is none, or a small one, is not built.
func TestABuiltSortedSetIsTheSame(t *testing.T) {
	build := func(size int, from io.Reader) (record.State, error) {
		b, err := NewBuilder(record.SortedSet, false, size)
		require.NoError(t, err)
		_, err = io.Copy(b, from)
		if err != nil {
			return record.State{}, err
		}
		return b.State()
	}
	st := largeZset(1000)
	built, err := build(st.Size(), st.Reader())
	require.NoError(t, err)
	require.Equal(t, st.Packed(), built.Packed())
	sameTrees(t, built)
	small := largeZset(packedMembers)
	_, err = build(small.Size(), small.Reader())
	require.ErrorIs(t, err, ErrBuild)
	packed := st.Packed().Value
	for name, i := range map[string]int{"the number of members": 0, "a length": 2, "the length of a score": 3} {
		other := bytes.Clone(packed)
		other[i] ^= 0x7f
		_, err = build(len(other), bytes.NewReader(other))
		require.Error(t, err, name)
	}
	twice := new(parts.Sequence)
	for i := range 200 {
		twice = twice.Splice(i, i, append(appendCode(nil, float64(i)), "member"...))
	}
	_, err = build(twice.Size(), twice.Reader())
	require.ErrorIs(t, err, ErrBuild, "a member twice")
	_, err = NewBuilder(record.SortedSet, true, 10)
	require.ErrorIs(t, err, ErrBuild)
}
