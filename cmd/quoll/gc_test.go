package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGCPercent(t *testing.T) {
	require.Equal(t, 400, gcPercent(0, 0, gcSlack))
	require.Equal(t, 400, gcPercent(100<<20, 100<<20, gcSlack))
	require.Equal(t, 200, gcPercent(512<<20, 256<<20, gcSlack))
	require.Equal(t, 100, gcPercent(1<<30, 1<<30, gcSlack))
	require.Equal(t, 50, gcPercent(64<<30, 64<<30, gcSlack))
	require.Equal(t, 200, gcPercent(64<<20, 64<<20, 128<<20), "in a container of a GiB")
	require.Equal(t, 400, gcPercent(16<<20, 1<<20, gcSlack), "a node without keys")
	require.Equal(t, 50, gcPercent(200<<20, 10<<20, gcSlack), "large values")
}
