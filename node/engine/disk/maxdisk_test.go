package disk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/engine"
)

// TestWithinMaxDisk: from 95 % of the bound on there is no room for more data, at the bound not for that of other nodes either, and without one there always is.
func TestWithinMaxDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most, used int64
		want       error
	}{{0, 1 << 50, nil}, {10 * gib, 9 * gib, nil}, {10 * gib, 95 * gib / 10, engine.ErrCrowded}, {10 * gib, 10 * gib, engine.ErrBrimful}} {
		e := &Engine{opt: Options{MaxDisk: c.most}}
		e.space.usage.Store(&engine.Usage{Disk: uint64(c.used)})
		if err := e.within(); c.want == nil {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, c.want)
			require.NotErrorIs(t, err, engine.ErrFull, "deletions have room")
		}
	}
}
