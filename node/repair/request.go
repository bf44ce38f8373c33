package repair

import (
	"sync/atomic"

	"github.com/quolldb/quoll/ring"
)

// Request says what to compare.
type Request struct {
	// First and Last are slots.
	First, Last uint16
	// Peer is the name of the only peer to compare with, empty for all.
	Peer string
	// DryRun: nothing is written.
	DryRun bool
}

// everything is what is compared all the time.
var everything = Request{Last: ring.Slots - 1}

// whole reports whether all slots are compared.
func (q Request) whole() bool { return q.First == everything.First && q.Last == everything.Last }

// Progress is what a comparison has done so far.
type Progress struct {
	// Slots were compared (a slot counts once for each peer), of Total, and Differing of them
	// differed, in what was not merely under way.
	Slots, Total, Differing atomic.Int64
	// Unreadable slots were not compared: the data of one side is damaged.
	Unreadable atomic.Int64
	// Keys were written again, or would have been, with so many Bytes of keys and values. Failed of
	// them could not be: the home refused, or nobody knows.
	Keys, Bytes, Failed atomic.Int64
	// Waiting: another comparison has to end first.
	Waiting atomic.Bool
}

// PeerError says why a peer's replicas could not be compared to the end.
type PeerError struct {
	Peer string
	Err  error
}

// Error implements error.
func (e *PeerError) Error() string { return e.Peer + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *PeerError) Unwrap() error { return e.Err }
