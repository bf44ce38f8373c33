package gossip

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"sync/atomic"
)

// logWriter passes memberlist's log on to slog: its errors and warnings as warnings,
// the rest at Debug.
type logWriter struct {
	log *slog.Logger
	// quiet is set while closing, when errors of closed sockets are to be expected.
	quiet atomic.Bool
}

func (w *logWriter) logger() *log.Logger { return log.New(w, "", 0) }

// Write implements io.Writer for one line of the form "[LEVEL] memberlist: text".
func (w *logWriter) Write(line []byte) (int, error) {
	text := bytes.TrimSpace(line)
	level := slog.LevelDebug
	for _, prefix := range []string{"[WARN] ", "[ERR] "} {
		if bytes.HasPrefix(text, []byte(prefix)) && !w.quiet.Load() && !expected(text) {
			level = slog.LevelWarn
		}
	}
	if _, after, found := bytes.Cut(text, []byte("] ")); found {
		text = after
	}
	w.log.Log(context.Background(), level, string(bytes.TrimPrefix(text, []byte("memberlist: "))), "from", "memberlist")
	return len(line), nil
}

// expected reports whether a warning is part of a normal restart: the old life of a
// member is still being talked about, and it objects.
func expected(text []byte) bool { return bytes.Contains(text, []byte("Refuting")) }
