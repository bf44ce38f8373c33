package register

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// These are scenarios of R9 in which a read came while the Confirm of another one was on its way: it must not wait for any other message.

// deleted returns a cluster in which a key was deleted, and member 3 has not acknowledged that: when it does the tombstone is purged.
func deleted(t *testing.T) *cluster {
	c := newCluster(t, 3)
	c.lead(1)
	c.ask(1, "set k v")
	c.run()
	del := c.ask(1, "del k")
	c.run(1, 2)
	c.done(del, ":1\r\n")
	return c
}

// acknowledge has member 3 acknowledge what it was given.
func acknowledge(c *cluster) {
	accept, ok := c.take(func(m *Message) bool { return !m.Reply && m.Kind == Accept && m.To == 3 })
	require.True(c.t, ok)
	c.deliver(accept)
	reply, ok := c.take(func(m *Message) bool { return m.Reply && m.Kind == Accept && m.From == 3 })
	require.True(c.t, ok)
	purged := c.events[Purged]
	c.deliver(reply)
	require.Equal(c.t, purged+1, c.events[Purged])
}

func TestR9APurgeBetweenTwoReads(t *testing.T) {
	c := deleted(t)
	first := c.ask(1, "get warm")
	acknowledge(c)
	second := c.ask(1, "get warm")
	c.run()
	c.done(first, "$2\r\nup\r\n")
	c.done(second, "$2\r\nup\r\n")
}

func TestR9APurgeBehindTwoReads(t *testing.T) {
	c := deleted(t)
	first, second := c.ask(1, "get warm"), c.ask(1, "get warm")
	acknowledge(c)
	c.run()
	c.done(first, "$2\r\nup\r\n")
	c.done(second, "$2\r\nup\r\n")
}

func TestR9AReadDoesNotWaitForAWriteOfAnotherKey(t *testing.T) {
	for name, ask := range map[string]func(c *cluster) (reads []*asked){
		"between reads": func(c *cluster) []*asked {
			first := c.ask(1, "get warm")
			c.ask(1, "set slow v")
			return []*asked{first, c.ask(1, "get warm")}
		},
		"behind reads": func(c *cluster) []*asked {
			reads := []*asked{c.ask(1, "get warm"), c.ask(1, "get warm")}
			c.ask(1, "set slow v")
			return reads
		},
		"which another read waits for": func(c *cluster) []*asked {
			c.ask(1, "set slow v")
			c.ask(1, "get slow")
			c.run()
			c.ask(1, "set another v")
			return []*asked{c.ask(1, "get warm")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			c.lead(1)
			c.stuck = Accept
			reads := ask(c)
			c.run()
			for _, read := range append(reads, c.ask(1, "get warm")) {
				c.run()
				c.done(read, "$2\r\nup\r\n")
			}
		})
	}
}

// Votes are not noted while nobody waits for a round.
func TestR9NobodyWaitsForVotesThatWereNotNoted(t *testing.T) {
	c := newCluster(t, 3)
	c.instant = true
	c.lead(1)
	c.dead[3] = true
	reads := []*asked{c.ask(1, "get cold"), c.ask(1, "get cold")}
	c.ask(1, "set d v")
	c.run(1, 2)
	for range 2 {
		reads = append(reads, c.ask(1, "get cold"))
		c.run(1, 2)
	}
	for _, read := range reads {
		c.done(read, "$-1\r\n")
	}
}
