package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/admin"
)

// printStatus writes a status for people.
func printStatus(w io.Writer, s admin.Status) error {
	survival := ""
	if s.Survival != nil {
		survival = s.Survival.String() + "\n"
	}
	if s.Moves != "" {
		survival += printable(s.Moves) + ": see quoll ring watch.\n"
	}
	if s.Deciders != nil && len(s.Deciders.Voters) > 0 {
		survival += printable(s.Deciders.String()) + "\n"
	}
	_, err := fmt.Fprintf(w, "Cluster %s, epoch %d: %d nodes, %d replicas of each key. Asked: %s.\n%s\n",
		printable(s.Cluster), s.Epoch, len(s.Nodes), s.Replicas, printable(s.Seen), survival)
	if err != nil {
		return err
	}
	g := newGrid("NODE", "STATE", "RACK", "PEER", "HOME", "REPLICA", "LEADS", "KEYS", "DELETED", "DATA", "VERSION", "UP", "SEEN AS")
	for _, node := range s.Nodes {
		g.add(nodeCells(node)...)
	}
	if err := g.write(w); err != nil {
		return err
	}
	if err := printDisks(w, s); err != nil {
		return err
	}
	if err := printMissed(w, s, time.Now()); err != nil {
		return err
	}
	return printRemarks(w, s)
}

// printMissed writes which replicas have missed writes, if any.
func printMissed(w io.Writer, s admin.Status, now time.Time) error {
	g := newGrid("NODE", "REPLICA MISSED", "FOR", "COMPARED", "WRITTEN AGAIN", "HINTS", "TOMBSTONES")
	some := false
	for i, m := range s.Missed() {
		some = some || m.Slots > 0 || m.Keys > 0 || m.Hints+m.HintedSlots > 0
		tombstones := "-"
		if n := s.Nodes[i]; n.State != admin.Unreachable {
			tombstones = strconv.FormatUint(n.Tombstones, 10)
		}
		compared := age(m.Compared, now)
		if compared != "-" {
			compared += " ago"
		}
		g.add(m.Node, plural(int64(m.Slots), "slot"), age(m.Since, now), compared, plural(m.Keys, "key")+", "+humanBytes(uint64(m.Bytes)), hintsOf(m), tombstones)
	}
	if !some {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return g.write(w)
}

// hintsOf says what waits for a node that missed it.
func hintsOf(m admin.Missed) string {
	text := strconv.Itoa(m.Hints)
	if m.HintedSlots > 0 {
		text += ", " + plural(int64(m.HintedSlots), "slot")
	}
	return text
}

// age is how long ago something was. Clocks of machines differ.
func age(then, now time.Time) string {
	if then.IsZero() {
		return "-"
	}
	return max(now.Sub(then), 0).Round(time.Second).String()
}

// plural counts things in English.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.FormatInt(n, 10) + " " + thing + "s"
}

// printDisks writes what the nodes that have a disk take of it.
func printDisks(w io.Writer, s admin.Status) error {
	g := newGrid("NODE", "ENGINE", "FSYNC", "ON DISK", "LIVE", "DEAD", "JOURNAL", "FREE")
	some := false
	for _, n := range s.Nodes {
		if d := n.Disk; d != nil {
			some = true
			g.add(n.Name, dash(n.Engine), dash(n.Fsync), humanBytes(d.Bytes), humanBytes(d.Live), deadBytes(*d), humanBytes(d.Journal), humanBytes(d.Free))
		}
	}
	if !some {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return g.write(w)
}

// deadBytes says how much of the records on disk is obsolete.
func deadBytes(d admin.Disk) string {
	text := humanBytes(d.Dead)
	if all := d.Live + d.Dead; all > 0 {
		text += fmt.Sprintf(" (%.0f%%)", 100*float64(d.Dead)/float64(all))
	}
	return text
}

func nodeCells(n admin.NodeStatus) []string {
	state := string(n.State)
	if n.Ring != "" {
		state += ", " + n.Ring
	}
	cells := []string{n.Name, state, dash(n.Rack), n.Peer, strconv.Itoa(n.HomeSlots), strconv.Itoa(n.ReplicaSlots)}
	if n.State == admin.Unreachable {
		// Nobody could ask it: zeros would be a lie.
		cells = append(cells, "-", "-", "-", "-", dash(n.Version), "-")
	} else {
		cells = append(cells, strconv.Itoa(n.LeadingSlots), strconv.FormatUint(n.Keys, 10), strconv.FormatUint(n.Tombstones, 10),
			humanBytes(n.Bytes), dash(n.Version), (time.Duration(n.UptimeSeconds) * time.Second).String())
	}
	return append(cells, seenAs(n.SeenBy))
}

// seenAs says once what all others agree on, else who says what.
func seenAs(by map[string]string) string {
	says := map[string][]string{}
	for _, node := range slices.Sorted(maps.Keys(by)) {
		says[by[node]] = append(says[by[node]], node)
	}
	var parts []string
	for _, state := range slices.Sorted(maps.Keys(says)) {
		if len(says) == 1 {
			return state
		}
		parts = append(parts, state+" by "+strings.Join(says[state], ","))
	}
	return dash(strings.Join(parts, "; "))
}

// printRemarks writes what is wrong below the table.
func printRemarks(w io.Writer, s admin.Status) error {
	faults := s.Faults()
	if len(faults)+len(s.Warnings) == 0 {
		return nil
	}
	text := "\n"
	for _, fault := range faults {
		text += "Not healthy: " + printable(fault) + "\n"
	}
	for _, warning := range s.Warnings {
		text += "Warning: " + printable(warning) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// printLocation writes a location for people.
func printLocation(w io.Writer, l admin.Location) error {
	home := "no node leads it at the moment"
	if l.Home != "" {
		home = "home " + l.Home
	}
	if _, err := fmt.Fprintf(w, "Key %q: slot %d, epoch %d, %s. %s.\n\n", l.Key64, l.Slot, l.Epoch, printable(home), l.Survival()); err != nil {
		return err
	}
	g := newGrid("REPLICA", "ROLE", "STATE", "HOLDS", "VERSION", "TYPE", "SIZE", "EXPIRES")
	failed := ""
	for _, r := range l.Replicas {
		g.add(append([]string{r.Node, role(r), string(r.State)}, holding(r)...)...)
		if r.Error != "" {
			failed += "\nNo answer from " + printable(r.Node) + ": " + printable(r.Error)
		}
	}
	if err := g.write(w); err != nil || failed == "" {
		return err
	}
	_, err := io.WriteString(w, failed+"\n")
	return err
}

func role(r admin.ReplicaHolding) string {
	switch {
	case r.Home && r.Preferred:
		return "home, preferred"
	case r.Home:
		return "home"
	case r.Preferred:
		return "preferred"
	}
	return "-"
}

func holding(r admin.ReplicaHolding) []string {
	switch {
	case r.Error != "":
		return []string{"?", "-", "-", "-", "-"}
	case !r.Present:
		return []string{"nothing", "-", "-", "-", "-"}
	case r.Tombstone:
		return []string{"a deletion", r.Version, "-", "-", "-"}
	}
	expires := "never"
	if r.ExpireAt != nil {
		expires = r.ExpireAt.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return []string{"a value", r.Version, r.Type, humanBytes(uint64(max(r.Size, 0))), expires}
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
