package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	namedTest   = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	namedMetric = regexp.MustCompile("`(quoll_[a-z_]+)[`{]")
)

// TestEveryQueueHasItsTest: docs/queues.md names a test that fills each queue and the metric that shows it, and both are there.
func TestEveryQueueHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "queues.md"))
	require.NoError(t, err)
	source := testsAndMetrics(t)
	rows := 0
	for line := range strings.Lines(string(text)) {
		for _, metric := range namedMetric.FindAllStringSubmatch(line, -1) {
			require.Contains(t, source, `"`+metric[1]+`"`, "no such metric: %s", line)
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Where") {
			continue
		}
		rows++
		tests := namedTest.FindAllStringSubmatch(line, -1)
		require.NotEmpty(t, tests, "no test fills this queue: %s", line)
		for _, test := range tests {
			require.Contains(t, source, "func "+test[1]+"(t *testing.T)", line)
		}
	}
	require.Greater(t, rows, 10)
}

// testsAndMetrics returns the source of all tests, and of what shows metrics.
func testsAndMetrics(t *testing.T) string {
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, "_test.go") || filepath.Base(filepath.Dir(path)) == "metrics" {
			source, err := os.ReadFile(path)
			all.Write(source)
			return err
		}
		return nil
	}))
	return all.String()
}
