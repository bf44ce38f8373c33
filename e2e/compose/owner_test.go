//go:build linux

package compose

import (
	"fmt"
	"net/netip"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOrphaned: only what a process made that is gone may be removed.
func TestOrphaned(t *testing.T) {
	mine := prefix + "-" + owner()
	require.False(t, orphaned(mine+"-1"), "this process is there")
	require.False(t, orphaned(prefix+":"+owner()), "its image")
	require.True(t, orphaned(fmt.Sprint(prefix, "-", os.Getpid(), "-1-1")), "another process had this number")
	require.True(t, orphaned(prefix+"-4194999-1-12"), "no process has such a number")
	for _, name := range []string{"", "quoll", "quoll-e2e", "quoll-e2e-x-1-1", "my-quoll-e2e-4194999-1-1", "quoll-e2e-4194999-1-1-web", "quoll:4194999-1"} {
		require.False(t, orphaned(name), "it is somebody else's: %q", name)
	}
}

func TestFreeSubnets(t *testing.T) {
	subnets, err := freeSubnets(2)
	require.NoError(t, err)
	require.Len(t, subnets, 2)
	require.False(t, subnets[0].Overlaps(subnets[1]))
	require.Equal(t, "10.1.2.11", host(netip.MustParsePrefix("10.1.2.0/24"), 11))
	require.True(t, overlaps(netip.MustParsePrefix("10.1.2.0/24"), []netip.Prefix{netip.MustParsePrefix("10.1.2.1/16")}))
}

func TestTrafficRules(t *testing.T) {
	require.Equal(t, "*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n", (&traffic{}).rules())
	require.Equal(t, "*filter\n:INPUT ACCEPT [0:0]\n"+
		"-A INPUT -s 10.0.0.1 -j DROP\n-A INPUT -s 10.0.0.2 -m statistic --mode random --probability 0.1000 -j DROP\nCOMMIT\n",
		(&traffic{lost: map[string]float64{"10.0.0.2": 0.1, "10.0.0.1": 1}}).rules())
}

// TestCheckSaysWhatIsMissing: one sentence, where nothing is installed.
func TestCheckSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := Check()
	require.ErrorIs(t, err, ErrUnfit)
	require.EqualError(t, err, "compose: docker is not installed: install Docker Engine and docker-compose")
}
