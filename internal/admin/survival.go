package admin

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Survival says what more failures do to the cluster as it is now. A slot works as long as a majority of its replicas votes, and while it moves
// also one of those that it moves to.
type Survival struct {
	// Failures is how many more nodes may fail, whichever they are, before some slot has no majority; 0 if one has none already.
	Failures int `json:"failures"`
	// Slots is how many slots survive no more than that, among those that have a majority.
	Slots int `json:"slots"`
	// NoMajority counts the slots that have none: they refuse commands.
	NoMajority int `json:"no_majority"`
}

// survival counts votes, slot by slot. It also says of each voting node in memory what its restart would do.
func (s *Status) survival(table *ring.Table) {
	byID := map[uint16]*NodeStatus{}
	needed, last := map[uint16]int{}, map[uint16]int{} // by node: slots that need its vote, and that have too few even with it
	for i := range s.Nodes {
		byID[s.Nodes[i].ID] = &s.Nodes[i]
	}
	var levels [ring.MaxReplicas + 1]int
	var sum Survival
	for slot := range uint16(ring.Slots) {
		more := table.Spare(slot, func(id uint16) bool { return byID[id].votes(slot) })
		if more < 0 {
			sum.NoMajority++
		} else {
			levels[more]++
		}
		if more > 0 {
			continue
		}
		for _, id := range table.Members(slot) {
			n := byID[id]
			switch {
			case !n.votes(slot) || !n.Volatile:
			case more < 0:
				last[id]++
			case table.Spare(slot, func(other uint16) bool { return other != id && byID[other].votes(slot) }) < 0:
				needed[id]++
			}
		}
	}
	if sum.NoMajority == 0 {
		sum.Failures = slices.IndexFunc(levels[:], func(slots int) bool { return slots > 0 })
	}
	sum.Slots = levels[sum.Failures]
	s.Survival = &sum
	for _, n := range s.Nodes {
		switch {
		case last[n.ID] > 0:
			s.Warnings = append(s.Warnings, fmt.Sprintf("node %s must not be restarted: it keeps its data in memory, and has the last copies of %s without a majority; "+
				"to save what it holds: quoll node backup", n.Name, count(last[n.ID], "slot", "slots")))
		case needed[n.ID] > 0:
			s.Warnings = append(s.Warnings, fmt.Sprintf("node %s must not be restarted: it keeps its data in memory, and %s would be left without a majority, for good; "+
				"to save what it holds: quoll node backup", n.Name, count(needed[n.ID], "slot", "slots")))
		}
	}
}

// votes reports whether a node votes for a slot. Nobody does not.
func (n *NodeStatus) votes(slot uint16) bool {
	return n != nil && n.State == Voting && !slices.Contains(n.DamagedSlotNumbers, slot)
}

// String says it in a sentence or two.
func (s Survival) String() string {
	text := ""
	if s.NoMajority > 0 {
		text = fmt.Sprintf("%s without a majority: commands on their keys are refused. ", count(s.NoMajority, "slot is", "slots are"))
		if s.NoMajority == ring.Slots {
			return "No slot has a majority: commands are refused."
		}
	}
	switch {
	case s.Slots == ring.Slots:
		text += "Every slot survives " + moreFailures(s.Failures) + "."
	case s.NoMajority > 0:
		text += fmt.Sprintf("All others have one, %d of them none to spare.", s.Slots)
	default:
		text += fmt.Sprintf("%s %s, all others more.", count(s.Slots, "slot survives", "slots survive"), moreFailures(s.Failures))
	}
	return text
}

// moreFailures counts failures in English.
func moreFailures(n int) string {
	switch n {
	case 0:
		return "no more failure"
	case 1:
		return "1 more failure"
	}
	return fmt.Sprintf("%d more failures", n)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
