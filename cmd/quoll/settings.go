package main

import (
	"io"
	"log/slog"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/loglimit"
	"github.com/quolldb/quoll/internal/wire"
)

const settingsHelp = `
Every flag can also be given as an environment variable (--max-clients as
QUOLL_MAX_CLIENTS) or in a YAML file (--config FILE with the line "max-clients: 500").
A flag wins over a variable, a variable over the file. Sizes are written 65536, 64mb or
64MiB, durations 500ms, 1s or 2m.`

// newLogger returns a logger as --log-level and --log-format ask for it, which nobody can make fill a disk, and what ends it.
func newLogger(w io.Writer, level slog.Level, format string) (log *slog.Logger, end func()) {
	options := &slog.HandlerOptions{Level: level}
	var lines slog.Handler = slog.NewTextHandler(w, options)
	if format == "json" {
		lines = slog.NewJSONHandler(w, options)
	}
	limited := loglimit.New(lines)
	return slog.New(limited), limited.Close
}

// logStart writes what is about to run, with the settings in force.
func logStart(log *slog.Logger, command string, cfg config.Config) {
	if wire.FaultInjection {
		log.Warn("this build can be told to lose what it sends: it is for tests, not for data")
	}
	log.Info("starting", "command", command, "version", thisBuild().Version, "config", cfg)
}
