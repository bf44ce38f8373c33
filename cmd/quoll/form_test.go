package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

// TestEveryCommandPrintsForProgramsToo: -o json and --json, but for those that log and go on.
func TestEveryCommandPrintsForProgramsToo(t *testing.T) {
	logs := map[string]bool{"quoll node": true, "quoll proxy": true}
	checked := 0
	var visit func(command *cobra.Command)
	visit = func(command *cobra.Command) {
		for _, sub := range command.Commands() {
			visit(sub)
		}
		if command.HasSubCommands() || logs[command.CommandPath()] {
			return
		}
		checked++
		require.NotNil(t, command.Flags().Lookup("json"), command.CommandPath())
		require.Equal(t, "o", command.Flags().Lookup("output").Shorthand, command.CommandPath())
	}
	visit((&app{}).root())
	require.GreaterOrEqual(t, checked, 10)
}

// parsed runs a command line that prints JSON and nothing else.
func parsed(t *testing.T, want int, line ...string) map[string]any {
	code, stdout, stderr := newShell().run(line...)
	require.Equal(t, want, code, stderr)
	if want == exitOK {
		require.Empty(t, stderr)
	}
	var value map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &value), stdout)
	return value
}

func TestJSONOfWhatIsDone(t *testing.T) {
	c := &cluster{status: healthy()}
	address := c.serve(t, "")
	require.Equal(t, map[string]any{"ready": true}, parsed(t, exitOK, "health", "--json", "--admin", address))
	nobody := httptest.NewServer(http.NotFoundHandler())
	defer nobody.Close()
	require.Equal(t, false, parsed(t, exitFailure, "health", "--json", "--admin", nobody.URL)["ready"])

	m := ends(admin.RepairProgress{Slots: 7, Total: 7, Differing: 2, Keys: 3})
	require.EqualValues(t, 3, parsed(t, exitOK, "ring", "repair", "--json", "--admin", m.serve(t))["keys"])
	m = ends(admin.RepairProgress{Failed: 1})
	require.EqualValues(t, 1, parsed(t, exitFailure, "ring", "repair", "-o", "json", "--admin", m.serve(t))["failed"])

	require.Contains(t, parsed(t, exitOK, "version", "--json"), "protocol")
}

func TestJSONOfBackupAndRestore(t *testing.T) {
	dir := t.TempDir()
	file, data := filepath.Join(dir, "a.quoll"), filepath.Join(dir, "data")
	made := parsed(t, exitOK, "node", "backup", "--json", "--to", file, "--admin", serveBackup(t, "", whole(backupOf(t, nil, "one", "two"))))
	require.Len(t, made["sha256"], 64)
	require.Equal(t, made["contents"], parsed(t, exitOK, "node", "backup", "--json", "--check", file)["contents"])
	report := parsed(t, exitOK, "node", "restore", "--json", "--from", file, "--data", data, "--name", "a")
	require.Equal(t, map[string]any{"node": "a", "cluster": "zoo", "data": data, "keys": 2.0, "deletions": 1.0}, report)
}

func TestVersionAsEverybodyAsksForIt(t *testing.T) {
	_, want, _ := newShell().run("version")
	code, stdout, stderr := newShell().run("--version")
	require.Equal(t, exitOK, code, stderr)
	require.Equal(t, want, stdout)
	require.True(t, strings.HasPrefix(stdout, "quoll "), stdout)
}

// TestDevSaysForProgramsWhatRuns: where it listens is chosen by it.
func TestDevSaysForProgramsWhatRuns(t *testing.T) {
	cfg := config.DefaultDev()
	cfg.Listen, cfg.Nodes, cfg.Replicas = "127.0.0.1:0", 1, 1
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- runDev(ctx, cfg, slog.New(slog.DiscardHandler), writer, asJSON) }()
	var report devReport
	require.NoError(t, json.NewDecoder(reader).Decode(&report))
	require.Regexp(t, `^127\.0\.0\.1:[1-9][0-9]*$`, report.Clients)
	code, _, stderr := newShell().run("health", "--admin", report.Admin)
	require.Equal(t, exitOK, code, stderr)
	cancel()
	require.NoError(t, <-ended)
}
