package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
)

func (a *app) healthCommand() *cobra.Command {
	cfg, form := config.DefaultClient(), asTable
	command := &cobra.Command{
		Use:   "health",
		Short: "Ask a running node or proxy whether it is ready, for health checks",
		Long: `Health asks a running node, proxy or dev whether it can serve, prints the answer, and
ends with exit code 0 if it can and 1 if not. It is meant for container health checks.`,
		Example: `  quoll health
  quoll health --admin 127.0.0.1:7110 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			client, err := a.choose(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer client.Close()
			err = client.Ready(cmd.Context())
			switch {
			case form == asJSON:
				err = errors.Join(err, printJSON(a.stdout, readiness(err)))
			case err == nil:
				_, err = fmt.Fprintln(a.stdout, "ready")
			}
			return err
		},
	}
	bindForm(command, &form)
	cfg.Bind(command.Flags())
	return command
}

// health is the answer for programs.
type health struct {
	Ready bool `json:"ready"`
	// Reason says why it is not.
	Reason string `json:"reason,omitempty"`
}

func readiness(err error) health {
	if err != nil {
		return health{Reason: err.Error()}
	}
	return health{Ready: true}
}
