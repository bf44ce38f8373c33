package register

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// seen has a home tell the version that a batch finds of a key.
func (c *cluster) seen(id uint16, key string) (version record.Version) {
	helper(c.t)
	c.batch(id, []string{key}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		version = held[0].Version
		return dst, make([]record.Effect, 1), nil
	})
	c.run()
	return version
}

// TestWhatCameAndWentShows: a batch that finds no record of a key finds a version that is above what was found before if the key was there meanwhile, also when its
// tombstone is purged, or the slot was cleared before.
func TestWhatCameAndWentShows(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	for _, before := range []string{"", "del b", "clear"} {
		if before == "clear" {
			c.ask(1, "set a x")
			c.run()
			c.ask(1, "clear")
			c.run()
		} else if before != "" {
			c.ask(1, "set b x")
			c.run()
			c.ask(1, before)
			c.run()
		}
		first := c.seen(1, "a")
		require.Equal(t, first, c.seen(1, "a"), "nothing has happened")
		for range 2 {
			c.ask(1, "set a 1")
			c.run()
			c.ask(1, "del a")
			c.run()
			require.True(t, first.Less(c.seen(1, "a")), "its tombstone is there")
			c.advance(testTiming.Linger + 1)
			c.run()
			c.advance(testTiming.Linger + 1)
			c.run()
			_, present, err := c.process(1).acceptor.Read([]byte("a"))
			require.NoError(t, err)
			require.False(t, present, "purged")
			require.True(t, first.Less(c.seen(1, "a")), "only the floor knows")
		}
	}
}

// TestWhatAGroupWroteIsNoVersion: what others of a group have done to a key is nothing that anybody has seen.
func TestWhatAGroupWroteIsNoVersion(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.together(1, "a", "b", "1")
	var version record.Version
	c.batch(1, []string{"b"}, func(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
		version = held[0].Version
		return dst, make([]record.Effect, 1), nil
	})
	c.run()
	require.Equal(t, uint64(math.MaxUint64), version.Seq)
}
