package admin

import (
	"bytes"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestAPanicOfARequestIsHeardOf(t *testing.T) {
	var lines logged
	server, err := Listen("127.0.0.1:0", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			panic("a bug")
		}
	}), slog.New(slog.NewTextHandler(&lines, nil)))
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	_, err = http.Get("http://" + server.Addr() + "/bad")
	require.Error(t, err)
	response, err := http.Get("http://" + server.Addr() + "/good")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.NoError(t, server.Shutdown(t.Context()))
	require.NoError(t, <-served)
	require.Contains(t, lines.String(), "level=ERROR msg=\"a request of the admin API ended in a panic: please report this\" path=/bad err=\"a bug\"")
	require.Contains(t, lines.String(), "server_test.go", "where")
}
