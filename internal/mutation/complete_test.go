package mutation

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryMutationApplies: what it replaces is there once, and what comes of it is
// Go. Whether it compiles is seen when it is run.
func TestEveryMutationApplies(t *testing.T) {
	names := map[string]bool{}
	for _, m := range everything() {
		_, err := m.apply()
		require.NoError(t, err)
		require.False(t, names[m.name], "two mutations are named %s", m.name)
		names[m.name] = true
		require.NotEmpty(t, m.effect, m.name)
		require.NotEmpty(t, m.edits, m.name)
		_, err = regexp.Compile(m.caught.says)
		require.NoError(t, err, m.name)
		require.NotEmpty(t, m.caught.says, m.name)
	}
}

// TestEveryTrialExists: the tests that are to notice are there.
func TestEveryTrialExists(t *testing.T) {
	sources := map[string]string{}
	for _, m := range everything() {
		pkg := m.caught.pkg
		if sources[pkg] == "" {
			sources[pkg] = testsOf(t, pkg)
		}
		name, _, _ := strings.Cut(m.caught.test, "/")
		require.True(t, strings.Contains(sources[pkg], "\nfunc "+name+"("), "%s: %s has no test %s", m.name, pkg, name)
	}
}

// testsOf returns the source of a package's tests.
func testsOf(t *testing.T, pkg string) string {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(source)
	}
	return all.String()
}

// TestEveryRuleIsTakenAway: each has a mutation, or a reason why it has none, and
// the table is in their order.
func TestEveryRuleIsTakenAway(t *testing.T) {
	rules := rulesOf(t)
	has := map[string]bool{}
	at := 0
	for _, m := range table() {
		i := slices.Index(rules, m.rule)
		require.GreaterOrEqual(t, i, 0, "%s: protocol.md has no rule %q", m.name, m.rule)
		require.GreaterOrEqual(t, i, at, "%s: the table is in the order of protocol.md", m.name)
		at, has[m.rule] = i, true
	}
	for rule := range excused {
		require.Contains(t, rules, rule, "excused, but protocol.md has no such rule")
	}
	for _, rule := range rules {
		_, reason := excused[rule]
		require.True(t, has[rule] || reason, "no mutation takes %q away, and excused_test.go does not say why", rule)
	}
}

var title = regexp.MustCompile(`(?m)^\*\*(.+?)\*\*`)

// rulesOf returns the rules of protocol.md: R1 to R19, and the titles of what the
// product adds.
func rulesOf(t *testing.T) []string {
	text, err := os.ReadFile(filepath.Join(root, "node", "register", "protocol.md"))
	require.NoError(t, err)
	_, text2, found := strings.Cut(string(text), "\n## Rules\n")
	require.True(t, found)
	numbered, rest, found := strings.Cut(text2, "\n## Messages\n")
	require.True(t, found)
	_, added, found := strings.Cut(rest, "\n## What the product adds\n")
	require.True(t, found)
	added, _, found = strings.Cut(added, "\n## ")
	require.True(t, found)
	var rules []string
	for _, m := range title.FindAllStringSubmatch(numbered, -1) {
		number, _, _ := strings.Cut(m[1], " ")
		rules = append(rules, number)
	}
	require.Len(t, rules, 19)
	for _, m := range title.FindAllStringSubmatch(added, -1) {
		rules = append(rules, strings.TrimSuffix(m[1], "."))
	}
	return rules
}
