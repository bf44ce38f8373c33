package node

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoIsBehindHasWhatItsConnectionBrought, and not what went out before that.
func TestWhoIsBehindHasWhatItsConnectionBrought(t *testing.T) {
	c := newFormed(t, 3, nil)
	a, b := c.nodes["a"], c.nodes["b"]
	toA := b.byID[1]
	connected := toA.connectedAt.Load()
	require.NotZero(t, connected)
	c.eventually(func() bool {
		a.work.slow.Store(a.mono()) // which a says to its peers
		return toA.link.Working()
	})
	out := b.getOutbox()
	st := b.lock(0, out)
	after, before := st.Behind(1, connected+1), st.Behind(1, connected)
	st.unlock()
	out.flush()
	require.True(t, after)
	require.False(t, before)
}
