package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

// silenceTime is how long the node that is asked may not answer: it may be one of those that are restarted.
const silenceTime = 30 * time.Second

// follow looks at the ring until no plan is under way, or each says that it is enough. It calls each at once, and then at each
// interval.
func follow(ctx context.Context, client *admin.Client, interval time.Duration, each func(admin.RingStatus) (enough bool, err error)) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	answered := time.Now()
	for {
		status, err := client.Ring(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			answered = time.Now()
			if enough, err := each(status); enough || err != nil || status.Plan == nil {
				return err
			}
		case !errors.Is(err, admin.ErrUnreachable) || time.Since(answered) > silenceTime:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// watchOptions are the flags of quoll ring watch.
type watchOptions struct {
	interval time.Duration
	form     form
}

func (a *app) watchCommand(ask asker) *cobra.Command {
	var opt watchOptions
	command := &cobra.Command{
		Use:   "watch",
		Short: "Show how far the plan under way is, until it is over",
		Long: `Watch shows how far each move is: slots and data, how fast it goes and how long it still takes.
Rates are measured over the last 15 seconds. On a terminal it draws bars, elsewhere it writes a
line now and then; with --json each look is a line of JSON. It ends when no plan is under
way, and looking away (Ctrl-C) does not stop what moves: quoll ring pause and abort do.`,
		Example: `  quoll ring watch
  quoll ring watch --json --interval 10s`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opt.interval < 100*time.Millisecond {
				return config.Faults{{Field: "interval", Reason: "at least 100ms"}}
			}
			return ask(func(client *admin.Client) error {
				err := a.watch(cmd.Context(), client, opt)
				if errors.Is(err, context.Canceled) { // that is how one ends it
					return nil
				}
				return err
			})
		},
	}
	command.Flags().DurationVar(&opt.interval, "interval", time.Second, "`time` between two looks")
	bindForm(command, &opt.form)
	return command
}

func (a *app) watch(ctx context.Context, client *admin.Client, opt watchOptions) error {
	var p pace
	screen := &screen{out: a.stdout, terminal: isTerminal(a.stdout)}
	last := ""
	err := follow(ctx, client, opt.interval, func(s admin.RingStatus) (bool, error) {
		w := p.see(s, time.Now())
		if opt.form == asJSON {
			return false, json.NewEncoder(a.stdout).Encode(w)
		}
		if s.Plan != nil {
			last = s.Plan.ID
			return false, screen.show(w, time.Now())
		}
		return false, nil
	})
	if err != nil || opt.form == asJSON {
		return err
	}
	if last == "" {
		_, err = fmt.Fprintln(a.stdout, "No plan is under way.")
	} else {
		_, err = fmt.Fprintf(a.stdout, "Plan %s is over.\n", printable(last))
	}
	return err
}

// screen shows how far a plan is: again and again in the same place on a terminal, line by line elsewhere.
type screen struct {
	out      io.Writer
	terminal bool
	lines    int // that are on the terminal
	next     time.Time
	pause    time.Duration
}

func (s *screen) show(w watched, now time.Time) error {
	if !s.terminal {
		if now.Before(s.next) {
			return nil
		}
		s.pause = min(max(2*s.pause, lineInterval), longestInterval)
		s.next = now.Add(s.pause)
		_, err := io.WriteString(s.out, planLine(w)+"\n")
		return err
	}
	text := planLine(w) + "\n"
	for _, m := range w.Moves[:min(len(w.Moves), mostMoves)] {
		text += moveLine(m) + "\n"
	}
	for _, why := range w.Plan.Stuck {
		text += "Waits: " + printable(why) + "\n"
	}
	up := ""
	if s.lines > 0 {
		up = fmt.Sprintf("\x1b[%dA\x1b[J", s.lines)
	}
	s.lines = strings.Count(text, "\n")
	_, err := io.WriteString(s.out, up+text)
	return err
}

// planLine says in a line how far a plan is.
func planLine(w watched) string {
	p := w.Plan
	text := fmt.Sprintf("Plan %s: %d of %d slots moved, %d on their way; %s of %s, %s/s", printable(p.ID), p.Moved, p.Slots, p.Moving,
		humanBytes(uint64(p.BytesDone)), humanBytes(uint64(p.Bytes)), humanBytes(uint64(w.BytesPerSecond)))
	if p.Aborting {
		text = strings.Replace(text, ":", " is being undone:", 1)
	}
	if w.SecondsLeft != nil {
		text += ", " + (time.Duration(*w.SecondsLeft) * time.Second).String() + " left"
	}
	if w.Paused {
		text += "; paused"
	}
	if n := len(p.Stuck); n > 0 {
		text += "; some slots wait for members that are down"
	}
	return text
}

// moveLine draws how far a move is.
func moveLine(m watchedMove) string {
	share := float64(m.Done) / float64(max(m.Slots, 1))
	full := int(share * barWidth)
	text := fmt.Sprintf("  %s > %s [%s%s] %d%%, %d of %d slots, %s of %s", printable(m.From), printable(m.To), strings.Repeat("=", full), strings.Repeat(" ", barWidth-full),
		int(share*100), m.Done, m.Slots, humanBytes(uint64(m.BytesDone)), humanBytes(uint64(m.Bytes)))
	if m.SecondsLeft != nil && m.Done < m.Slots {
		text += fmt.Sprintf(", %s/s, %s left", humanBytes(uint64(m.BytesPerSecond)), time.Duration(*m.SecondsLeft)*time.Second)
	}
	return text
}

func historyCommand(ask asker) *cobra.Command {
	var form form
	command := &cobra.Command{
		Use:     "history",
		Short:   "Show who has changed what about the ring, and when",
		Long:    "History shows the last changes of the ring, the latest last. Times are those of the clock of the\nnode that was asked for a change.",
		Example: "  quoll ring history",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(func(client *admin.Client) error {
				events, err := client.RingHistory(cmd.Context())
				switch {
				case err != nil:
					return err
				case form == asJSON:
					return printJSON(cmd.OutOrStdout(), events)
				}
				return printHistory(cmd.OutOrStdout(), events)
			})
		},
	}
	bindForm(command, &form)
	return command
}
