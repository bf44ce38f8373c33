package datatype

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/hyperloglog"
	"github.com/quolldb/quoll/internal/record"
)

// TestADeltaLeavesSomeElement: whoever takes the last one deletes the key; and a delta that would leave none is refused.
func TestADeltaLeavesSomeElement(t *testing.T) {
	for take, c := range map[string]struct {
		st   record.State
		none []byte
	}{
		"LPOP k":      {listOf("m"), cuts{{from: 0, to: 1}}.appendDelta(nil, 1)},
		"LTRIM k 1 0": {listOf("m", "n"), cuts{{from: 0, to: 1}, {from: 1, to: 2}}.appendDelta(nil, 2)},
		"SPOP k":      {setOf("1"), edit{list: []fieldChange{{field: []byte("1"), remove: true}}}.appendDelta(nil)},
		"SREM k m":    {setOf("m"), edit{list: []fieldChange{{field: []byte("m"), remove: true}}}.appendDelta(nil)},
		"ZPOPMAX k":   {zsetOf("1", "m"), ranksDelta(nil, 0, 1)},
		"ZREM k m":    {zsetOf("1", "m"), scoresDelta(nil, []scoreChange{{scored: scored{member: []byte("m")}, remove: true}})},
	} {
		_, gone, eff := execute(t, c.st, request(strings.Fields(take)...), testNow)
		require.Equal(t, record.Effect{Kind: record.Replaced}, eff, take)
		require.False(t, gone.Live(), "%s: a key without elements", take)
		_, err := Apply(c.st, c.none)
		require.ErrorIs(t, err, ErrDelta, take)
	}
}

// TestADeltaOfElementsFits: what names an element by its rank is refused where others have the ranks, and what no home says everywhere.
func TestADeltaOfElementsFits(t *testing.T) {
	list := listOf("a", "b", "c")
	for name, c := range map[string]struct {
		st    record.State
		delta []byte
	}{
		"a list of another length":  {list, cuts{{from: 0, to: 1}}.appendDelta(nil, 4)},
		"behind the list":           {list, cuts{{from: 3, to: 4}}.appendDelta(nil, 3)},
		"no cut":                    {list, cuts{}.appendDelta(nil, 3)},
		"members that have values":  {setOf("a"), edit{list: []fieldChange{{field: []byte("b"), value: []byte("v")}}}.appendDelta(nil)},
		"behind the sorted set":     {zsetOf("1", "a", "2", "b", "3", "c"), ranksDelta(nil, 2, 4)},
		"a score that is no number": {zsetOf("1", "a"), []byte{deltaScores, scoresSet, 2, 'b', 8, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f}},
		"registers of a string":     {str(strings.Repeat("x", 300)), encodeRegisters([]hyperloglog.Register{{Index: 1, Value: 1}})},
		"members for a list":        {list, edit{list: []fieldChange{{field: []byte("b")}}}.appendDelta(nil)},
	} {
		_, err := Apply(c.st, c.delta)
		require.ErrorIs(t, err, ErrDelta, name)
	}
}

// TestDeltasOfElementsLeaveTheExpiry, and say the same to a replica that was sent the whole.
func TestDeltasOfElementsLeaveTheExpiry(t *testing.T) {
	many := numbers(0, 200)
	for command, st := range map[string]record.State{
		"LMOVE k k LEFT RIGHT":  listOf(many...),
		"LREM k 0 77":           listOf(many...),
		"SADD k 1000":           setOf(many...),
		"SPOP k 3":              setOf(many...),
		"ZINCRBY k 7 member1":   largeZset(200),
		"ZPOPMIN k 10":          largeZset(200),
		"PFADD k a b c d e f g": sketchOf(t, 5000),
	} {
		st.ExpireAt = testNow + 1
		_, next, eff := execute(t, st, request(strings.Fields(command)...), testNow)
		require.Equal(t, record.Changed, eff.Kind, command)
		require.Equal(t, st.ExpireAt, next.ExpireAt, command)
		replica, err := Apply(arrived(st), eff.Delta)
		require.NoError(t, err, command)
		require.Equal(t, next.Packed(), replica.Packed(), command)
	}
}

// TestAReplicaHasTheFormOfTheHomeOfElements: lists and sets become long and short again, a replica gets them whole at any time, and deltas from then on. What is handed out was
// there until then, once.
func TestAReplicaHasTheFormOfTheHomeOfElements(t *testing.T) {
	for push, pop := range map[string]string{"RPUSH": "LPOP", "LPUSH": "RPOP", "SADD": "SPOP"} {
		home, changes := record.State{}, 0
		replicas, there := map[int]record.State{}, map[string]bool{}
		for step := range 2280 {
			req := request(push, "k", fmt.Sprint(fmt.Sprint("element", step)))
			if step > 600 && step%3 > 0 { // one comes, two go
				req = request(pop, "k")
				req.Random = uint64(step)
			} else {
				there[string(req.Args[2])] = true
			}
			reply, next, eff := execute(t, home, req, testNow)
			if element := strings.Split(reply, "\r\n"); reply[0] == '$' && home.Live() {
				require.True(t, there[element[1]], "%s of %s, which is not there", pop, element[1])
				delete(there, element[1])
			}
			for i, replica := range replicas {
				if eff.Kind == record.Changed {
					var err error
					replica, err = Apply(replica, eff.Delta)
					require.NoError(t, err)
				} else {
					replica = arrived(next)
				}
				replicas[i] = replica
				require.Equal(t, next.Packed(), replica.Packed(), "%s, step %d, replica since %d", pop, step, i)
				require.Equal(t, next.Object == nil, replica.Object == nil, "%s, step %d, replica since %d", pop, step, i)
			}
			if (next.Object != nil) != (home.Object != nil) {
				changes++
			}
			if home = next; step%300 == 0 {
				replicas[step] = arrived(home)
			}
		}
		require.Greater(t, changes, 1, "%s: it did not change its form and back", push)
		require.Equal(t, len(there), countOf(home), push)
	}
}

// countOf returns how many elements a list or a set has.
func countOf(st record.State) int {
	if st.Type == record.List {
		return listIn(st).count()
	}
	return membersIn(st).count()
}
