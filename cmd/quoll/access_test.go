package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

// TestATokenIsGivenWhereTheSecretIs: one that reads shows the cluster, and says why it can change nothing.
func TestATokenIsGivenWhereTheSecretIs(t *testing.T) {
	dir := t.TempDir()
	path, token := filepath.Join(dir, "tokens"), filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(path, []byte("bob read bobs-own-token-of-20\n"), 0o600))
	require.NoError(t, os.WriteFile(token, []byte("bobs-own-token-of-20\n"), 0o600))
	access, err := adminAccess("hush", path, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	server := httptest.NewServer(admin.NewHandler(&cluster{status: healthy()}, http.NotFoundHandler(), access))
	t.Cleanup(server.Close)
	code, stdout, stderr := newShell().run("ring", "status", "--admin", server.URL, "--secret-file", token)
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, "quoll")
	code, _, stderr = newShell().run("ring", "pause", "--admin", server.URL, "--secret-file", token)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "the token of bob may read, and this call is for those who may operate: use another token, or the cluster's secret")
}

// TestAFileOfTokensThatIsWrongEndsTheStart as any setting that is wrong does.
func TestAFileOfTokensThatIsWrongEndsTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(path, []byte("bob reads everything\n"), 0o600))
	_, err := adminAccess("hush", path, slog.New(slog.DiscardHandler))
	var faults config.Faults
	require.ErrorAs(t, err, &faults)
	require.Equal(t, "admin-tokens-file", faults[0].Field)
	require.True(t, strings.Contains(faults[0].Reason, `line 1: bob: "reads" is no role`), faults[0].Reason)
}
