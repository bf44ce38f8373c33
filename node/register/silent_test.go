package register

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAHomeThatHearsNobodyTriesLessOften: others may hear it, and each of its attempts ends a term of theirs. In the simulator a client of theirs was never answered (seed 61010144 of mode
// liveness).
func TestAHomeThatHearsNobodyTriesLessOften(t *testing.T) {
	c := newCluster(t, 3)
	attempt := func() (longest int64) {
		get := c.ask(1, "get k")
		c.run(1) // nothing comes back
		c.lose()
		c.advance(testTiming.Acquire)
		longest = c.process(1).bound
		c.advance(testTiming.Request)
		c.failed(get, NotDone, NoQuorum, 0)
		c.lose()
		return longest
	}
	for _, longest := range []int64{1, 2, 4, 8, 16, 16} {
		require.Equal(t, longest*testTiming.Backoff, attempt())
	}
	get := c.ask(1, "get k")
	c.run()
	c.done(get, "$-1\r\n")
	c.by(Message{Kind: Prepare, Ballot: rival(3)}, 2, 3)
	c.ask(1, "set k v")
	c.run()
	require.False(t, c.home(1).Leading())
	require.Equal(t, testTiming.Backoff, c.process(1).bound, "who was heard begins anew")
}
