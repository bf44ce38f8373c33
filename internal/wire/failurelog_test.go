package wire

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFaultsAreWarnedOfOnce(t *testing.T) {
	differ := fmt.Errorf("%w: the configurations differ", ErrRefused)
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	var c failureLog
	for i, step := range []struct {
		err   error
		level slog.Level
		ok    bool
	}{
		{refused, slog.LevelDebug, true},
		{refused, slog.LevelDebug, false},
		{differ, slog.LevelWarn, true},
		{differ, slog.LevelDebug, false},
		{refused, slog.LevelDebug, true},
		{differ, slog.LevelDebug, true}, // as before, after an attempt that did not get through
		{fmt.Errorf("%w: only one side has one", ErrSecret), slog.LevelWarn, true},
		{fmt.Errorf("%w: during the handshake: %w", ErrProtocol, io.EOF), slog.LevelDebug, true},
		{fmt.Errorf("%w: during the handshake: %w", ErrProtocol, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}), slog.LevelDebug, true},
		{fmt.Errorf("%w: a frame of type 9", ErrProtocol), slog.LevelWarn, true},
	} {
		level, ok := c.level(step.err, 0)
		require.Equal(t, step.ok, ok, "step %d", i)
		require.Equal(t, step.level, level, "step %d", i)
	}
	level, ok := c.level(differ, remind)
	require.True(t, ok)
	require.Equal(t, slog.LevelWarn, level, "once a minute as long as it lasts")
	c.settle()
	level, _ = c.level(differ, 0)
	require.Equal(t, slog.LevelWarn, level, "it worked in between")
}

func TestPeerThatIsNotReadyIsGivenTime(t *testing.T) {
	notReady := unwantedError{errors.New("it does not vote")}
	var c failureLog
	for _, step := range []struct {
		at    time.Duration
		level slog.Level
		ok    bool
	}{
		{time.Minute, slog.LevelDebug, true},
		{time.Minute + patience/2, slog.LevelDebug, false},
		{time.Minute + patience, slog.LevelWarn, true},
		{time.Minute + 2*patience, slog.LevelDebug, false},
	} {
		level, ok := c.level(notReady, step.at)
		require.Equal(t, step.ok, ok, step.at)
		require.Equal(t, step.level, level, step.at)
	}
}
