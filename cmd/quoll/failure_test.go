package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node/membership"
)

// TestAProxyThatAcceptsNoMoreClientsEnds: a process that only looks alive is restarted by nobody.
func TestAProxyThatAcceptsNoMoreClientsEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	failed := newFailures()
	cfg := config.DefaultProxy()
	cfg.Nodes = []string{"127.0.0.1:1"}
	p, err := startProxy(clientListeners{plain: listener}, new(security), cfg, surroundings{}, failed, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.ErrorContains(t, <-failed, "start this process again")
	require.NoError(t, p.close(t.Context()))
	require.Empty(t, failed)
}

// TestWhatFailsReachesMain with an exit code that says whose fault it is.
func TestWhatFailsReachesMain(t *testing.T) {
	for name, test := range map[string]struct {
		failure error
		code    int
		says    string
	}{
		"a part":    {errors.New("no peer can connect any more"), exitFailure, "quoll: no peer can connect any more\n"},
		"a setting": {&membership.ConfigError{Field: "replicas", Reason: "is 2 here, but 3 on node b"}, exitUsage, "quoll: replicas: is 2 here, but 3 on node b\n"},
	} {
		s := newShell()
		s.during = func(ctx context.Context) error {
			api, err := admin.Listen("127.0.0.1:0", http.NotFoundHandler(), slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			failed := newFailures()
			failed.tell(test.failure)
			failed.tell(errors.New("a consequence"))
			return serveAdmin(ctx, api, keeping{config.GiB, gcNode, true, true}, failed)
		}
		code, _, stderr := s.run("node", "--name", "a", "--initial-cluster", "a=127.0.0.1:7000", "--replicas", "1")
		require.Equal(t, test.code, code, name)
		require.True(t, strings.HasSuffix(stderr, test.says), "%s: %s", name, stderr)
	}
}
