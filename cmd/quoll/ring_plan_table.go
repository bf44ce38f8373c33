package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/admin"
)

// mostMoves is how many pairs of nodes are shown: of a thousand nodes nobody reads all.
const mostMoves = 20

// printPlan writes what staged changes mean, for people.
func printPlan(w io.Writer, p admin.RingPlan) error {
	var text strings.Builder
	if p.DryRun {
		text.WriteString("Nothing was done. It would be:\n\n")
	}
	for _, name := range p.Waiting {
		fmt.Fprintf(&text, "%s waits to join: quoll ring plan join %s\n", printable(name), printable(name))
	}
	if len(p.Changes) == 0 {
		text.WriteString("No change is staged.\n")
		if p.UnderWay != "" {
			fmt.Fprintf(&text, "Plan %s is under way: see quoll ring watch.\n", printable(p.UnderWay))
		}
		_, err := io.WriteString(w, text.String())
		return err
	}
	text.WriteString("Staged:\n")
	for _, c := range p.Changes {
		fmt.Fprintf(&text, "  %s\n", printable(c))
	}
	text.WriteString("\n")
	if _, err := io.WriteString(w, text.String()); err != nil {
		return err
	}
	if p.Preview != nil {
		if err := printPreview(w, p.Preview); err != nil {
			return err
		}
	}
	return printPlanEnd(w, p)
}

// printPreview writes what moves, and what each node has before and after.
func printPreview(w io.Writer, p *admin.RingPreview) error {
	if len(p.Moves) > 0 {
		g := newGrid("FROM", "TO", "SLOTS", "DATA")
		for _, m := range p.Moves[:min(len(p.Moves), mostMoves)] {
			g.add(m.From, m.To, fmt.Sprint(m.Slots), humanBytes(uint64(m.Bytes)))
		}
		if more := len(p.Moves) - mostMoves; more > 0 {
			g.add("...", fmt.Sprintf("%d more", more))
		}
		if err := g.write(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	all := 0
	for _, n := range p.Nodes {
		all += n.SlotsAfter
	}
	g := newGrid("NODE", "SLOTS", "HOME", "DATA", "SHARE AFTER", "RECEIVES", "SENDS")
	for _, n := range p.Nodes {
		g.add(n.Name, fromTo(n.Slots, n.SlotsAfter), fromTo(n.Homes, n.HomesAfter), fromToBytes(n.Bytes, n.BytesAfter),
			fmt.Sprintf("%.1f%%", 100*float64(n.SlotsAfter)/float64(max(all, 1))), humanBytes(uint64(n.BytesReceived)), humanBytes(uint64(n.BytesSent)))
	}
	if err := g.write(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s change, %d of them their home; %s made, about %s%s.\n", plural(int64(p.Slots), "slot"), p.Homes, copies(p.Copies), humanBytes(uint64(p.Bytes)), lasting(p))
	fmt.Fprintf(w, "Before, every slot survives the loss of %s; after, of %s.\n", losses(p.Before), losses(p.After))
	return nil
}

// printPlanEnd writes what to do next.
func printPlanEnd(w io.Writer, p admin.RingPlan) error {
	var text strings.Builder
	if p.UnderWay != "" {
		fmt.Fprintf(&text, "It becomes part of plan %s, which is under way.\n", printable(p.UnderWay))
	}
	for _, loss := range p.Loss {
		fmt.Fprintf(&text, "Careful: %s\n", printable(loss))
	}
	switch {
	case p.Problem != "":
		fmt.Fprintf(&text, "This can't be committed: %s\n", printable(p.Problem))
	case p.DryRun:
	case len(p.Loss) > 0:
		fmt.Fprintf(&text, "\nCommit it, and lose data: quoll ring commit %s --accept-data-loss CLUSTER\n", p.ID)
	default:
		fmt.Fprintf(&text, "\nCommit it: quoll ring commit %s\n", p.ID)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func fromTo(a, b int) string {
	if a == b {
		return fmt.Sprint(a)
	}
	return fmt.Sprintf("%d > %d", a, b)
}

func fromToBytes(a, b int64) string {
	x, y := humanBytes(uint64(a)), humanBytes(uint64(b))
	if x == y {
		return x
	}
	return x + " > " + y
}

// lasting says how long it takes, if that is known.
func lasting(p *admin.RingPreview) string {
	if p.Seconds == 0 {
		return ""
	}
	return fmt.Sprintf(", %s at %s/s for each node", time.Duration(p.Seconds)*time.Second, humanBytes(uint64(p.Rate)))
}

// losses says what may fail.
func losses(s admin.RingSurvival) string {
	text := plural(int64(s.Nodes), "node")
	if s.Racks > 0 {
		text += ", or of " + plural(int64(s.Racks), "rack")
	}
	return text
}

// printHistory writes who did what with the ring, and when.
func printHistory(w io.Writer, events []admin.RingEvent) error {
	g := newGrid("VERSION", "AT", "BY", "WHAT")
	for _, e := range events {
		g.add(fmt.Sprint(e.Version), e.At.UTC().Format(time.RFC3339), dash(e.By), e.What)
	}
	return g.write(w)
}

func copies(n int) string {
	if n == 1 {
		return "1 copy of a slot is"
	}
	return fmt.Sprintf("%d copies of slots are", n)
}
