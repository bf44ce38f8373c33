package session

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatchesFollowTheirReplies: a client that asks for much gets it in small portions.
func TestBatchesFollowTheirReplies(t *testing.T) {
	const budget = 8 << 20
	require.Equal(t, 256, nextBatch(64, 64, 64*5, budget), "small replies: step by step")
	require.Equal(t, maxBatchOps, nextBatch(256, 256, 256*5, budget))
	require.Equal(t, maxBatchOps, nextBatch(maxBatchOps, 1, 5, budget))
	require.Equal(t, 8, nextBatch(64, 64, 64<<20, budget), "a megabyte each")
	require.Equal(t, 1, nextBatch(8, 8, 8*100<<20, budget), "more than the budget each")
	require.Equal(t, 4, nextBatch(1, 1, 5, budget))
}
