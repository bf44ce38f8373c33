package node

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoIsBehindHasWhatItsConnectionBrought, and not what went out before that.
func TestWhoIsBehindHasWhatItsConnectionBrought(t *testing.T) {
	c := newFormed(t, 3, nil)
	a, b := c.nodes["a"], c.nodes["b"]
	toA := b.peers.Of(1)
	connected := toA.ConnectedAt()
	require.NotZero(t, connected)
	c.eventually(func() bool {
		a.work.slow.Store(a.mono()) // which a says to its peers
		return toA.Working()
	})
	round := b.replicas.Begin()
	st := b.replicas.Lock(0, round)
	after, before := st.Behind(1, connected+1), st.Behind(1, connected)
	st.Unlock()
	round.Flush()
	require.True(t, after)
	require.False(t, before)
}
