package consensus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Machine is what the group keeps the same on all voters. Its methods are called by one goroutine of the group, in the order of the log; who
// reads it meanwhile needs a lock of its own. They do not block.
type Machine interface {
	// Apply executes an entry that a majority holds. What it returns and what it makes of the state depends on the state and the entry only:
	// no clock, no randomness. An error is an answer like any other: the entry was refused and has changed nothing. Results are kept for a while, for proposals that are
	// repeated, so they should be short. The entry's bytes are not to be changed, and may be kept.
	//
	// An error that wraps ErrUnknownEntry is no answer: the entry is of a later version of the machine, which may make something of it on other nodes. The group of
	// this node ends then, before it goes another way than the others. So nobody proposes what its own machine does not know.
	Apply(index uint64, entry []byte) (result []byte, err error)
	// Snapshot returns the whole state; the caller owns the bytes.
	Snapshot() []byte
	// Restore replaces the state by a snapshot, whose bytes it may keep. It may be older than the present state only when the group starts.
	// An error stops the group.
	Restore(snapshot []byte) error
}

// Transport carries messages to other nodes.
type Transport interface {
	// Send sends a message to a node, or loses it: the group repeats what matters. It does not block. The bytes are the transport's.
	Send(to uint64, message []byte)
}

// Candidate is a node that may be a voter: a member of the ring.
type Candidate struct {
	// ID is the identity of one life of the node's storage, its generation. A node that lost its storage has another one.
	ID uint64
	// Name is for people, Rack names what fails together.
	Name, Rack string
	// Alive says that the node can be reached. Who votes already is judged by the leader instead.
	Alive bool
}

// Initial is what all first voters begin with. It has to be the same everywhere.
type Initial struct {
	Voters   []uint64
	Snapshot []byte // of the Machine
}

// Config says what a Group works with. Begin with Default.
type Config struct {
	// ID is this node's identity, its generation: at least 1, and never used again once its storage is lost.
	ID uint64
	// Formation says which group this is, the same on all its nodes. A cluster that forms again has another one, whose voters are not this one's.
	Formation uint64
	// Refounded tells groups of a formation apart: the version of the ring with which this one was founded again, 0 as it formed. A storage of an
	// earlier one is emptied, for what was voted there is of no use any more; one of a later one stays, and the group is that one.
	Refounded uint64

	Storage   Storage
	Transport Transport
	Machine   Machine

	// Candidates returns the members of the ring as this node knows them, itself too, none if it knows no ring. It is called by the group's
	// goroutine, must not block, and the group does not keep what it returns.
	Candidates func() []Candidate
	// Initial is what a first voter begins with while its storage is empty, nil on all other nodes. Where a storage is emptied, Initial takes the place of what was there in one write.
	Initial *Initial
	// Lead, unless nil, is called in a goroutine of its own when this node has become the leader and has applied whatever was decided
	// before. ctx ends when it no longer leads. There is one call at a time, and Close waits for it. A leader that is cut off finds out
	// after a while only, so for a moment there may be two: what they propose is decided by one of them.
	Lead func(ctx context.Context)
	// Logger gets little: changes of the voters, and a group that has no leader.
	Logger *slog.Logger

	// Tick is the unit of the two below it: a leader sends heartbeats every HeartbeatTicks, and who heard none for one to two times
	// ElectionTicks asks for votes.
	Tick                          time.Duration
	HeartbeatTicks, ElectionTicks int
	// Retry is the time after which a proposal without an answer is sent again.
	Retry time.Duration
	// Patience is how long Propose takes at most, whatever its context allows.
	Patience time.Duration
	// ReplaceAfter is how long a voter may be silent before another node takes its place.
	ReplaceAfter time.Duration
	// MaxEntry is the longest entry, in bytes; MaxMessage the longest message: what is longer, a snapshot say, travels in pieces.
	MaxEntry, MaxMessage int
	// SnapshotEntries and SnapshotBytes are how many entries, and bytes, are logged before a snapshot takes their place.
	SnapshotEntries uint64
	SnapshotBytes   int64

	// session identifies this life's proposals, 0 for a random one. Only tests set it.
	session uint64
}

// Default returns the usual durations and sizes.
func Default() Config {
	return Config{
		Tick: 100 * time.Millisecond, HeartbeatTicks: 3, ElectionTicks: 15,
		Retry: time.Second, Patience: 10 * time.Second, ReplaceAfter: 5 * time.Minute,
		MaxEntry: 1 << 20, MaxMessage: 256 << 10,
		SnapshotEntries: 1024, SnapshotBytes: 4 << 20,
	}
}

// ErrConfig is wrapped by errors of Validate.
var ErrConfig = errors.New("wrong configuration of the Raft group")

// Validate says what is missing or out of range.
func (c *Config) Validate() error {
	wrong := func(what string) error { return fmt.Errorf("%w: %s", ErrConfig, what) }
	switch {
	case c.ID == 0 || c.ID >= reservedIDs:
		return wrong("the ID is 0, or one of the two highest, which are reserved")
	case c.Storage == nil, c.Transport == nil, c.Machine == nil, c.Candidates == nil:
		return wrong("Storage, Transport, Machine and Candidates are needed")
	case c.Tick <= 0, c.Retry <= 0, c.Patience <= 0, c.ReplaceAfter <= 0:
		return wrong("durations have to be above 0")
	case c.HeartbeatTicks < 1 || c.ElectionTicks < 2*c.HeartbeatTicks:
		return wrong("ElectionTicks has to be twice HeartbeatTicks or more")
	case c.MaxMessage < leastMessage:
		return wrong(fmt.Sprintf("MaxMessage is below %d", leastMessage))
	case c.MaxEntry < 1 || c.MaxEntry > maxWhole/2:
		return wrong(fmt.Sprintf("MaxEntry is not between 1 and %d", maxWhole/2))
	case c.SnapshotEntries < 1 || c.SnapshotBytes < 1:
		return wrong("SnapshotEntries and SnapshotBytes have to be above 0")
	case c.Initial != nil && len(c.Initial.Voters) == 0:
		return wrong("the first voters are missing")
	}
	return nil
}

// ErrUnknownEntry is wrapped by what a Machine says of an entry that it does not know, and by what a group says that has ended because of that. It goes on from
// there when it is started again with a machine that knows it.
var ErrUnknownEntry = errors.New("the log has a change of the ring that this version does not know: upgrade this node")

// reservedIDs is where the IDs begin that the library gives to its own threads.
const reservedIDs = ^uint64(0) - 1

func (c *Config) logger() *slog.Logger {
	return cmp.Or(c.Logger, slog.Default()).With("component", "consensus")
}

// election is the longest time that a follower waits for its leader.
func (c *Config) election() time.Duration { return 2 * time.Duration(c.ElectionTicks) * c.Tick }
