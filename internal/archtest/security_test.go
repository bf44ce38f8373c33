package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryLineOfTheThreatModelHasItsTest: docs/security.md names tests of what attackers cannot do, and they are there.
func TestEveryLineOfTheThreatModelHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	require.NoError(t, err)
	_, model, found := strings.Cut(string(text), "\n## Who can do what\n")
	require.True(t, found)
	model, _, _ = strings.Cut(model, "\n## ")
	source, rows := testsAndMetrics(t), 0
	for line := range strings.Lines(model) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || strings.HasPrefix(line, "| Somebody") {
			continue
		}
		rows++
		tests := namedTest.FindAllStringSubmatch(line, -1)
		require.Equal(t, strings.TrimSpace(cells[2]) != "", len(tests) > 0, "what somebody cannot do has its test: %s", line)
		for _, test := range tests {
			require.Contains(t, source, "func "+test[1]+"(t *testing.T)", line)
		}
	}
	require.Greater(t, rows, 5)
}
