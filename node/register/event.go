package register

// Event is something worth counting.
type Event uint8

// The events.
const (
	TermAcquired Event = iota
	SteppedDown
	SyncReadAgreed
	SyncReadDiffered
	NeededFull
	FloorHit
	WroteBack // a read proposed a state again to make it certain (R9)
	Purged
	Cleared
	ResolvedIncluded
	ResolvedRedo
	ResolvedUnknown
	AnsweredUnknown
	TurnedAway
	HandedBack
	Pipelined
	BlindOnCold
	DeltaSent
	Resent
	NoRoom
	BatchRecorded
	BatchCompleted
	BatchDropped
	RecordBegun
	BatchAway
	BatchOfOne
	NumEvents // the number of events
)

var eventNames = [NumEvents]string{
	"term_acquired", "stepped_down", "sync_read_agreed", "sync_read_differed", "need_full", "floor_hit", "write_back", "purge",
	"clear", "resolved_included", "resolved_redo", "resolved_unknown", "answered_unknown", "turned_away", "handed_back",
	"pipelined", "blind_on_cold", "delta", "resend", "no_room",
	"batch_recorded", "batch_completed", "batch_dropped", "record_begun", "batch_away", "batch_of_one",
}

// String names the event as metrics do.
func (e Event) String() string { return eventNames[e] }

// EventNames returns the names of all events, by number.
func EventNames() []string { return eventNames[:] }
