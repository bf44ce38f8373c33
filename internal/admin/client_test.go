package admin

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func client(t *testing.T, address, secret string) *Client {
	c := NewClient(address, secret)
	t.Cleanup(c.Close)
	return c
}

func TestClientGetsWhatTheBackendSays(t *testing.T) {
	f := &fake{status: Status{Cluster: "quoll", Epoch: 1, Nodes: []NodeStatus{{Name: "a", State: Voting, SeenBy: map[string]string{"b": "alive"}}}}}
	c := client(t, serve(t, f, "hush").Listener.Addr().String(), "hush")

	status, err := c.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, f.status, status)

	location, err := c.Locate(t.Context(), 3, []byte("k\xff\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"k\xff\n"}, f.keys)
	require.Equal(t, "k\xff\n", string(location.Key64))
	require.Empty(t, location.Key, "not UTF-8")

	require.NoError(t, c.Ready(t.Context()))
	f.ready = errors.New("forming")
	err = c.Ready(t.Context())
	require.ErrorIs(t, err, ErrNotReady)
	require.EqualError(t, err, "not ready: forming")

	f.err = errors.New("no node answers")
	_, err = c.Status(t.Context())
	require.ErrorContains(t, err, " answered: no node answers")
}

func TestClientErrorsSayWhatToDo(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := closed.Addr().String()
	require.NoError(t, closed.Close())
	_, err = client(t, address, "").Status(t.Context())
	require.ErrorIs(t, err, ErrUnreachable)
	require.EqualError(t, err, "cannot reach the admin API at http://"+address+": connection refused; is a quoll process running there? give its address with --admin")

	_, err = client(t, serve(t, &fake{}, "hush").URL, "wrong").Status(t.Context())
	require.ErrorIs(t, err, ErrUnauthorized)
	require.ErrorContains(t, err, "--secret-file")

	_, err = client(t, "http://a b", "").Status(t.Context())
	require.ErrorContains(t, err, "is not an address of an admin API")

	silent, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = hung.Close() }()
	_, err = client(t, hung.Addr().String(), "").Status(silent)
	require.ErrorContains(t, err, "no answer in time")
}

func TestClientTellsStrangersFromQuoll(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"missing": http.NotFound,
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		},
	} {
		server := httptest.NewServer(answer)
		_, err := client(t, server.URL, "hush").Status(t.Context())
		require.ErrorContains(t, err, "is not quoll's admin API", name)
		if name != "page" {
			require.ErrorContains(t, client(t, server.URL, "").Ready(t.Context()), "is not quoll's admin API", name)
		}
		server.Close()
	}

	redis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = redis.Close() }()
	go func() {
		for {
			conn, err := redis.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("-ERR unknown command\r\n"))
			_ = conn.Close()
		}
	}()
	_, err = client(t, redis.Addr().String(), "").Status(t.Context())
	require.ErrorIs(t, err, ErrUnreachable)
}

func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		":7100": "127.0.0.1:7100", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "127.0.0.1:1", "h:1": "h:1", "[::1]:1": "[::1]:1", "x": "x",
	} {
		require.Equal(t, want, reachable(address))
	}
}

func TestServerLivesAndEnds(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	inside, release := make(chan struct{}), make(chan struct{})
	server, err := Listen("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(inside)
		<-release
		_, _ = w.Write([]byte("done"))
	}), log)
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()

	_, err = Listen(server.Addr(), http.NotFoundHandler(), log)
	require.ErrorContains(t, err, "address already in use")

	body := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + server.Addr())
		if err != nil {
			body <- err.Error()
			return
		}
		defer func() { _ = response.Body.Close() }()
		text := make([]byte, 4)
		n, _ := response.Body.Read(text)
		body <- string(text[:n])
	}()
	<-inside
	go close(release)
	require.NoError(t, server.Shutdown(t.Context()))
	require.Equal(t, "done", <-body, "Shutdown waits for requests in flight")
	require.NoError(t, <-served)
}

func TestShutdownWithoutServeFreesThePort(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	server, err := Listen("127.0.0.1:0", http.NotFoundHandler(), log)
	require.NoError(t, err)
	require.NoError(t, server.Shutdown(t.Context()))
	again, err := Listen(server.Addr(), http.NotFoundHandler(), log)
	require.NoError(t, err)
	require.NoError(t, again.Shutdown(t.Context()))
}

func TestServerLimitsHeaders(t *testing.T) {
	server, err := Listen("127.0.0.1:0", NewHandler(&fake{}, http.NotFoundHandler(), Access{}), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	code, _ := get(t, "http://"+server.Addr()+"/v1/locate?key="+strings.Repeat("k", 100<<10))
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, code)
	require.NoError(t, server.Shutdown(t.Context()))
	require.NoError(t, <-served)
}
