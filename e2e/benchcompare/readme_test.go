package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsWhatWasMeasured holds the README's ratios against docs/performance.md, which this program has written.
func TestReadmeShowsWhatWasMeasured(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/performance.md")
	require.NoError(t, err)
	_, page1, found := strings.Cut(string(page), "\n### SET\n")
	require.True(t, found)
	set, get, found := strings.Cut(page1, "\n### GET\n")
	require.True(t, found)
	get, _, _ = strings.Cut(get, "\n## ")
	measured := func(section, depth, system string) string {
		m := regexp.MustCompile(`(?m)^\| ` + depth + ` \| ` + system + ` \| [\d,]+ \(([\d.]+)\)`).FindStringSubmatch(section)
		if m == nil {
			return ""
		}
		return m[1]
	}
	for system, row := range map[string]string{
		"redis": "one redis-server, nothing replicated", "wait": "redis-server with two replicas and `WAIT 1`",
		"nutcracker": "nutcracker and three redis-servers, nothing replicated", "cluster": "Redis Cluster of three, each with a replica",
	} {
		want := "| " + row + " |"
		for _, section := range []string{set, get} {
			for _, depth := range []string{"1", "16", "64"} {
				want += " " + measured(section, depth, system) + " |"
			}
		}
		want = strings.ReplaceAll(want, "|  |", "| |")
		want = strings.ReplaceAll(want, "|  |", "| |")
		require.Contains(t, string(readme), want)
	}
}

// TestReadmeIsShort: a first minute fits in 150 lines; the rest is in docs/.
func TestReadmeIsShort(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(readme), "\n"), 150)
}

// TestLinksOfThePagesLeadSomewhere: to files that are there.
func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	for _, dir := range []string{"../../", "../../docs/"} {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			if !strings.HasSuffix(entry.Name(), ".md") {
				continue
			}
			text, err := os.ReadFile(dir + entry.Name())
			require.NoError(t, err)
			for _, link := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(link[1], "://") {
					continue
				}
				_, err := os.Stat(dir + link[1])
				require.NoError(t, err, "%s links %s", entry.Name(), link[1])
			}
		}
	}
}
