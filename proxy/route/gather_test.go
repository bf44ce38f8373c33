package route

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAVersionIsToldOnce: it waits until a majority has told of it. If that does not come it is told nevertheless, and again.
func TestAVersionIsToldOnce(t *testing.T) {
	k := newKeepers(t, 1)
	told := func(want bool) { t.Helper(); require.Equal(t, want, k.prefix.told); k.prefix.told = false }
	told(false)
	k.stage(0, 1)
	k.deliver(-1)
	told(false)
	k.stage(1, 1)
	k.deliver(-1)
	told(true)
	k.stage(2, 1)
	k.deliver(-1)
	k.tick()
	told(false)

	k.stage(0, 2)
	k.deliver(-1)
	for range maxTicks - 1 {
		k.tick()
		told(false)
	}
	k.tick()
	told(true)
	k.stage(2, 2)
	k.deliver(-1)
	told(true)
}

// TestWhatAMajorityToldOfWaitsForATick, for others, and no longer.
func TestWhatAMajorityToldOfWaitsForATick(t *testing.T) {
	k := newKeepers(t, 1)
	k.stage(0, 1)
	k.stage(0, 2)
	k.stage(1, 2)
	k.deliver(-1)
	require.False(t, k.prefix.told, "the first version may be told of by another in a moment")
	k.tick()
	require.True(t, k.prefix.told)
}

// TestALostLinkIsTold at once: what it has told may not have arrived, and who has told of a version does not do so again.
func TestALostLinkIsTold(t *testing.T) {
	k := newKeepers(t, 1)
	k.stage(0, 1)
	k.deliver(-1)
	require.False(t, k.prefix.told)
	k.stage(1, 1)
	k.down(1)
	require.True(t, k.prefix.told, "what the link has told may be lost")
}
