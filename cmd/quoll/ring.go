package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/database"
)

func (a *app) ringCommand() *cobra.Command {
	cfg := config.DefaultClient()
	command := &cobra.Command{
		Use:   "ring",
		Short: "Look at a running cluster, and change it: its nodes, where a key lives, what moves",
		Long: `Ring asks the admin API of a running node, proxy or dev. Its address is given with
--admin or QUOLL_ADMIN; node, proxy and dev print theirs when they start. Of several, separated
by commas, the first that answers is asked. If the cluster has a secret, give it with
--secret-file or QUOLL_SECRET_FILE.`,
		Args: noArgs,
		RunE: help,
	}
	flags := command.PersistentFlags()
	cfg.Bind(flags)
	// ask lends a client that is set up as the flags say.
	ask := func(do func(*admin.Client) error) error {
		if err := config.Load(&cfg, flags, a.environ); err != nil {
			return err
		}
		client, err := a.choose(command.Root().Context(), cfg)
		if err != nil {
			return err
		}
		defer client.Close()
		return do(client)
	}
	command.AddCommand(statusCommand(ask), locateCommand(ask), a.planCommand(ask), a.commitCommand(ask), a.abortCommand(ask), a.watchCommand(ask), a.waitCommand(ask),
		historyCommand(ask), a.pauseCommand(ask), a.resumeCommand(ask), a.rateCommand(ask), a.forgetCommand(ask), a.keyspaceCommand(ask), a.recoverCommand(ask), a.repairCommand(ask), a.reformCommand(ask))
	return command
}

// asker calls do with a client of the admin API.
type asker func(do func(*admin.Client) error) error

func statusCommand(ask asker) *cobra.Command {
	form := asTable
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the nodes, what each holds, and how the others see it",
		Long: `Status shows every node of the cluster. HOME and REPLICA count the slots that the ring
gives it, of 16384; LEADS the slots that it leads at the moment. SEEN AS is what the other
nodes' failure detectors say about it.

A table of its own shows which replicas have missed writes, once there are some: in how many
slots a node and others differed when they were compared last, since when, how long ago that
was, what has been written again because of it since the other nodes started, and the deletions
that wait until all replicas know of them.

Exit code 3 means that the cluster is not healthy: some node does not vote.`,
		Example: `  quoll ring status
  quoll ring status --admin 127.0.0.1:7110 -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(func(client *admin.Client) error { return showStatus(cmd, client, form) })
		},
	}
	bindForm(command, &form)
	return command
}

func showStatus(cmd *cobra.Command, client *admin.Client, form form) error {
	status, err := client.Status(cmd.Context())
	if err != nil {
		return err
	}
	if form == asJSON {
		err = printJSON(cmd.OutOrStdout(), status)
	} else {
		err = printStatus(cmd.OutOrStdout(), status)
	}
	if err == nil && len(status.Faults()) > 0 {
		return errUnhealthy{}
	}
	return err
}

func locateCommand(ask asker) *cobra.Command {
	form, number := asTable, 0
	command := &cobra.Command{
		Use:   "locate KEY",
		Short: "Show where a key lives and what each replica holds of it",
		Long: `Locate shows the slot of a key, its replicas, which of them leads the slot (home), and what
each holds: the version of the record, its type, size and expiry. A replica that lags shows
an older version; quorums make answers right nevertheless.`,
		Example: `  quoll ring locate user:1
  quoll ring locate -o json -- -key-with-a-dash`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give one KEY; quote it if it has blanks")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if number < 0 || number >= database.Count {
				return config.Faults{{Field: "database", Reason: fmt.Sprintf("%d is not from 0 to %d", number, database.Count-1)}}
			}
			return ask(func(client *admin.Client) error {
				return showLocation(cmd, client, number, []byte(args[0]), form)
			})
		},
	}
	command.Flags().IntVar(&number, "database", 0, "`number` of the database of the key")
	bindForm(command, &form)
	return command
}

func showLocation(cmd *cobra.Command, client *admin.Client, number int, key []byte, form form) error {
	location, err := client.Locate(cmd.Context(), number, key)
	if err != nil {
		return err
	}
	if form == asJSON {
		return printJSON(cmd.OutOrStdout(), location)
	}
	return printLocation(cmd.OutOrStdout(), location)
}
