package register

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestWhatTheHomeHasIsNotShown: a replica that holds the same as the home says so, and one that holds something else shows it.
func TestWhatTheHomeHasIsNotShown(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	set := c.ask(1, "set k v")
	c.run()
	c.done(set, "+OK\r\n")
	set = c.ask(1, "set other v")
	c.run(1, 3) // which the next home misses
	c.done(set, "+OK\r\n")
	c.lose()

	get := c.force(2, "get k")
	c.stuck = SyncRead
	c.run()
	c.stuck = 0
	for _, id := range []uint16{1, 3} {
		reply := c.one(SyncRead, id)
		require.True(t, reply.Same && reply.Present, "the home has it")
		require.Equal(t, record.State{}, reply.Found)
		c.mail = append(c.mail, reply)
	}
	c.run()
	c.done(get, "$1\r\nv\r\n")

	get = c.force(2, "get other")
	c.stuck = SyncRead
	c.run()
	c.stuck = 0
	reply := c.one(SyncRead, 3)
	require.False(t, reply.Same)
	require.Equal(t, "v", string(reply.Found.Value))
	c.mail = append(c.mail, reply)
	c.run()
	c.done(get, "$1\r\nv\r\n")
}

// TestWhatIsNotShownMustBeHere: a reply that shows nothing, of a version that the own replica does not hold, is as if it had been lost.
func TestWhatIsNotShownMustBeHere(t *testing.T) {
	c := newCluster(t, 3)
	c.lead(1)
	get := c.force(2, "get warm")
	c.stuck = SyncRead
	c.run()
	c.stuck = 0
	for _, id := range []uint16{1, 3} {
		reply := c.one(SyncRead, id)
		require.True(t, reply.Same)
		reply.Held.Seq++
		c.process(2).reply(&reply)
	}
	c.open(get)
	_, proposed := c.take(func(m *Message) bool { return m.Kind == Accept })
	require.False(t, proposed, "what is here is taken for it")
	c.advance(testTiming.Resend)
	c.run()
	c.done(get, "$2\r\nup\r\n")
}

// TestALargeHeadIsAskedForFirst: a member that is only late does not get a large state twice, and one that lacks it gets it.
func TestALargeHeadIsAskedForFirst(t *testing.T) {
	large := testTiming
	large.Large = 1000
	for name, late := range map[string]bool{"it is late": true, "it is lost": false} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			c.lead(1)
			c.home(1).timing = &large
			c.dead[3] = true
			value := strings.Repeat("v", 1000)
			set := c.ask(1, "set k "+value)
			c.run(1)
			first, there := c.take(func(m *Message) bool { return m.Kind == Accept && m.To == 2 })
			require.True(t, there)
			c.lose()
			c.advance(large.Resend)
			asks, there := c.take(func(m *Message) bool { return m.Kind == Accept && m.To == 2 })
			require.True(t, there)
			require.True(t, asks.IsDelta, "it is sent again whole")
			require.Equal(t, first.Version, asks.Version)
			require.Zero(t, asks.State.Size())

			if late {
				c.deliver(first)
			}
			c.lose()
			c.deliver(asks)
			require.Equal(t, late, c.mail[0].Result == OK)
			c.run(1, 2)
			c.done(set, "+OK\r\n")
			require.Equal(t, value, c.value(2, "k"))
			whole := 0
			for _, m := range c.sent {
				if m.Kind == Accept && m.To == 2 && m.State.Size() >= large.Large {
					whole++
				}
			}
			require.Equal(t, map[bool]int{true: 1, false: 2}[late], whole)
		})
	}
}
