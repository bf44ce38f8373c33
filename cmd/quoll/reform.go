package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

// reformOptions are the flags of `ring reform`.
type reformOptions struct {
	yes, acceptLoss bool
	form            form
}

func (a *app) reformCommand(ask asker) *cobra.Command {
	var opt reformOptions
	command := &cobra.Command{
		Use:   "reform",
		Short: "Let a cluster that has lost its data form again, empty",
		Long: `Reform is for a cluster that does not work any more because too many of its nodes have lost their
state: nodes in memory that were restarted one after the other, for example. All nodes give up the
ring they were part of, and form a new one, which is empty. Every node has to run.

Without --yes it only says what would be given up. It refuses while any node still holds what was
written: make a backup of that node (quoll node backup), and then add --accept-loss. It deletes no
files: a node with data on disk is named with its directory, which is to be moved away by hand.

It waits until the new ring has formed. Exit code 1 means that it was refused or has not formed.`,
		Example: `  quoll ring reform --admin 127.0.0.1:7100          # what would be given up?
  quoll ring reform --admin 127.0.0.1:7100 --yes`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(func(client *admin.Client) error { return a.reform(cmd.Context(), client, opt) })
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&opt.yes, "yes", "y", false, "do it")
	flags.BoolVar(&opt.acceptLoss, "accept-loss", false, "even if nodes still hold data: it is lost")
	bindForm(command, &opt.form)
	return command
}

// reform lets the cluster form again, and waits until it has.
func (a *app) reform(ctx context.Context, client *admin.Client, opt reformOptions) error {
	report, err := client.Reform(ctx, admin.ReformRequest{AcceptLoss: opt.acceptLoss, DryRun: !opt.yes})
	if err != nil {
		return err
	}
	if opt.form == asJSON {
		err = printJSON(a.stdout, report)
	} else {
		_, err = fmt.Fprintln(a.stdout, givenUp(report))
	}
	if err != nil {
		return err
	}
	if !opt.yes {
		return config.Faults{{Field: "yes", Reason: "nothing was done: add --yes to give that up and form a new, empty ring"}}
	}
	formed, err := awaitFormed(ctx, client, report.Epoch)
	if err != nil || opt.form == asJSON {
		return err
	}
	fmt.Fprintf(a.stdout, "The cluster has formed again: epoch %d, %d nodes, empty.\n", formed.Epoch, len(formed.Nodes))
	return nil
}

// givenUp says what the nodes hold that is given up.
func givenUp(report admin.ReformReport) string {
	var lost, hold []string
	for _, n := range report.Nodes {
		switch {
		case n.Voting:
			hold = append(hold, fmt.Sprintf("%s (%s, %s)", n.Name, plural(int64(n.Keys), "key"), humanBytes(n.Bytes)))
		case n.Lost:
			lost = append(lost, n.Name)
		}
	}
	var parts []string
	if len(lost) > 0 {
		parts = append(parts, "State was lost before: "+strings.Join(lost, ", ")+".")
	}
	if len(hold) == 0 {
		parts = append(parts, "No node holds anything that could be lost now.")
	} else {
		parts = append(parts, "Given up: what is held by "+strings.Join(hold, ", ")+".")
	}
	return printable(strings.Join(parts, " "))
}

// How long the new ring may take, and how often to look.
const (
	formPatience = 30 * time.Second
	formLook     = 100 * time.Millisecond
)

// awaitFormed waits until all nodes vote in a ring of an epoch, or a later one.
func awaitFormed(ctx context.Context, client *admin.Client, epoch uint64) (admin.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, formPatience)
	defer cancel()
	ticker := time.NewTicker(formLook)
	defer ticker.Stop()
	last := "the node that was asked does not answer"
	for {
		status, err := client.Status(ctx)
		if err == nil {
			faults := status.Faults()
			if status.Formed && status.Epoch >= epoch && len(faults) == 0 {
				return status, nil
			}
			if len(faults) > 0 {
				last = strings.Join(faults, "; ")
			}
		}
		select {
		case <-ctx.Done():
			return status, errors.New("the nodes were told to form a new ring, and it has not formed yet: " + last + "; look at quoll ring status")
		case <-ticker.C:
		}
	}
}
