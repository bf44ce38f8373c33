package register

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatAMemberMissedIsNoted as soon as the home does not wait for it any more.
func TestWhatAMemberMissedIsNoted(t *testing.T) {
	t.Run("when a key is forgotten", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.dead[3] = true
		c.ask(1, "set k v")
		c.run(1)
		require.Empty(t, c.missed, "no quorum holds it: it is sent again")
		c.run(1, 2)
		require.Equal(t, []string{"3 k"}, c.missed)
		get := c.ask(1, "get k")
		c.run(1, 2)
		c.done(get, "$1\r\nv\r\n")
		require.Len(t, c.missed, 1, "a read writes nothing")
	})
	t.Run("not by one that is alive", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.ask(1, "set k v")
		c.run(1, 2)
		require.Empty(t, c.missed)
	})
	t.Run("not by one that has acknowledged it", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.dead[2], c.dead[3] = true, true // or so it seems
		c.ask(1, "set k v")
		c.run(1, 2)
		require.Equal(t, []string{"3 k"}, c.missed)
	})
	t.Run("a deletion, at once", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.dead[3] = true
		c.ask(1, "del warm")
		c.run(1, 2)
		require.Equal(t, []string{"3 warm"}, c.missed)
		delete(c.dead, 3)
		c.advance(testTiming.Linger + 1)
		require.Zero(t, c.home(1).keys.len())
		require.Len(t, c.missed, 1)
	})
	t.Run("a clear", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.dead[3] = true
		c.ask(1, "clear")
		c.run(1)
		require.Empty(t, c.missed)
		c.run(1, 2)
		require.Equal(t, []string{"3 all keys"}, c.missed)
	})
	t.Run("at the end of a term", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.dead[3] = true
		c.ask(1, "set k v")
		c.ask(1, "clear")
		c.run(1)
		require.Empty(t, c.missed)
		c.process(1).stepDown()
		require.Equal(t, []string{"3 all keys"}, c.missed, "the clear is the newest write of the key")
	})
	t.Run("when the members change", func(t *testing.T) {
		c := newCluster(t, 3)
		c.lead(1)
		c.dead[3] = true
		c.ask(1, "set k v")
		c.process(1).learn(NewConfig(2, []uint16{1, 2}, nil))
		require.Equal(t, []string{"3 k"}, c.missed, "those that were asked")
	})
}
