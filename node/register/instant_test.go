package register

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where what is staged is durable at once, the own replica's vote for a write takes no way round.
func TestInstantVoteIsCountedAtOnce(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	c.instant = true
	set := c.ask(1, "set k v")
	require.Empty(t, c.process(1).loop)
	c.open(set) // one vote is no majority
	c.deliver(c.one(Accept, 2))
	c.done(set, "+OK\r\n")
}

// A slot with one replica has a majority then, which is told in the usual way.
func TestInstantVoteThatIsAMajority(t *testing.T) {
	c := newCluster(t, 1)
	c.lead(1)
	c.instant = true
	set := c.ask(1, "set k v")
	c.run()
	c.done(set, "+OK\r\n")
	require.Zero(t, c.home(1).keys.len(), "and forgotten")
}

// A tombstone is purged when all have acknowledged it, the own replica too.
func TestInstantVoteForATombstone(t *testing.T) {
	c := newCluster(t, 3)
	c.instant = true
	c.ask(1, "set k v")
	c.run()
	del := c.ask(1, "del k")
	c.run()
	c.done(del, ":1\r\n")
	require.Equal(t, 1, c.events[Purged])
	for id := uint16(1); id <= 3; id++ {
		require.Empty(t, c.process(id).store.records)
	}
}

// A read waits for a round: the own replica's answer counts for it as any other.
func TestInstantVoteWhileAReadWaits(t *testing.T) {
	c := newCluster(t, 3)
	c.instant = true
	c.ask(1, "set k v")
	c.run()
	get := c.ask(1, "get k")
	set := c.ask(1, "set k w")
	c.run(1, 2)
	c.done(get, "$1\r\nv\r\n")
	c.done(set, "+OK\r\n")
}
