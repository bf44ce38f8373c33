package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(*testing.T) engine.Engine { return memory.New() })
}

// TestExpiredLooksOnlyWhereSomethingMayHaveExpired, and where nothing had, once.
func TestExpiredLooksOnlyWhereSomethingMayHaveExpired(t *testing.T) {
	e := memory.New()
	visited := 0
	looks := func(now int64) bool {
		looked, err := e.Expired(1, now, func([]byte) bool { visited++; return true })
		require.NoError(t, err)
		return looked
	}
	require.False(t, looks(1000))
	rec := benchRecord(1)
	require.NoError(t, e.Put(1, []byte("stays"), rec))
	require.False(t, looks(1000))
	rec.State.ExpireAt = 100
	require.NoError(t, e.Put(1, []byte("expires"), rec))
	require.NoError(t, e.Put(2, []byte("expires"), rec))
	require.False(t, looks(99))
	rec.State.ExpireAt = 200
	require.NoError(t, e.Put(1, []byte("expires"), rec))
	require.True(t, looks(100), "it is not known that it was put off")
	require.False(t, looks(199))
	require.Zero(t, visited)
	require.True(t, looks(200))
	require.Equal(t, 1, visited)
	require.NoError(t, e.Reset(1, record.SlotMeta{}))
	require.False(t, looks(1000))
}
