package register

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestATermThatCannotBeConfirmedIsGivenUp: members 2 and 3 have promised a rival that is
// gone, and what 3 sends never arrives, so that the home can neither get a majority nor be told by
// one that its term is over. Simulator, mode liveness, seed 6.
func TestATermThatCannotBeConfirmedIsGivenUp(t *testing.T) {
	for command, end := range map[string]Outcome{
		"set k v":  Done,    // its fate is found out in the next term
		"get cold": NotDone, // its proxy may go elsewhere
		"clear":    Unknown, // what became of it cannot be found out
	} {
		t.Run(command, func(t *testing.T) {
			c := newCluster(t, 3)
			c.lead(1)
			c.by(Message{Kind: Prepare, Ballot: rival(2)}, 2, 3)
			a := c.ask(1, command)
			c.run(1, 2)
			c.lose()
			c.open(a)
			require.True(t, c.home(1).Leading())

			c.advance(testTiming.Resend)
			require.False(t, c.home(1).Leading())
			c.advance(testTiming.Backoff)
			c.run(1, 2)
			require.Len(t, a.answers, 1)
			require.Equal(t, end, a.answers[0].Outcome)
		})
	}
}
