package route

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// TestOnlyWhatWasAddedIsKnown: nothing else is, whatever places and numbers are shared. What was added last is there.
func TestOnlyWhatWasAddedIsKnown(t *testing.T) {
	type one struct {
		slot uint16
		v    record.Version
	}
	rapid.Check(t, func(t *rapid.T) {
		var c chosen
		ones := rapid.Custom(func(t *rapid.T) one {
			return one{
				rapid.SampledFrom([]uint16{0, 1, ring.Slots - 1}).Draw(t, "slot"),
				record.Version{
					Ballot: record.Ballot{Counter: rapid.Uint64Range(0, 3).Draw(t, "counter"), Incarnation: rapid.SampledFrom([]uint64{0, 1, 1 << 63}).Draw(t, "incarnation")},
					Seq:    rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Just[uint64](1<<seqBits-1), rapid.Just[uint64](1<<seqBits), rapid.Uint64()).Draw(t, "seq"),
				},
			}
		})
		added := map[one]bool{}
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			x := ones.Draw(t, "version")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				c.forget()
				clear(added)
			case 1, 2, 3, 4:
				c.add(x.slot, x.v)
				added[x] = true
				if c.has(x.slot, x.v) != (x.v.Seq < 1<<seqBits) {
					t.Fatalf("%v was added", x)
				}
			default:
				if c.has(x.slot, x.v) && !added[x] {
					t.Fatalf("%v was not added", x)
				}
			}
		}
	})
}

// TestBallotsComeToAnEnd: when there are no more numbers for them all is forgotten, and nothing is taken for something else.
func TestBallotsComeToAnEnd(t *testing.T) {
	var c chosen
	of := func(counter uint64) record.Version {
		return record.Version{Ballot: record.Ballot{Counter: counter}, Seq: 7}
	}
	const most = 1<<ballotBits - 1
	now := &chosenVersions{ballots: map[record.Ballot]uint64{}, table: new(chosenTable)}
	for i := range uint64(most) {
		now.ballots[of(i).Ballot] = i + 1
	}
	c.now.Store(now)
	c.add(3, of(0))
	require.True(t, c.has(3, of(0)))
	c.add(4, of(most))
	require.True(t, c.has(4, of(most)))
	require.False(t, c.has(3, of(0)))
	require.False(t, c.has(3, of(most)), "its number was another's")
}
