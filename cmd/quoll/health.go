package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

func (a *app) healthCommand() *cobra.Command {
	cfg := config.DefaultClient()
	command := &cobra.Command{
		Use:   "health",
		Short: "Ask a running node or proxy whether it is ready, for health checks",
		Long: `Health asks a running node, proxy or dev whether it can serve, prints the answer, and
ends with exit code 0 if it can and 1 if not. It is meant for container health checks.`,
		Example: `  quoll health
  quoll health --admin 127.0.0.1:7110`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			client := admin.NewClient(cfg.Admin, cfg.Secret.Reveal())
			defer client.Close()
			if err := client.Ready(cmd.Context()); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "ready")
			return err
		},
	}
	cfg.Bind(command.Flags())
	return command
}
