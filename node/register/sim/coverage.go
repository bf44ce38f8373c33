package sim

import (
	"slices"

	"github.com/quolldb/quoll/node/register"
)

// happenings are the events that a run over all modes has to have seen, beside
// all of those that the register counts. One that never occurs says that the simulator has
// stopped testing something.
var happenings = []string{
	"afflicted", begunWhenWell, "census-listed", "census-missed", "change-dropped", "change-retargeted", "change-stuck", "clear-unsure", "clock-jump", "collection-resumed", "copied", "crash", "crash-in-step", "disk-lost", "duplicated", "epoch", "evict-kept", "evicted", "expired-read", "grown", "hash-delta", "hash-need-full", "hash-object", "hash-patch", "joint-epoch", "lost",
	"members-changed", "missed", "nearest-read", "not-voting", "number-reused", "operations", "partition", "pause", "pipeline", "quorum-read", "read-failed", "read-to-home", "rebuild-cut", "rebuilt", "rejoined",
	"repaired", "rewritten", "rot", "rot-found", "shrunk", "staged-lost", "store-failed", "store-full", "unsure-read", "value-newer", "write-refused", "write-torn", "writes", "writes-unknown",
}

// rare are those of them that a run of some thousand histories may miss.
var rare = []string{"unsure-read", register.FloorHit.String(), register.ResolvedRedo.String()}

// enough and plenty are how many histories a run over all modes needs to see everything that is
// not rare, and everything.
const enough, plenty = 1000, 10000

// Missing returns what should have happened and did not in a run of so many
// histories, given the sum of all Stats.
func Missing(total map[string]int, histories int) []string {
	var missing []string
	for _, name := range slices.Concat(register.EventNames(), happenings) {
		if total[name] == 0 && histories >= enough && (histories >= plenty || !slices.Contains(rare, name)) {
			missing = append(missing, name)
		}
	}
	return missing
}
