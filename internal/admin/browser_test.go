package admin

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// whole is a backend that has everything, and notes what it was asked for.
type whole struct {
	fake
	asked []string
}

func (w *whole) Backup(_ context.Context, to io.Writer) error {
	w.asked = append(w.asked, "backup")
	_, err := io.WriteString(to, "data")
	return err
}

func (w *whole) RepairAll(_ context.Context, _ RepairRequest, report func(RepairProgress) error) error {
	w.asked = append(w.asked, "repair")
	return report(RepairProgress{Done: true})
}

// TestWebPagesGetNothing: neither what a page can send by itself, nor what it can read when a name of its own points here.
func TestWebPagesGetNothing(t *testing.T) {
	backend := &whole{}
	server := serve(t, backend, "")
	send := func(method, path, host string, header ...string) int {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader("{}"))
		require.NoError(t, err)
		if host != "" {
			request.Host = host
		}
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"))
		require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"))
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	for _, call := range [][2]string{{"POST", "/v1/repair"}, {"POST", "/v1/reform"}, {"GET", "/v1/backup"}} {
		method, path := call[0], call[1]
		require.Equal(t, http.StatusForbidden, send(method, path, ""), "a form, or an image")
		require.Equal(t, http.StatusForbidden, send(method, path, "", "Content-Type", "text/plain", "Origin", "http://evil.example"))
		require.Equal(t, http.StatusForbidden, send(method, path, "", "X-Quoll", "1", "Origin", "http://evil.example"))
		require.Equal(t, http.StatusForbidden, send(method, path, "", "X-Quoll", "1", "Sec-Fetch-Site", "cross-site"))
		require.Equal(t, http.StatusForbidden, send(method, path, "rebound.evil.example:7100", "X-Quoll", "1", "Origin", "http://rebound.evil.example:7100"))
		require.NotEqual(t, http.StatusOK, send("OPTIONS", path, "", "Origin", "http://evil.example", "Access-Control-Request-Headers", "x-quoll"))
	}
	require.Empty(t, backend.asked)
	for _, path := range []string{"/v1/status", "/v1/locate?key=k", "/metrics", "/debug/pprof/"} {
		require.Equal(t, http.StatusForbidden, send("GET", path, "rebound.evil.example"), path)
		require.Equal(t, http.StatusForbidden, send("GET", path, "", "Sec-Fetch-Site", "same-site"), path)
		for _, own := range []string{"", "127.0.0.1", "[::1]:7100", "localhost:7100", "quoll-a:7100", "x.localhost"} {
			require.Equal(t, http.StatusOK, send("GET", path, own), "%s of %s", path, own)
		}
	}
	require.Equal(t, http.StatusOK, send("GET", "/healthz", "probe.example"))
	require.Equal(t, http.StatusOK, send("POST", "/v1/repair", "", "X-Quoll", "1"))
	require.Equal(t, http.StatusOK, send("GET", "/v1/backup", "", "X-Quoll", "1"))
	require.Equal(t, []string{"repair", "backup"}, backend.asked)

	secret := serve(t, &whole{}, "hush")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, secret.URL+"/v1/status", nil)
	require.NoError(t, err)
	request.Host = "node1.example.com:7100"
	request.Header.Set("Authorization", "Bearer hush")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode, "with a secret any name will do")
}
