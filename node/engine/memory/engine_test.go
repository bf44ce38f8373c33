package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(*testing.T) engine.Engine { return memory.New() })
}

func TestGetAndOverwriteDoNotAllocate(t *testing.T) {
	e := memory.New()
	key, rec := benchKey(nil, 1), benchRecord(1)
	require.NoError(t, e.Put(1, key, rec))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = e.Put(1, key, rec)
		_, _, _ = e.Get(1, key)
	}))
}
