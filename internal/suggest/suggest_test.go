package suggest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	names := []string{"status", "locate", "repair", "reform", "nodes", "name", "max-clients", "rack"}
	for given, want := range map[string]string{
		"stat": "status", "statsu": "status", "locat": "locate", "repiar": "repair", "refrom": "reform", "nods": "nodes", "noeds": "nodes",
		"max-client": "max-clients", "maxclients": "max-clients", "naem": "name", "nam": "name", "rak": "rack",
		"": "", "x": "", "na": "", "engine": "", "status": "status", strings.Repeat("s", 100): "",
	} {
		require.Equal(t, want, Nearest(given, names), given)
	}
	require.Equal(t, "; did you mean --nodes?", DidYouMean("nods", "--", names))
	require.Empty(t, DidYouMean("engine", "--", names))
}

// TestOneSlipIsFound: whatever letter is wrong, missing, too many or swapped.
func TestOneSlipIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{4,12}`).Draw(t, "name")
		at := rapid.IntRange(0, len(name)-2).Draw(t, "at")
		for _, slip := range []string{name[:at] + "~" + name[at+1:], name[:at] + name[at+1:], name[:at] + "~" + name[at:], name[:at] + name[at+1:at+2] + name[at:at+1] + name[at+2:]} {
			require.Equal(t, name, Nearest(slip, []string{"unlike-all-others", name}), slip)
		}
	})
}
