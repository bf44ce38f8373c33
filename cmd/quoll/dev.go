package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
)

func (a *app) devCommand() *cobra.Command {
	cfg := config.DefaultDev()
	command := &cobra.Command{
		Use:   "dev",
		Short: "Run a whole cluster in one process, to try things out",
		Long: `Dev runs three nodes and a proxy in one process, with nothing to set up. The nodes talk
over real sockets on this machine and keep the data in memory: it is gone when dev ends.

It prints where to connect and what to type next. Ctrl-C stops it in order, a second
Ctrl-C at once.
` + settingsHelp,
		Example: `  quoll dev
  redis-cli -p 6379 set greeting hello       # in another terminal

  quoll dev --listen 127.0.0.1:7777          # if 6379 is taken
  quoll dev --nodes 5 --replicas 3
  quoll dev --nodes 1 --replicas 1           # nothing replicated, least memory`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			log := newLogger(a.stderr, cfg.LogLevel, "text")
			logStart(log, "dev", &cfg)
			return a.dev(cmd.Context(), cfg, log, a.stdout)
		},
	}
	command.Flags().SortFlags = false
	cfg.Bind(command.Flags())
	return command
}

// runDev runs nodes and a proxy until ctx is done. It prints to out where to connect,
// what is running and what to type next.
func runDev(context.Context, config.Dev, *slog.Logger, io.Writer) error {
	return errors.New("quoll dev is not wired")
}
