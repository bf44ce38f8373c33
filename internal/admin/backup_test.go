package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// store is a Backend that writes what a test wants.
type store struct {
	fake
	write func(ctx context.Context, w io.Writer) error
}

func (s *store) Backup(ctx context.Context, w io.Writer) error { return s.write(ctx, w) }

func serveStore(t *testing.T, secret string, write func(context.Context, io.Writer) error) *httptest.Server {
	server := httptest.NewUnstartedServer(NewHandler(&store{write: write}, http.NotFoundHandler(), Access{Secret: secret}))
	// A backup takes longer than any other answer may.
	server.Config.ReadTimeout, server.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// backup asks for a backup and reads it to the end.
func backup(t *testing.T, server *httptest.Server, secret string, rate int64) ([]byte, error) {
	body, err := client(t, server.URL, secret).Backup(t.Context(), rate)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

func TestBackupIsPassedOnAsItComes(t *testing.T) {
	next := make(chan struct{})
	server := serveStore(t, "hush", func(_ context.Context, w io.Writer) error {
		for _, text := range []string{"first", "second"} {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			<-next
		}
		return nil
	})
	body, err := client(t, server.URL, "hush").Backup(t.Context(), 0)
	require.NoError(t, err)
	defer body.Close()
	first := make([]byte, 5)
	_, err = io.ReadFull(body, first)
	require.NoError(t, err)
	require.Equal(t, "first", string(first), "before there is a second piece")
	close(next)
	rest, err := io.ReadAll(body)
	require.NoError(t, err)
	require.Equal(t, "second", string(rest))
}

// TestBackupAtARate also takes longer than the server's time limits for short answers.
func TestBackupAtARate(t *testing.T) {
	data := bytes.Repeat([]byte("x"), 40_000)
	var ended error
	server := serveStore(t, "", func(ctx context.Context, w io.Writer) error {
		_, err := w.Write(data)
		ended = errors.Join(err, ctx.Err())
		return err
	})
	began := time.Now()
	got, err := backup(t, server, "", 100_000)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
	require.Greater(t, time.Since(began), 350*time.Millisecond)
	require.NoError(t, ended)

	code, text := get(t, server.URL+"/v1/backup?rate=fast", DeliberateHeader, "1")
	require.Equal(t, http.StatusBadRequest, code)
	require.JSONEq(t, `{"error":"rate is not a number of bytes"}`, text)
}

func TestBackupErrors(t *testing.T) {
	failing := func(context.Context, io.Writer) error { return errors.New("node a does not vote: forming") }
	_, err := backup(t, serveStore(t, "hush", failing), "hush", 0)
	require.ErrorContains(t, err, "answered: node a does not vote: forming")
	_, err = backup(t, serveStore(t, "hush", failing), "wrong", 0)
	require.ErrorIs(t, err, ErrUnauthorized)
	_, err = backup(t, serve(t, &fake{}, ""), "", 0)
	require.ErrorContains(t, err, "this process is no node and holds no data: give the admin address of a node")
	_, err = client(t, "127.0.0.1:1", "").Backup(t.Context(), 0)
	require.ErrorIs(t, err, ErrUnreachable)

	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	}))
	defer half.Close()
	_, err = backup(t, half, "", 0)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorContains(t, err, "broke off")
}

func TestBackupEndsWithItsReader(t *testing.T) {
	ended := make(chan error, 1)
	server := serveStore(t, "", func(ctx context.Context, w io.Writer) error {
		for {
			if _, err := w.Write(make([]byte, 1000)); err != nil {
				ended <- err
				return err
			}
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	body, err := client(t, server.URL, "").Backup(ctx, 1000)
	require.NoError(t, err)
	defer body.Close()
	cancel()
	_, err = io.ReadAll(body)
	require.ErrorIs(t, err, context.Canceled)
	require.Error(t, <-ended, "the node does not go on for nobody")
}

func TestShutdownEndsABackup(t *testing.T) {
	begun := make(chan struct{})
	cause := make(chan error, 1)
	server, err := Listen("127.0.0.1:0", NewHandler(&store{write: func(ctx context.Context, w io.Writer) error {
		_, err := w.Write([]byte("a piece"))
		close(begun)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return err
	}}, http.NotFoundHandler(), Access{}), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	body, err := client(t, server.Addr(), "").Backup(t.Context(), 0)
	require.NoError(t, err)
	defer body.Close()
	<-begun
	require.NoError(t, server.Shutdown(t.Context()))
	require.EqualError(t, <-cause, "the process is being stopped")
	require.NoError(t, <-served)
}
