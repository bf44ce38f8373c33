package route

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

func TestCoordinatorLearnsTheRingFromOneSeed(t *testing.T) {
	t.Parallel()
	f := startRing(t, 5)
	c := newCoordinator(t, patient, f.nodes[3].address())
	f.awaitUp(c, 5)
	require.Equal(t, f.cluster.Digest(), c.ring.Load().formation)
	require.Equal(t, f.table.Digest(), c.ring.Load().table.Digest())
	require.NoError(t, c.Ready(context.Background()))
	require.Equal(t, []string{"+OK\r\n", "$1\r\nv\r\n"}, texts(run(t, c, set("k", "v"), get("k"))))
}

func TestCoordinatorWithoutRingRefuses(t *testing.T) {
	t.Parallel()
	c := newCoordinator(t, patient, "127.0.0.1:1")
	require.Equal(t, []string{refused(ErrNotReady), refused(ErrNotReady)}, texts(run(t, c, set("k", "v"), get("k"))))
	_, _, err := c.Scan(context.Background(), 0, 0, 10)
	require.ErrorIs(t, err, ErrNotReady)
	_, err = c.DBSize(context.Background(), 0)
	require.ErrorIs(t, err, ErrNotReady)
	_, err = c.RandomKey(context.Background(), 0)
	require.ErrorIs(t, err, ErrNotReady)
	require.ErrorIs(t, c.FlushAll(context.Background()), ErrNotReady)
	require.ErrorIs(t, c.Ready(context.Background()), ErrNotReady)
}

func TestCoordinatorRefusesAnotherCluster(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	stranger := startNode(t, f, 9, "another")
	stranger.vote(f.document)
	c := newCoordinator(t, patient, stranger.address(), f.nodes[0].address())
	f.awaitUp(c, 3)

	props, err := protocol.DecodeProperties(wire.Hello{Properties: map[string]string{}})
	require.NoError(t, err)
	require.False(t, props.Voting)
	l := &nodeLink{coordinator: c}
	hello, err := stranger.accept(wire.Hello{})
	require.NoError(t, err)
	require.ErrorContains(t, l.check(hello), `belongs to cluster "another", not to "fake"`)
}

func TestCoordinatorWaitsUntilTheClusterVotes(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	for _, n := range f.nodes {
		n.props.Store(&protocol.Properties{State: "forming"})
	}
	c := newCoordinator(t, patient, f.nodes[0].address(), f.nodes[1].address())
	require.Equal(t, []string{refused(ErrNotReady)}, texts(run(t, c, get("k"))))
	l := &nodeLink{coordinator: c}
	hello, err := f.nodes[0].accept(wire.Hello{})
	require.NoError(t, err)
	require.ErrorIs(t, l.check(hello), errNotVoting)

	f.nodes[1].vote(f.document) // the others vote later
	eventually(t, func() bool { return c.ring.Load() != nil }, "the ring is known")
	require.ErrorIs(t, c.Ready(context.Background()), ErrNotReady)
	f.nodes[0].vote(f.document)
	f.nodes[2].vote(f.document)
	f.awaitUp(c, 3)
	require.NoError(t, c.Ready(context.Background()))
}

func TestCoordinatorAdoptsANewRingOnlyWhenTheOldOneIsGone(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	old := c.ring.Load()
	key := f.key(1)
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
	old.homes[0].Store(3) // some hint that is not true of the new ring
	version := record.Version{Ballot: record.Ballot{Counter: 1}, Seq: 7}
	c.chosen.add(0, version)
	require.True(t, c.chosen.has(0, version))

	f.form(2) // all are restarted without their state, but one is still there
	f.nodes[0].cut()
	f.nodes[1].cut()
	for _, l := range old.nodes[:2] {
		eventually(t, func() bool {
			return l.link.Err() != nil && strings.Contains(l.link.Err().Error(), "part of another ring")
		}, "it is refused")
	}
	require.Same(t, old, c.ring.Load())
	require.True(t, old.anyUp())

	f.nodes[2].cut()
	eventually(t, func() bool { return c.ring.Load() != old }, "the new ring is adopted")
	f.awaitUp(c, 3)
	require.Equal(t, f.cluster.Digest(), c.ring.Load().formation)
	require.Zero(t, c.ring.Load().homes[0].Load())
	require.False(t, c.chosen.has(0, version), "another ring has other versions")
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "w"))))
}

// TestANewRingOfFewerMembers: what is under way when a ring is adopted may still name members of the one before, when its time is up.
func TestANewRingOfFewerMembers(t *testing.T) {
	t.Parallel()
	f := startRing(t, 4)
	c := f.coordinator(patient)
	old := c.ring.Load()
	b := new(Batch).fill(get(f.key(1)))
	b.begin()
	b.state.view, b.state.begun = old, time.Now()
	b.state.ops[0].targets[0], b.state.ops[0].tries = 4, 1

	f.nodes[3].setDown(true)
	f.nodes = f.nodes[:3]
	f.form(2)
	for _, n := range f.nodes {
		n.cut()
	}
	eventually(t, func() bool { return c.ring.Load() != old }, "the new ring is adopted")
	view := c.ring.Load()
	require.Len(t, view.nodes, 3)
	b.state.begun, b.state.lost = time.Now().Add(-3*patient), c.pauses.total(time.Now()) // on a busy machine there is always somebody who may wake up
	c.timeOut(view, &b.state)
	require.Equal(t, opDone, b.state.ops[0].phase)
}

// The first ring stays when nodes of another one come and go.
func TestCoordinatorOnRestartOfOneNode(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	view := c.ring.Load()
	f.nodes[1].setDown(true)
	f.awaitUp(c, 2)
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(f.key(2), "v"))))
	f.nodes[1].setDown(false)
	f.awaitUp(c, 3)
	require.Same(t, view, c.ring.Load())
}
