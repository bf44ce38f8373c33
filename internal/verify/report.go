package verify

import (
	"fmt"
	"time"
)

// Report is what a run did and found.
type Report struct {
	Run       string   `json:"run"`
	Addresses []string `json:"addresses"`
	Clients   int      `json:"clients"`

	// The violations, and the first of them.
	Lost     int       `json:"lost"`
	Stale    int       `json:"stale"`
	Wrong    int       `json:"wrong"`
	Findings []Finding `json:"findings"`

	// Operations were answered or not. Among them are those that were Refused (an error said so, there was no connection, or a read was not
	// answered) and the writes whose outcome is Unknown.
	Operations int64 `json:"operations"`
	Refused    int64 `json:"refused"`
	Unknown    int64 `json:"unknown"`

	Elapsed time.Duration `json:"elapsed_ns"`
	Rate    float64       `json:"operations_per_second"`
	P50     time.Duration `json:"p50_ns"`
	P99     time.Duration `json:"p99_ns"`

	// Histories of duels were checked; of Undecided ones nothing is known.
	Histories int `json:"histories"`
	Undecided int `json:"undecided"`

	// Transfers are those that were acknowledged, by the way they went, nil if none were wanted; Readings is how often a whole group of accounts was read and judged.
	Transfers map[string]int64 `json:"transfers,omitempty"`
	Readings  int64            `json:"readings,omitempty"`

	// Queues says what was produced and consumed, nil if there were none.
	Queues *QueueReport `json:"queues,omitempty"`

	// Unread keys, and groups of accounts, could not be read back at the end. Of these nothing is known.
	Unread int `json:"unread"`
	// Left keys could not be removed.
	Left int `json:"left"`
	// Interrupted: it ended early.
	Interrupted bool `json:"interrupted"`
	// LastError is the last answer that was an error, or what else went amiss last.
	LastError string `json:"last_error,omitempty"`
}

// QueueReport is what was produced and consumed.
type QueueReport struct {
	// Queues were judged. Elements were Pushed, as was acknowledged, and Taken, by the command that consumers wait with.
	Queues int              `json:"queues"`
	Pushed int64            `json:"pushed"`
	Taken  map[string]int64 `json:"taken"`
	// Again is how often one was returned or claimed, of a worker that was lost.
	Again int64 `json:"again"`
	// Unknown is how many commands have an unknown outcome; Excused is how much one of them explains, such as an element that nobody got.
	Unknown int64 `json:"unknown"`
	Excused int64 `json:"excused"`
}

// Violated reports whether anything was lost, stale or wrong.
func (r Report) Violated() bool { return r.Lost+r.Stale+r.Wrong > 0 }

// The phases of a run.
const (
	working     = "working"
	checking    = "checking histories"
	readingBack = "reading back"
	removing    = "removing keys"
)

// Progress is how far a run is.
type Progress struct {
	// Phase is what it does.
	Phase                        string
	Elapsed, For                 time.Duration
	Operations, Refused, Unknown int64
	// Violations are what was lost, stale or wrong.
	Violations int
}

// String is the progress in less than a line.
func (p Progress) String() string {
	if p.Elapsed == 0 { // it has not begun
		return p.Phase
	}
	where := p.Phase + ": "
	if p.Phase == working {
		where = ""
	}
	return fmt.Sprintf("%s%d violations, %d operations, %d unknown, %d refused", where, p.Violations, p.Operations, p.Unknown, p.Refused)
}
