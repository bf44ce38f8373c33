package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	readToken    = "a-token-that-reads"
	operateToken = "a-token-that-operates"
)

// kept is a Backend with data, which does all that it is asked.
type kept struct{ fake }

func (k *kept) Backup(_ context.Context, w io.Writer) error {
	_, err := w.Write([]byte("data"))
	return err
}

// tokensIn writes a file of tokens.
func tokensIn(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// guarded serves with two tokens and a secret, and returns what is logged.
func guarded(t *testing.T) (url string, log *logged) {
	hash := sha256.Sum256([]byte(operateToken))
	log = &logged{}
	logger := slog.New(slog.NewTextHandler(log, nil))
	tokens, err := ReadTokens(tokensIn(t, "# who\n\nprometheus read "+readToken+"\nalice\toperate  sha256:"+hex.EncodeToString(hash[:])+"\n"), logger)
	require.NoError(t, err)
	server := httptest.NewServer(NewHandler(&kept{}, http.NotFoundHandler(), Access{Secret: "hush", Tokens: tokens, Log: logger}))
	t.Cleanup(server.Close)
	return server.URL, log
}

func TestTokensAreForWhatTheirRoleSays(t *testing.T) {
	url, _ := guarded(t)
	for _, path := range []string{"/v1/status", "/v1/locate?key=k", "/metrics"} {
		for given, want := range map[string]bool{readToken: true, operateToken: true, "hush": true, "a-token-of-nobody": false, "": false, strings.Repeat("0", 64): false} {
			code, _ := get(t, url+path, "Authorization", "Bearer "+given)
			require.Equal(t, want, code != http.StatusUnauthorized, "%s %s", path, given)
		}
	}
	for _, path := range []string{"/v1/backup", "/debug/pprof/"} {
		code, body := get(t, url+path, "Authorization", "Bearer "+readToken)
		require.Equal(t, http.StatusForbidden, code, path)
		require.JSONEq(t, `{"error":"the token of prometheus may read, and this call is for those who may operate: use another token, or the cluster's secret"}`, body)
		for _, given := range []string{operateToken, "hush"} {
			code, _ = get(t, url+path, "Authorization", "Bearer "+given)
			require.Equal(t, http.StatusOK, code, path)
		}
	}
}

// TestEveryCallThatChangesSomethingIsForOperators asks, as one who may read, for all that is not a GET, and for what hands out data.
func TestEveryCallThatChangesSomethingIsForOperators(t *testing.T) {
	url, _ := guarded(t)
	for _, path := range []string{
		"repair", "reform", "ring/plan", "ring/clear", "ring/commit", "ring/abort", "ring/pause", "ring/resume", "ring/rate", "ring/keyspace", "ring/forget", "ring/recover",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/"+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+readToken)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusForbidden, response.StatusCode, path)
	}
}

func TestWhatOperatorsDoIsLogged(t *testing.T) {
	url, log := guarded(t)
	_, _ = get(t, url+"/v1/status", "Authorization", "Bearer "+operateToken)
	_, _ = get(t, url+"/v1/backup", "Authorization", "Bearer "+readToken)
	require.Empty(t, log.String(), "looking is not logged, nor what was refused")
	_, body := get(t, url+"/v1/backup?rate=1000000&by=mallory", "Authorization", "Bearer "+operateToken)
	require.Equal(t, "data", body)
	require.Eventually(t, func() bool { return log.String() != "" }, time.Minute, time.Millisecond)
	line := log.String()
	require.Contains(t, line, "component=admin who=alice from=127.0.0.1:", "the token's name, whatever he calls himself")
	require.Contains(t, line, `call="GET /v1/backup" with="by=mallory&rate=1000000" status=200`)
	require.NotContains(t, line, operateToken)
	require.Equal(t, 1, strings.Count(line, "\n"))
}

func TestAFileOfTokensThatChangesIsReadAgain(t *testing.T) {
	log := &logged{}
	path := tokensIn(t, "a read "+readToken+"\n")
	tokens, err := ReadTokens(path, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	role := func(given string) Role { return tokens.find(sha256.Sum256([]byte(given))).role }
	require.Equal(t, Reader, role(readToken))

	require.NoError(t, os.WriteFile(path, []byte("a read "+readToken+"\na operate "+operateToken+"\n"), 0o600))
	require.Equal(t, Operator, role(operateToken))
	require.Equal(t, Reader, role(readToken), "the old one works until it is taken out")
	require.NoError(t, os.WriteFile(path, []byte("a operate "+operateToken+"\n"), 0o600))
	require.Equal(t, Stranger, role(readToken))

	require.NoError(t, os.WriteFile(path, []byte("a rules "+operateToken+"\n"), 0o600))
	for range 3 {
		require.Equal(t, Operator, role(operateToken), "what is wrong changes nothing")
	}
	require.NoError(t, os.Remove(path))
	require.Equal(t, Operator, role(operateToken))
	require.Equal(t, 2, strings.Count(log.String(), "level=WARN"), "once for each fault: %s", log)
	require.NotContains(t, log.String(), operateToken)
}

func TestFilesOfTokensThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"\nme read":                           "line 2: has 2 words: write NAME read TOKEN, or NAME operate TOKEN",
		"me write " + readToken:               `line 1: me: "write" is no role: write read or operate`,
		"me read short":                       "line 1: me: a token has 16 bytes or more, so that nobody can guess it: make one with openssl rand -hex 32",
		"me read sha256:abc":                  "line 1: me: after sha256: there have to be 64 hexadecimal digits",
		"#" + strings.Repeat("x", mostTokens): "has 1048577 bytes: at most 1048576",
	} {
		_, err := ReadTokens(tokensIn(t, text), slog.New(slog.DiscardHandler))
		require.ErrorIs(t, err, ErrTokens)
		require.ErrorContains(t, err, want)
	}
	_, err := ReadTokens(filepath.Join(t.TempDir(), "none"), slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestWithTokensOnlyNobodyElseIsLetIn checks that no secret is not the empty secret.
func TestWithTokensOnlyNobodyElseIsLetIn(t *testing.T) {
	tokens, err := ReadTokens(tokensIn(t, "a read "+readToken+"\n"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	server := httptest.NewServer(NewHandler(&fake{}, http.NotFoundHandler(), Access{Tokens: tokens}))
	t.Cleanup(server.Close)
	for given, want := range map[string]int{"": http.StatusUnauthorized, "Bearer ": http.StatusUnauthorized, "Bearer " + readToken: http.StatusOK} {
		code, _ := get(t, server.URL+"/v1/status", "Authorization", given)
		require.Equal(t, want, code, given)
	}
}
