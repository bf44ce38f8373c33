package admin

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// PeerRepair is what one node found when it compared its replicas with another node's.
type PeerRepair struct {
	// Peer is the other node.
	Peer string `json:"peer"`
	// SlotsDiffering is the number of slots that differed when all were compared last,
	// DifferingSince when one did first, null while none does.
	SlotsDiffering int        `json:"slots_differing"`
	DifferingSince *time.Time `json:"differing_since,omitempty"`
	// LastPass is when all were compared last.
	LastPass *time.Time `json:"last_pass,omitempty"`
	// Keys were written again because of it, with so many Bytes.
	Keys  int64 `json:"keys"`
	Bytes int64 `json:"bytes"`
	// Hints are keys that the other node is known to have missed and has not been given yet;
	// HintedSlots are slots of which it missed more than is remembered.
	Hints       int `json:"hints,omitempty"`
	HintedSlots int `json:"hinted_slots,omitempty"`
	// Error says why they could not be compared this time.
	Error string `json:"error,omitempty"`
}

// Missed is what all other nodes found of one node's replicas, together.
type Missed struct {
	Node string
	// Slots differed, since Since (zero if none does).
	Slots int
	Since time.Time
	// Compared is when the last of those that compare was done; zero if one never was.
	Compared time.Time
	// Keys were written again because of the node, with so many Bytes.
	Keys, Bytes int64
	// Hints are keys that are known to be missing, and wait for the node; HintedSlots are whole
	// slots.
	Hints, HintedSlots int
	// Reasons say why it still differs, as far as that is known.
	Reasons []string

	passes int
}

// Missed returns what the nodes found of each other, by node.
func (s Status) Missed() []Missed {
	missed := make([]Missed, len(s.Nodes))
	for i, of := range s.Nodes {
		missed[i].Node = of.Name
		for _, by := range s.Nodes {
			for _, found := range by.Repair {
				if found.Peer == of.Name {
					missed[i].add(by, found)
				}
			}
		}
	}
	return missed
}

func (m *Missed) add(by NodeStatus, found PeerRepair) {
	m.Slots += found.SlotsDiffering
	m.Keys, m.Bytes = m.Keys+found.Keys, m.Bytes+found.Bytes
	m.Hints, m.HintedSlots = m.Hints+found.Hints, m.HintedSlots+found.HintedSlots
	if since := found.DifferingSince; since != nil && (m.Since.IsZero() || since.Before(m.Since)) {
		m.Since = *since
	}
	switch pass := found.LastPass; {
	case pass == nil:
		m.Compared = time.Time{}
	case m.passes == 0 || pass.Before(m.Compared):
		m.Compared = *pass
	}
	m.passes++
	if found.SlotsDiffering == 0 {
		return
	}
	switch {
	case found.Error != "":
		m.Reasons = append(m.Reasons, fmt.Sprintf("%s cannot compare with it: %s", by.Name, found.Error))
	case by.RepairPaused:
		m.Reasons = append(m.Reasons, fmt.Sprintf("the repair is paused on %s (repair-rate 0)", by.Name))
	case by.RepairFailed > 0:
		m.Reasons = append(m.Reasons, fmt.Sprintf("%s had %d keys written again without success", by.Name, by.RepairFailed))
	}
}

// missedFor is how long a node may differ from the others before that is worth a warning.
const missedFor = 10 * time.Minute

// warnMissed warns of nodes that have differed for long.
func (s Status) warnMissed(now time.Time) []string {
	var warnings []string
	for _, m := range s.Missed() {
		if m.Since.IsZero() || now.Sub(m.Since) <= missedFor {
			continue
		}
		warning := fmt.Sprintf("node %s and others have differed for %s, in %d slots when they were compared last", m.Node, now.Sub(m.Since).Round(time.Second), m.Slots)
		if len(m.Reasons) > 0 {
			slices.Sort(m.Reasons)
			warning += ": " + strings.Join(slices.Compact(m.Reasons), "; ")
		}
		warnings = append(warnings, warning)
	}
	return warnings
}
