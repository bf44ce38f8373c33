package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestTheTableOfCommandsIsTheCodes: docs/operations.md has a row for every command, and names only flags that it has.
func TestTheTableOfCommandsIsTheCodes(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(quoll[a-z ]+)` \\|(.*)$").FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, rows, row[1], "twice")
		rows[row[1]] = row[2]
	}
	root := (&app{}).root()
	root.InitDefaultCompletionCmd()
	var visit func(command *cobra.Command)
	visit = func(command *cobra.Command) {
		name := command.CommandPath()
		if name != "quoll completion" {
			for _, sub := range command.Commands() {
				visit(sub)
			}
		}
		if !command.IsAvailableCommand() || name == "quoll" || name == "quoll ring" || name == "quoll cert" || name == "quoll help" {
			return
		}
		row, documented := rows[name]
		require.True(t, documented, "%s has no row in docs/operations.md", name)
		delete(rows, name)
		for _, flag := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(row, -1) {
			require.NotNil(t, command.Flags().Lookup(flag[1]), "%s has no --%s", name, flag[1])
		}
	}
	visit(root)
	require.Empty(t, rows, "there are no such commands")
	require.Contains(t, string(text), "`--json`")
}
