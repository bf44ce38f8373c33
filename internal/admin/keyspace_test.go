package admin

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// searched is a ring whose members say what they have of a database, one after the other.
type searched struct {
	*ringer
	answers []any // a key, an error, or nil for none
	asked   []uint64
}

func (s *searched) FindKey(_ context.Context, _ database.ID, version uint64) (key []byte, found bool, err error) {
	s.asked = append(s.asked, version)
	answer := s.answers[min(len(s.asked), len(s.answers))-1]
	switch a := answer.(type) {
	case string:
		return []byte(a), true, nil
	case error:
		return nil, false, a
	}
	return nil, false, nil
}

func TestADatabaseIsPlacedWhileItHasNoKeys(t *testing.T) {
	silent := errors.New("node n2: it does not answer")
	for name, test := range map[string]struct {
		answers []any
		problem string
		asked   []uint64
		version uint64
	}{
		"empty":                 {answers: []any{nil}, asked: []uint64{1, 2}, version: 3},
		"heard later":           {answers: []any{nil, silent, silent, nil}, asked: []uint64{1, 2, 2, 2}, version: 3},
		"has keys":              {answers: []any{"k"}, problem: `database 3 has keys, such as "k"`, asked: []uint64{1}, version: 1},
		"a member is silent":    {answers: []any{silent}, problem: "every member of the ring has to answer", asked: []uint64{1}, version: 1},
		"a key comes":           {answers: []any{nil, "k"}, problem: `has written the key "k" meanwhile. Nothing was changed`, asked: []uint64{1, 2}, version: 3},
		"a member falls silent": {answers: []any{nil, silent}, problem: "not every member of the ring has heard in time", version: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &searched{ringer: ringOf(t, 3, 0), answers: test.answers}
			c := client(t, serve(t, s, "").URL, "")
			all, err := c.PlaceRing(t.Context(), 3, true, RingOption{By: "ann"})
			require.Equal(t, test.version, s.document.Version)
			if test.asked != nil {
				require.Equal(t, test.asked, s.asked)
			}
			if test.problem != "" {
				require.ErrorContains(t, err, test.problem)
				require.Zero(t, s.document.Placements, "it is as before")
				return
			}
			require.NoError(t, err)
			slot := ring.SlotOfDatabase(database.IDOf(3, true))
			require.Equal(t, Keyspace{Database: 3, Placement: "together", Slot: &slot}, all[3])
			require.Equal(t, Keyspace{Database: 2, Placement: "spread"}, all[2])
			again, err := c.Keyspaces(t.Context())
			require.NoError(t, err)
			require.Equal(t, all, again)
			_, err = c.PlaceRing(t.Context(), 3, true, RingOption{})
			require.ErrorContains(t, err, change.ErrNothing.Error())
		})
	}
}

func TestPlacingThatIsNotDone(t *testing.T) {
	s := &searched{ringer: ringOf(t, 3, 0), answers: []any{nil}}
	server := serve(t, s, "")
	c := client(t, server.URL, "")
	_, err := c.PlaceRing(t.Context(), 3, true, RingOption{DryRun: true})
	require.NoError(t, err)
	require.EqualValues(t, 1, s.document.Version)
	for _, number := range []int{-1, database.Count} {
		_, err = c.PlaceRing(t.Context(), number, true, RingOption{})
		require.ErrorContains(t, err, "is not a number from 0 to 15")
	}
	_, err = client(t, serve(t, s.ringer, "").URL, "").PlaceRing(t.Context(), 3, true, RingOption{})
	require.ErrorContains(t, err, "give the admin address of a node")

	s.document.Placements = database.Placements{}.Close(3) // by somebody who went away
	all, err := c.Keyspaces(t.Context())
	require.NoError(t, err)
	require.Equal(t, Keyspace{Database: 3, Placement: "spread", Closed: true}, all[3])
	_, err = c.PlaceRing(t.Context(), 3, false, RingOption{})
	require.NoError(t, err, "the same command goes on with it")
	require.Zero(t, s.document.Placements)
}
