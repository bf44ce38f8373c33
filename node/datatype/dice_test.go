package datatype

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
)

// TestWhoeverChoosesIsGivenChance: a node gives random numbers to the operations of which this package says that they choose. Redis' table says of the same ones
// that what they reply is not determined; of scans, of commands on any type, and of streams, whose IDs are times, it says so for other reasons.
func TestWhoeverChoosesIsGivenChance(t *testing.T) {
	for _, c := range command.Supported() {
		if c.Route == command.RouteRead || c.Route == command.RouteWrite {
			undetermined := slices.Contains(c.Tips, "nondeterministic_output") && !strings.HasSuffix(c.Name, "scan") && c.Group != "generic" && c.Group != "stream"
			require.Equal(t, undetermined && operations[c.Op].run != nil, Chooses(c.Op), c.Name)
		}
	}
}
