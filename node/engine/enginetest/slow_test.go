package enginetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
)

func TestSlowHoldsCommitsButNotWrites(t *testing.T) {
	slow := enginetest.Slow(memory.New())
	var e engine.Engine = slow
	require.NoError(t, e.Put(1, []byte("key"), record.Record{}))
	_, found, err := e.Get(1, []byte("key"))
	require.NoError(t, err)
	require.True(t, found)

	var order []int
	e.Commit(func(err error) { require.NoError(t, err); order = append(order, 1) })
	e.Commit(func(err error) {
		order = append(order, 2)
		e.Commit(func(error) { order = append(order, 3) })
	})
	require.Equal(t, 2, slow.Held())
	require.Empty(t, order)

	require.Equal(t, 2, slow.Release())
	require.Equal(t, []int{1, 2}, order)
	require.Equal(t, 1, slow.Held(), "a commit from a callback is held too")
	require.NoError(t, slow.Close())
	require.Equal(t, []int{1, 2, 3}, order, "Close commits")
}

func TestSlowFails(t *testing.T) {
	slow := enginetest.Slow(memory.New())
	broken := errors.New("disk full")
	var got []error
	slow.Commit(func(err error) { got = append(got, err) })
	require.Equal(t, 1, slow.Fail(broken))
	slow.Commit(func(err error) { got = append(got, err) })
	require.Equal(t, []error{broken, broken}, got)
	require.Zero(t, slow.Held())
}

func TestSlowAwaitsCommits(t *testing.T) {
	slow := enginetest.Slow(memory.New())
	go slow.Commit(func(error) {})
	require.NoError(t, slow.AwaitHeld(t.Context(), 1))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, slow.AwaitHeld(ctx, 2), context.Canceled)
}
