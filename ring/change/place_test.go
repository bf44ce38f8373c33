package change

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
)

func TestADatabaseIsClosedAndThenPlaced(t *testing.T) {
	d := first(t, 3, 3)
	plain := d.Encode()
	closed := do(t, d, Entry{By: "ann", Place: &Place{Database: 3, Close: true}})
	require.Equal(t, database.Placements{Closed: 1 << 3}, closed.Placements)
	together := do(t, closed, Entry{By: "ann", Place: &Place{Database: 3, Together: true}})
	require.Equal(t, database.Placements{Together: 1 << 3}, together.Placements)
	require.Equal(t, "opens database 3, with its keys together", together.History[1].What)
	again := do(t, together, Entry{Place: &Place{Database: 3, Close: true}}) // stays as it is placed
	require.Equal(t, database.Placements{Together: 1 << 3, Closed: 1 << 3}, again.Placements)
	back := do(t, again, Entry{Place: &Place{Database: 3}})
	require.Zero(t, back.Placements)
	require.Equal(t, d.MembersAt, back.MembersAt)
	require.Equal(t, d.Slots, back.Slots, "no slot is in another epoch")

	for _, next := range []Document{closed, together, again, back} {
		whole, err := Decode(next.Encode())
		require.NoError(t, err)
		require.Equal(t, next, whole)
		delta, err := d.Update(next.Since(d.Version))
		require.NoError(t, err)
		require.Equal(t, next, delta)
		next.Refounded = 1
		whole, err = Decode(next.Encode())
		require.NoError(t, err)
		require.Equal(t, next, whole)
	}
	require.Equal(t, plain, d.Encode(), "a ring without is as rings were before")
}
