package register

import "github.com/quolldb/quoll/internal/protocol/replication"

// Message is a request of a home to a replica, or the reply.
type Message = replication.Message

// Kind says what a message asks for.
type Kind = replication.Kind

// Result is a replica's answer to a request.
type Result = replication.Result

// The kinds and results, under the names that they have in this package's rules.
const (
	Prepare  = replication.Prepare
	SyncRead = replication.SyncRead
	Accept   = replication.Accept
	Confirm  = replication.Confirm
	Purge    = replication.Purge
	Clear    = replication.Clear

	OK          = replication.OK
	StaleEpoch  = replication.StaleEpoch
	StaleBallot = replication.StaleBallot
	NeedFull    = replication.NeedFull
	BelowFloor  = replication.BelowFloor
)
