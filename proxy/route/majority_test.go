package route

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneNodeDownStopsNothing(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	for i, n := range f.nodes {
		n.setDown(true)
		f.awaitUp(c, 2)
		for home := uint16(1); home <= 3; home++ {
			key := f.keys(4, home)[i]
			require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
			require.Equal(t, []string{"$1\r\nv\r\n"}, texts(run(t, c, get(key))))
		}
		require.NoError(t, c.Ready(context.Background()))
		n.setDown(false)
		f.awaitUp(c, 3)
	}
}

func TestWithoutMajorityAllIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	f.nodes[0].setDown(true)
	f.nodes[2].setDown(true)
	f.awaitUp(c, 1)
	f.forget()
	began := time.Now()
	no := refused(ErrNoMajority)
	require.Equal(t, []string{no, no, no}, texts(run(t, c, get("a"), set("b", "v"), set("b", "w"))))
	require.Less(t, time.Since(began), patient/2)
	require.Empty(t, f.seen())
	require.ErrorIs(t, c.Ready(context.Background()), ErrNoMajority)

	f.nodes[2].setDown(false)
	f.awaitUp(c, 2)
	require.Equal(t, []string{"+OK\r\n", "$1\r\nv\r\n"}, texts(run(t, c, set("b", "v"), get("b"))))
}

func TestTwoSilentNodes(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.suspicious(time.Second)
	view := c.ring.Load()
	f.nodes[0].freeze()
	f.nodes[1].freeze()
	f.awaitUp(c, 1)
	began := time.Now() // they may only be slow: it is tried
	require.Equal(t, []string{refused(ErrTimeout)}, texts(run(t, c, get(f.key(1)))))
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)

	eventually(t, func() bool { return view.node(1).silent() && view.node(2).silent() }, "silent for the time-out")
	no := refused(ErrNoMajority)
	attempts := c.Stats().Retries.Load()
	f.forget()
	require.Equal(t, []string{no, no, no}, texts(run(t, c, get(f.key(3)), set(f.key(3), "v"), set(f.key(1), "v"))))
	require.Equal(t, attempts, c.Stats().Retries.Load())
	require.Empty(t, f.seen(), "at once")

	f.nodes[0].thaw()
	f.awaitUp(c, 2)
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(f.key(2), "v"))))
	f.nodes[1].thaw()
}
