package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/ring/change"
)

func (a *app) leaveCommand() *cobra.Command {
	cfg := config.DefaultClient()
	var opt changeOptions
	var waits waitOptions
	command := &cobra.Command{
		Use:   "leave",
		Short: "Let a running node leave the ring, and wait until it has",
		Long: `Leave asks the node at --admin to leave: it plans that, commits it, and waits until everything
that the node held is with others. Then its process can be stopped. Clients go on meanwhile.

It refuses while other changes are staged, for it would commit them too. An interruption ends the
waiting only: quoll ring abort takes the node back.

Exit code 3: it has not left within --timeout; it goes on.`,
		Example: `  quoll node leave --admin 10.0.0.4:7100 --secret-file /etc/quoll/secret
  quoll node leave --dry-run`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := waits.validate(); err != nil {
				return err
			}
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			client, err := a.choose(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer client.Close()
			return a.leave(cmd, client, opt, waits)
		},
	}
	opt.bind(command)
	waits.bind(command)
	cfg.Bind(command.Flags())
	return command
}

func (a *app) leave(cmd *cobra.Command, client *admin.Client, opt changeOptions, waits waitOptions) error {
	ctx := cmd.Context()
	status, err := client.Ring(ctx)
	if err != nil {
		return err
	}
	self := status.Seen
	switch state := stateOf(status, self); {
	case opt.dryRun:
		plan, err := client.StageRing(ctx, []change.Staged{{Kind: change.LeaveMember, Name: self}}, a.option(opt))
		if err != nil {
			return err
		}
		if opt.form == asJSON {
			return printJSON(a.stdout, plan)
		}
		return printPlan(a.stdout, plan)
	case state == change.Leaving.String(): // it has been told before
	case len(status.Staged) > 0:
		return fmt.Errorf("other changes are staged, and would be committed too (%s): commit them first, or drop them with quoll ring plan clear", strings.Join(status.Staged, ", "))
	default:
		if err := a.commitLeave(ctx, client, self, opt); err != nil {
			return err
		}
	}
	_, err = a.wait(ctx, client, waits, func(s admin.RingStatus) bool { status = s; return stateOf(s, self) == "" })
	if err != nil {
		return err
	}
	if stateOf(status, self) != "" {
		return fmt.Errorf("%s has not left: see quoll ring history", printable(self))
	}
	if opt.form == asJSON {
		return printJSON(a.stdout, status)
	}
	if !waits.quiet {
		fmt.Fprintf(a.stdout, "%s has left the ring: its process can be stopped.\n", printable(self))
	}
	return nil
}

// commitLeave plans that a node leaves, and commits that. What can't be is not left staged.
func (a *app) commitLeave(ctx context.Context, client *admin.Client, name string, opt changeOptions) error {
	plan, err := client.StageRing(ctx, []change.Staged{{Kind: change.LeaveMember, Name: name}}, a.option(opt))
	if err != nil {
		return err
	}
	if plan.Problem != "" {
		err = errors.New(plan.Problem)
	} else {
		_, err = client.CommitRing(ctx, plan.ID, "", a.option(opt))
	}
	if err == nil {
		return nil
	}
	if _, clearing := client.ClearRing(ctx, name, a.option(opt)); clearing != nil {
		return fmt.Errorf("%w; and it is still staged: quoll ring plan clear %s", err, name)
	}
	return err
}

// stateOf is what a member has to do with the ring, empty if there is none of that name.
func stateOf(s admin.RingStatus, name string) string {
	for _, m := range s.Members {
		if m.Name == name && m.State != change.Lost.String() {
			return m.State
		}
	}
	return ""
}
