package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
)

func (a *app) proxyCommand() *cobra.Command {
	cfg := config.DefaultProxy()
	command := &cobra.Command{
		Use:   "proxy",
		Short: "Run a proxy: what Redis clients connect to",
		Long: `Proxy speaks Redis' protocol to clients and sends their commands to the nodes that hold
the keys. It holds no data: run as many as you like, behind any load balancer. It is given
the peer addresses of some nodes and learns the rest from them.

A port that other machines can reach needs a password (--password-file), or --insecure in
a network that strangers cannot enter. The nodes' secret, if they have one, is given with
--secret-file.
` + settingsHelp,
		Example: `  quoll proxy --nodes 127.0.0.1:7000,127.0.0.1:7010 --admin 127.0.0.1:7130
  redis-cli -p 6379 ping                     # in another terminal

  quoll proxy --listen :6379 --password-file /etc/quoll/password \
    --nodes 10.0.0.1:7000,10.0.0.2:7000 --secret-file /etc/quoll/secret`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			log := newLogger(a.stderr, cfg.LogLevel, cfg.LogFormat)
			logStart(log, "proxy", &cfg)
			return a.proxy(cmd.Context(), cfg, log)
		},
	}
	command.Flags().SortFlags = false
	cfg.Bind(command.Flags())
	return command
}

// runProxy runs a proxy and its admin API until ctx is done.
func runProxy(context.Context, config.Proxy, *slog.Logger) error {
	return errors.New("quoll proxy is not wired")
}
