//go:build !race

package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine/memory"
)

// In builds for the race detector memory is not used again: see package table.
func TestGetAndOverwriteDoNotAllocate(t *testing.T) {
	e := memory.New()
	key, rec := benchKey(nil, 1), benchRecord(1)
	require.NoError(t, e.Put(1, key, rec))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = e.Put(1, key, rec)
		_, _, _ = e.Get(1, key)
	}))
}
