package deploy

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// longestEntry is what fits on a line of a wide screen.
const longestEntry = 200

// TestChangelogHasOneLineEach: whoever upgrades reads all of it.
func TestChangelogHasOneLineEach(t *testing.T) {
	text, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)
	version := regexp.MustCompile(`^## \[(Unreleased|\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$)`)
	var versions []string
	for number, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "## "):
			require.Regexp(t, version, line, "line %d", number+1)
			versions = append(versions, line)
		case strings.HasPrefix(line, "- "):
			require.LessOrEqual(t, utf8.RuneCountInString(line), longestEntry, "line %d: %s", number+1, line)
		default:
			require.NotRegexp(t, `^\s+\S`, line, "line %d goes on with the entry above", number+1)
		}
	}
	require.GreaterOrEqual(t, len(versions), 2)
	require.Equal(t, "## [Unreleased]", versions[0], "the others add their lines on top")
}
