package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
)

func (a *app) nodeCommand() *cobra.Command {
	cfg := config.DefaultNode()
	command := &cobra.Command{
		Use:   "node",
		Short: "Run a node: one of the processes that hold the data",
		Long: `Node runs one node of a cluster. All nodes are started with the same --initial-cluster,
which names every one of them, and each with its own --name. Clients do not talk to nodes
but to a proxy: see quoll proxy.

Ports that other machines can reach need a secret that all nodes and proxies share
(--secret-file), or --insecure in a network that strangers cannot enter.
` + settingsHelp,
		Example: `  # three nodes on one machine, each in a terminal of its own
  CLUSTER=a=127.0.0.1:7000,b=127.0.0.1:7010,c=127.0.0.1:7020
  quoll node --name a --peer 127.0.0.1:7000 --admin 127.0.0.1:7100 --initial-cluster $CLUSTER
  quoll node --name b --peer 127.0.0.1:7010 --admin 127.0.0.1:7110 --initial-cluster $CLUSTER
  quoll node --name c --peer 127.0.0.1:7020 --admin 127.0.0.1:7120 --initial-cluster $CLUSTER

  # one of three machines
  quoll node --name a --peer :7000 --rack r1 --secret-file /etc/quoll/secret \
    --initial-cluster a=10.0.0.1:7000,b=10.0.0.2:7000,c=10.0.0.3:7000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			log := newLogger(a.stderr, cfg.LogLevel, cfg.LogFormat)
			logStart(log, "node", &cfg)
			return a.node(cmd.Context(), cfg, log)
		},
	}
	command.Flags().SortFlags = false
	cfg.Bind(command.Flags())
	return command
}

// runNode runs a node and its admin API until ctx is done.
func runNode(context.Context, config.Node, *slog.Logger) error {
	return errors.New("quoll node is not wired")
}
