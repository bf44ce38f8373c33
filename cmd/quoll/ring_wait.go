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

// waitOptions are the flags of commands that wait for a plan.
type waitOptions struct {
	timeout time.Duration
	quiet   bool
}

func (o *waitOptions) bind(command *cobra.Command) {
	command.Flags().DurationVar(&o.timeout, "timeout", 0, "longest `time` to wait, such as 1h (default: no limit)")
	command.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "say nothing when all goes well")
}

func (o *waitOptions) validate() error {
	if o.timeout < 0 {
		return config.Faults{{Field: "timeout", Reason: fmt.Sprintf("%s is less than nothing", o.timeout)}}
	}
	return nil
}

func (a *app) waitCommand(ask asker) *cobra.Command {
	var opt waitOptions
	var form form
	command := &cobra.Command{
		Use:   "wait",
		Short: "Wait until the plan under way is over",
		Long: `Wait ends when no plan is under way, at once if there is none. Members that take their places
again after they lost their state are a plan, too. It is for scripts.

Exit code 0: it is over. 1: it was aborted meanwhile, or the ring could not be asked. 3: it is not
over within --timeout; it goes on.`,
		Example: `  quoll ring commit && quoll ring wait --timeout 1h`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.validate(); err != nil {
				return err
			}
			return ask(func(client *admin.Client) error {
				var last admin.RingStatus
				waited, err := a.wait(cmd.Context(), client, opt, func(s admin.RingStatus) bool { last = s; return false })
				switch {
				case err != nil:
				case form == asJSON:
					return printJSON(cmd.OutOrStdout(), last)
				case opt.quiet:
				case waited:
					fmt.Fprintln(cmd.OutOrStdout(), "The plan is over.")
				default:
					fmt.Fprintln(cmd.OutOrStdout(), "No plan is under way.")
				}
				return err
			})
		},
	}
	opt.bind(command)
	bindForm(command, &form)
	return command
}

// waitInterval is how often waiting commands look.
const waitInterval = 500 * time.Millisecond

// wait waits until no plan is under way, or enough says so, and reports whether there was one.
func (a *app) wait(ctx context.Context, client *admin.Client, opt waitOptions, enough func(admin.RingStatus) bool) (waited bool, err error) {
	if opt.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opt.timeout)
		defer cancel()
	}
	shows := startProgress(a.stderr, "Moving", opt.quiet)
	shows.set(moveState{})
	var p pace
	var last watched
	aborts, aborted := false, false
	err = follow(ctx, client, waitInterval, func(s admin.RingStatus) (bool, error) {
		if s.Plan != nil {
			if !waited {
				aborts = s.Plan.Aborting
			}
			waited, aborted, last = true, s.Plan.Aborting, p.see(s, time.Now())
			shows.set(moveState{last})
		}
		return enough != nil && enough(s), nil
	})
	shows.stop()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return waited, errUnfinished(unfinished(last, opt.timeout))
	case errors.Is(err, context.Canceled):
		return waited, fmt.Errorf("%w: what moves goes on", errInterrupted)
	case err == nil && aborted && !aborts:
		return waited, errors.New("the plan was aborted meanwhile: the ring is what it was before; see quoll ring history")
	}
	return waited, err
}

// unfinished says what holds a plan up.
func unfinished(w watched, timeout time.Duration) string {
	if w.Plan == nil {
		return fmt.Sprintf("no answer within %s", timeout)
	}
	text := fmt.Sprintf("not over within %s: %d of %d slots have moved, and it goes on", timeout, w.Plan.Moved, w.Plan.Slots)
	if w.Paused {
		text += "; the ring is paused: quoll ring resume"
	}
	if len(w.Plan.Stuck) > 0 {
		text += "; " + strings.Join(w.Plan.Stuck, "; ")
	}
	return text
}

// moveState is how far a plan is, for a progress.
type moveState struct{ watched }

func (s moveState) done(time.Duration) (share float64, took time.Duration) {
	switch {
	case s.Plan == nil:
		return 0, 0
	case s.Plan.Bytes == 0 || s.SecondsLeft == nil:
		return float64(s.Plan.Moved) / float64(max(s.Plan.Slots, 1)), time.Since(s.Plan.Since)
	}
	share = float64(s.Plan.BytesDone) / float64(s.Plan.Bytes)
	left := time.Duration(*s.SecondsLeft) * time.Second
	return share, time.Duration(float64(left) * share / max(1-share, 1e-6)) // progress works out from that what is left
}

func (s moveState) text(time.Duration) string {
	if s.Plan == nil {
		return "waiting for an answer"
	}
	text := fmt.Sprintf("%d of %d slots, %s, %s/s", s.Plan.Moved, s.Plan.Slots, humanBytes(uint64(s.Plan.BytesDone)), humanBytes(uint64(s.BytesPerSecond)))
	if s.Paused {
		text += ", paused"
	}
	if len(s.Plan.Stuck) > 0 {
		text += ", waits for members that are down"
	}
	return text
}
