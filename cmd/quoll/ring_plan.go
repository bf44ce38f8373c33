package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// changeOptions are the flags of commands that change the ring.
type changeOptions struct {
	dryRun     bool
	acceptLoss string
	form       form
}

func (o *changeOptions) bind(command *cobra.Command) {
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&o.dryRun, "dry-run", false, "only say what would be done")
	bindForm(command, &o.form)
}

// option is what the admin API has to know: who it is that asks, for the history.
func (a *app) option(o changeOptions) admin.RingOption {
	by := cmp.Or(a.variable("USER"), a.variable("LOGNAME"), "admin")
	if len(by) > ring.MaxName {
		by = "admin"
	}
	return admin.RingOption{By: by, DryRun: o.dryRun}
}

// variable returns a variable of the environment.
func (a *app) variable(name string) string {
	for _, v := range a.environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func (a *app) planCommand(ask asker) *cobra.Command {
	var opt changeOptions
	command := &cobra.Command{
		Use:   "plan [CHANGE...]",
		Short: "Stage changes of the ring, and show what they mean",
		Long: `Plan stages changes, and shows what all that are staged mean together: what is copied from
where to where, the share of each node, how long it takes, and how much may fail before and
after. Nothing moves before quoll ring commit. The changes:

  join NODE               NODE, which was started with --join and waits, becomes a member
  leave NODE              NODE gives all it holds to others
  replace NODE BY         BY, which waits, takes the place and the weight of NODE, dead or alive
  weight NODE N           NODE's share of the data, relative to the others'
  rack NODE RACK          what fails together with NODE; - for none
  replicas N              how many nodes hold each key

Several can be given at once; all are staged, or none. Without any it shows what is staged.
quoll ring plan clear drops all of it, quoll ring plan clear NODE what is staged for a node.

Changes may be planned and committed while others are under way: they become part of them.`,
		Example: `  quoll ring plan join n4
  quoll ring plan join n4 join n5 replicas 5
  quoll ring plan replace n2 n5 --dry-run
  quoll ring plan                                  # what is staged
  quoll ring plan clear`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "clear" {
				if len(args) > 2 {
					return errors.New("give one name after clear, or none")
				}
				return nil
			}
			_, err := admin.ParseChanges(args)
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(func(client *admin.Client) error { return a.planRing(cmd, client, args, opt) })
		},
	}
	command.ValidArgsFunction = completePlan(ask)
	opt.bind(command)
	return command
}

func (a *app) planRing(cmd *cobra.Command, client *admin.Client, args []string, opt changeOptions) error {
	var plan admin.RingPlan
	var err error
	switch ctx := cmd.Context(); {
	case len(args) == 0:
		plan, err = client.RingPlan(ctx)
	case args[0] == "clear":
		plan, err = client.ClearRing(ctx, strings.Join(args[1:], ""), a.option(opt))
	default:
		var changes []change.Staged
		if changes, err = admin.ParseChanges(args); err == nil {
			plan, err = client.StageRing(ctx, changes, a.option(opt))
		}
	}
	switch {
	case err != nil:
		return err
	case opt.form == asJSON:
		return printJSON(cmd.OutOrStdout(), plan)
	}
	return printPlan(cmd.OutOrStdout(), plan)
}

func (a *app) commitCommand(ask asker) *cobra.Command {
	var opt changeOptions
	command := &cobra.Command{
		Use:   "commit [ID]",
		Short: "Let the ring become what is planned",
		Long: `Commit makes the staged changes the plan under way. All of them, once: by the ID that quoll ring
plan has shown nobody commits something else than he has looked at. Without an ID it is what is
staged now. The data then moves by itself, in the background; quoll ring watch shows it, quoll
ring wait waits for its end.

It refuses a plan that moves slots of which too few replicas are alive to tell what was written.
If the others are gone for good, plan that they leave or are replaced, and add
--accept-data-loss with the name of the cluster: what only they knew is lost. That can be
done later, too: give the ID of the plan under way.`,
		Example: `  quoll ring commit 5f0c2a11
  quoll ring commit && quoll ring wait --timeout 1h
  quoll ring commit 5f0c2a11 --accept-data-loss quoll`,
		Args: oneOrNone("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(func(client *admin.Client) error { return a.commitRing(cmd, client, strings.Join(args, ""), opt) })
		},
	}
	command.ValidArgsFunction = completePlanID(ask)
	command.Flags().StringVar(&opt.acceptLoss, "accept-data-loss", "", "`name` of the cluster: go on although data is lost")
	opt.bind(command)
	return command
}

// oneOrNone takes one argument or none.
func oneOrNone(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("give one %s, or none", what)
		}
		return nil
	}
}

func (a *app) commitRing(cmd *cobra.Command, client *admin.Client, id string, opt changeOptions) error {
	if id == "" {
		plan, err := client.RingPlan(cmd.Context())
		if err != nil {
			return err
		}
		if id = plan.ID; id == "" && plan.Problem == "" && opt.acceptLoss != "" {
			id = plan.UnderWay
		}
	}
	status, err := client.CommitRing(cmd.Context(), id, opt.acceptLoss, a.option(opt))
	return a.shown(cmd, status, err, opt, func() string {
		if status.Plan == nil {
			return "The plan is committed, and over: nothing has to be copied."
		}
		return fmt.Sprintf("Plan %s is committed: %s. See quoll ring watch.", id, planned(status.Plan))
	})
}

// planned says what a plan has to do.
func planned(p *admin.RingProgress) string {
	return fmt.Sprintf("%s change, about %s are copied", plural(int64(p.Slots), "slot"), humanBytes(uint64(p.Bytes)))
}

// shown prints what has become of the ring.
func (a *app) shown(cmd *cobra.Command, status admin.RingStatus, err error, opt changeOptions, say func() string) error {
	if err != nil {
		return err
	}
	if opt.form == asJSON {
		return printJSON(cmd.OutOrStdout(), status)
	}
	text := printable(say())
	if opt.dryRun {
		text = "Nothing was done. It would be: " + text
	}
	fmt.Fprintln(cmd.OutOrStdout(), text)
	return nil
}

func (a *app) abortCommand(ask asker) *cobra.Command {
	var opt changeOptions
	undo := false
	command := &cobra.Command{
		Use:   "abort [ID]",
		Short: "Return to the ring before the plan, or, with --undo, go on with it",
		Long: `Abort turns the plan under way around, also halfway: slots that have moved move back, in the
background, and what clients have written meanwhile goes with them. Nodes that were to join
wait again afterwards. Until that is over --undo turns it around once more.

What is only staged is dropped by quoll ring plan clear.`,
		Example: `  quoll ring abort
  quoll ring abort --undo`,
		Args: oneOrNone("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(func(client *admin.Client) error { return a.abortRing(cmd, client, strings.Join(args, ""), undo, opt) })
		},
	}
	command.ValidArgsFunction = completeUnderWay(ask)
	command.Flags().BoolVar(&undo, "undo", false, "go on with a plan that is being aborted")
	opt.bind(command)
	return command
}

func (a *app) abortRing(cmd *cobra.Command, client *admin.Client, id string, undo bool, opt changeOptions) error {
	if id == "" {
		status, err := client.Ring(cmd.Context())
		if err != nil {
			return err
		}
		if status.Plan == nil && len(status.Staged) > 0 {
			return errors.New("no plan is under way; what is staged is dropped by quoll ring plan clear")
		}
		if status.Plan != nil {
			id = status.Plan.ID
		}
	}
	status, err := client.AbortRing(cmd.Context(), id, undo, a.option(opt))
	return a.shown(cmd, status, err, opt, func() string {
		switch {
		case status.Plan == nil && undo:
			return "Plan " + id + " is over."
		case status.Plan == nil:
			return "Plan " + id + " is undone: nothing had moved."
		case undo:
			return "Plan " + id + " goes on: " + planned(status.Plan) + ". See quoll ring watch."
		}
		return fmt.Sprintf("Plan %s is being undone: %s go back. See quoll ring watch.", id, plural(int64(status.Plan.Slots-status.Plan.Moved), "slot"))
	})
}

// simpleCommand is one that changes something small.
func (a *app) simpleCommand(ask asker, use, short, long, example, say string, do func(context.Context, *admin.Client, admin.RingOption) (admin.RingStatus, error)) *cobra.Command {
	var opt changeOptions
	command := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(func(client *admin.Client) error {
				status, err := do(cmd.Context(), client, a.option(opt))
				return a.shown(cmd, status, err, opt, func() string { return say })
			})
		},
	}
	opt.bind(command)
	return command
}

func (a *app) pauseCommand(ask asker) *cobra.Command {
	return a.simpleCommand(ask, "pause", "Let no slot begin to move",
		"Pause lets no slot begin to move; those on their way arrive. Nodes that come back without their\nstate wait, too. quoll ring resume ends it.", "  quoll ring pause",
		"The ring is paused: what is on its way arrives, nothing else begins. quoll ring resume ends that.",
		func(ctx context.Context, client *admin.Client, opt admin.RingOption) (admin.RingStatus, error) {
			return client.PauseRing(ctx, opt)
		})
}

func (a *app) resumeCommand(ask asker) *cobra.Command {
	return a.simpleCommand(ask, "resume", "Let slots move again after a pause", "Resume ends what quoll ring pause began.", "  quoll ring resume", "The ring goes on.",
		func(ctx context.Context, client *admin.Client, opt admin.RingOption) (admin.RingStatus, error) {
			return client.ResumeRing(ctx, opt)
		})
}

func (a *app) rateCommand(ask asker) *cobra.Command {
	var opt changeOptions
	command := &cobra.Command{
		Use:   "rate [BYTES]",
		Short: "Show or set how many bytes a second each node copies",
		Long: `Rate sets how many bytes a second each node copies at most while slots move, now and from now on:
more is over sooner, and clients feel it more. default sets what it is if nobody has set it,
50MiB. Without an argument it shows the rate.`,
		Example: `  quoll ring rate 20MiB
  quoll ring rate default`,
		Args: oneOrNone("number of bytes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var rate config.Size
			if len(args) == 1 && args[0] != "default" {
				if err := rate.Set(args[0]); err != nil || rate < 64*config.KiB {
					return config.Faults{{Field: "rate", Reason: fmt.Sprintf("%q is not a number of bytes such as 20MiB, at least 64KiB", args[0])}}
				}
			}
			return ask(func(client *admin.Client) (err error) {
				var status admin.RingStatus
				if len(args) == 0 {
					status, err = client.Ring(cmd.Context())
				} else {
					status, err = client.RateRing(cmd.Context(), int64(rate), a.option(opt))
				}
				return a.shown(cmd, status, err, opt, func() string { return "Each node copies up to " + humanBytes(uint64(status.Rate)) + "/s." })
			})
		},
	}
	opt.bind(command)
	return command
}

func (a *app) forgetCommand(ask asker) *cobra.Command {
	var opt changeOptions
	command := &cobra.Command{
		Use:     "forget NODE",
		Short:   "Let a node go that waits to join",
		Long:    "Forget drops a node that has asked to join and is not wanted, or not there any more. A node that\nruns asks again when it is started again.",
		Example: "  quoll ring forget n4",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give the name of one NODE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(func(client *admin.Client) error {
				status, err := client.ForgetRing(cmd.Context(), args[0], a.option(opt))
				return a.shown(cmd, status, err, opt, func() string { return args[0] + " does not wait to join any more." })
			})
		},
	}
	command.ValidArgsFunction = completeWith(ask, func(_ []string, s admin.RingStatus) []string { return namesOf(s, true) })
	opt.bind(command)
	return command
}

// namesOf lists the members, or the nodes that wait to join.
func namesOf(s admin.RingStatus, waiting bool) []string {
	var names []string
	for _, m := range s.Members {
		if (m.State == change.Waiting.String()) == waiting && !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}
