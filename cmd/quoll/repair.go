package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

// repairOptions are the flags of `ring repair`.
type repairOptions struct {
	node, slot    string
	dryRun, quiet bool
	form          form
}

func (o *repairOptions) request() (admin.RepairRequest, error) {
	first, last, err := admin.ParseSlots(o.slot)
	if err != nil {
		return admin.RepairRequest{}, config.Faults{{Field: "slot", Reason: err.Error()}}
	}
	return admin.RepairRequest{First: first, Last: last, Node: o.node, DryRun: o.dryRun}, nil
}

func (a *app) repairCommand(ask asker) *cobra.Command {
	var opt repairOptions
	command := &cobra.Command{
		Use:   "repair",
		Short: "Compare all replicas now, and write again what one has missed",
		Long: `Repair asks a running node to let all nodes compare their replicas, and to write again what
one of them has missed. Nodes do that all the time by themselves; this is to know that it is
done now, or, with --dry-run, what there is to do. Clients go on meanwhile: it is as fast as
--repair-rate of the nodes allows.

Exit code 1 means that something could not be compared or repaired. An interruption ends the work;
what was written until then is right, and can stay.`,
		Example: `  quoll ring repair --dry-run
  quoll ring repair --node b --admin 10.0.0.1:7100 --secret-file /etc/quoll/secret
  quoll ring repair --slot 0-100`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			request, err := opt.request()
			if err != nil {
				return err
			}
			return ask(func(client *admin.Client) error { return a.repair(cmd.Context(), client, request, opt) })
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&opt.node, "node", "", "`name` of the only node whose replicas are compared with the others'")
	flags.StringVar(&opt.slot, "slot", "", "`slots` to compare: one, or a range such as 0-100 (default: all)")
	flags.BoolVar(&opt.dryRun, "dry-run", false, "only say what would be written")
	flags.BoolVarP(&opt.quiet, "quiet", "q", false, "say nothing when all goes well")
	bindForm(command, &opt.form)
	return command
}

// repair has replicas repaired, and says what came of it.
func (a *app) repair(ctx context.Context, client *admin.Client, request admin.RepairRequest, opt repairOptions) error {
	result, err := a.followRepair(ctx, client, request, opt.quiet)
	if ctx.Err() != nil {
		return fmt.Errorf("the replicas were not compared to the end: %w", errInterrupted)
	}
	if err != nil {
		return err
	}
	if opt.form == asJSON {
		if err := printJSON(a.stdout, result); err != nil {
			return err
		}
	}
	summary := summarize(result, request)
	if problems := problems(result); len(problems) > 0 {
		return errors.New(summary + "; " + strings.Join(problems, "; "))
	}
	if !opt.quiet && opt.form != asJSON {
		fmt.Fprintln(a.stdout, strings.ToUpper(summary[:1])+summary[1:]+".")
	}
	return nil
}

func (a *app) followRepair(ctx context.Context, client *admin.Client, request admin.RepairRequest, quiet bool) (admin.RepairProgress, error) {
	p := startProgress(a.stderr, "Repairing", quiet)
	defer p.stop()
	p.set(repairState{dryRun: request.DryRun})
	return client.Repair(ctx, request, func(now admin.RepairProgress) { p.set(repairState{now, request.DryRun}) })
}

// repairState is how far a repair is.
type repairState struct {
	admin.RepairProgress
	dryRun bool
}

func (s repairState) done(elapsed time.Duration) (share float64, took time.Duration) {
	return float64(s.Slots) / float64(max(s.Total, 1)), elapsed
}

func (s repairState) text(time.Duration) string {
	if len(s.Waiting) > 0 && s.Slots == 0 {
		return "waiting for the nodes' own comparison to end: " + strings.Join(s.Waiting, ", ")
	}
	wrote := "written"
	if s.dryRun {
		wrote = "to write"
	}
	return fmt.Sprintf("%d of %d slots compared, %d differ, %s %s", s.Slots, s.Total, s.Differing, plural(s.Keys, "key"), wrote)
}

// summarize says in one sentence what was done.
func summarize(p admin.RepairProgress, request admin.RepairRequest) string {
	where := "all slots"
	switch {
	case request.First == request.Last:
		where = fmt.Sprintf("slot %d", request.First)
	case !request.Whole():
		where = fmt.Sprintf("slots %d to %d", request.First, request.Last)
	}
	whose := ""
	if request.Node != "" {
		whose = " of node " + printable(request.Node)
	}
	keys, wrote := plural(p.Keys, "key"), "were written again"
	switch {
	case request.DryRun: // a key is found by each pair that differs in it, and would be written once
		keys, wrote = "up to "+keys, "would be written again"
	case p.Keys == 1:
		wrote = "was written again"
	}
	return fmt.Sprintf("compared %s%s, %s of replicas: %d differed, %s (%s) %s",
		where, whose, plural(p.Slots, "pair"), p.Differing, keys, humanBytes(uint64(p.Bytes)), wrote)
}

// problems says what could not be compared or repaired, and why.
func problems(p admin.RepairProgress) []string {
	var problems []string
	if p.Failed > 0 {
		problems = append(problems, plural(p.Failed, "key")+" could not be written again; the nodes go on trying")
	}
	if p.Unreadable > 0 {
		problems = append(problems, plural(p.Unreadable, "pair")+" could not be compared because the data of one is damaged: see quoll ring status")
	}
	var gone []string // that nobody needs to hear of from the others, too
	for _, e := range p.Errors {
		if e.Peer == "" {
			gone = append(gone, e.Node)
			problems = append(problems, fmt.Sprintf("node %s has not compared to the end: %s", printable(e.Node), printable(e.Error)))
		}
	}
	for _, e := range p.Errors {
		if e.Peer != "" && !slices.Contains(gone, e.Peer) {
			problems = append(problems, fmt.Sprintf("node %s has not compared with %s to the end: %s", printable(e.Node), printable(e.Peer), printable(e.Error)))
		}
	}
	return problems
}
