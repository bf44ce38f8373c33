package route

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// ScanEntry is one live key found by a scan.
type ScanEntry struct {
	Key  []byte
	Type record.Type
}

// Watching is a key that is watched.
type Watching interface {
	// Await waits, no longer than so, until every write that takes effect from then on will be told, and reports whether that is so.
	Await(patience time.Duration) bool
	// End ends it.
	End()
}

// Cluster is what a session needs of the replicated store behind it. The
// coordinator implements it over links to the nodes; tests implement it in memory.
type Cluster interface {
	// Execute runs all operations of the batch and returns when each has its
	// outcome and reply, after the operation time-out at the latest, or as long as nodes
	// say that they are behind, after the slow time-out. Operations of the
	// same part on the same key take effect in the order of the batch.
	Execute(b *Batch)

	// Loading returns nil once commands can be executed, and from then on; until then ErrNotReady, wrapped in
	// what is waited for. It does not block.
	Loading() error

	// Working reports whether nodes say at the moment that they are behind: what they have been asked for
	// takes long, and is being worked on. It does not block.
	Working() bool

	// Copies returns how many replicas, at least, hold whatever was acknowledged: a majority of those of a slot, in that with the fewest; and how many there are in that. They are 0 until commands can
	// be executed. It does not block.
	Copies() (certain, all int)

	// Held removes from a set the slots of which so many replicas hold whatever had been acknowledged when it was called, or all of them if there are not as many. It returns how many it found, at
	// least, in those that are left: a majority, which always does; a huge number if none is left. It asks all replicas once, and returns when ctx ends, or after the operation time-out.
	Held(ctx context.Context, slots *ring.SlotSet, copies int) (least int)

	// Durable is Held of replicas that have it on their disks; it makes them write it there. A majority need not. ErrInMemory is returned if no node has a disk, with nodes that cannot be reached left out.
	Durable(ctx context.Context, slots *ring.SlotSet, copies int) (least int, err error)

	// Scripts returns the scripts and functions that have been running for a while at the nodes that answer, and how many do not. It ends those that the request asks it to.
	Scripts(ctx context.Context, q protocol.ScriptsRequest) (running []protocol.RunningScript, silent int)

	// Placements says how the keys of the databases are placed. It does not block.
	Placements() database.Placements

	// EndWaiting says that the proxy ends: what runs, and what is executed from now on, waits no longer than the operation
	// time-out, even for nodes that are behind. It does not block.
	EndWaiting()

	// Scan returns the live keys of a database from the cursor on, about count of them (more or
	// fewer, maybe none), by the client's names, and the cursor to go on from, zero at the end. A key that is
	// there during the whole iteration is returned at least once; one that was never
	// there during it is not returned. The keys are the caller's.
	Scan(ctx context.Context, number int, from Cursor, count int) ([]ScanEntry, Cursor, error)

	// List returns the names of all keys of a database that is placed together, as they are kept, and for a batch as of when that is. It may name others, too, that there are not. It
	// stops as soon as there are more than so many. The keys are the caller's.
	List(ctx context.Context, id database.ID, most int) ([][]byte, command.Listing, error)

	// DBSize counts the live keys of a database. It is exact while nobody writes. Databases other than 0 take as long as all their keys together.
	DBSize(ctx context.Context, number int) (int64, error)

	// DBSizes is DBSize for all databases.
	DBSizes(ctx context.Context) ([database.Count]int64, error)

	// Memory is how much memory the data of the node take that has most of them, the lowest limit of a node, how keys are evicted, and how many were by all nodes together. Without nodes in memory,
	// and of those that do not answer, it is zero.
	Memory(ctx context.Context) (admin.Memory, error)

	// FlushAll deletes every key of clients, in all databases, atomically per slot, and those of Quoll's own. But a slot of one that is kept loses the keys of clients one after the other, and no other.
	// An error says whether some slots may have been cleared.
	FlushAll(ctx context.Context, kept ...[]byte) error

	// Watch has changed be called whenever something may have changed in a key: every write that takes effect once it was called the first time, which it soon is, is followed by a
	// call. There may be others, for no reason. Of kind protocol.WatchFilled the key's deletion is not told, of kind protocol.WatchAll it is; of kind protocol.WatchOnce all is told
	// once, and ends it. Calls are made by the goroutine that reads from a node: changed must not wait. The key is borrowed.
	Watch(key []byte, kind protocol.WatchKind, changed func()) Watching

	// WatchPrefix has told be called with the keys that begin so and may have changed, and with nil if any of them may have. What was promised of Watch holds of it, some milliseconds later if
	// a majority of the nodes does not say so at once; but for a version that never takes effect, and for a change in a node that is hung, it may be said some seconds later. Keys of one write
	// come together, mostly. They are the callee's.
	WatchPrefix(prefix []byte, told func(changed []Changed)) Watching

	// Listen says who is told of each message that this proxy is interested in, as Interest has said. It is called once, before anything else. The
	// message is borrowed. What one proxy has published through one node comes in that order.
	Listen(hear func(*protocol.Message))

	// Interest tells all nodes how many clients of this proxy subscribe to some names, and does not block. The names must not change any more. wait
	// returns when every node that is up knows, after the operation time-out at the latest; one that comes up later is told then.
	Interest(changed []protocol.Interest) (wait func())

	// PubSub asks a node who subscribes to what, at all proxies.
	PubSub(ctx context.Context, q *protocol.PubSubQuestion) (protocol.PubSubAnswer, error)

	// ListenUsers says who is told of the users of the cluster: as soon as they are known, and whenever they have changed. It is called once. hear must not wait for the cluster.
	ListenUsers(hear func(Users))

	// ChangeUsers has the users changed, for all proxies, and returns when this one has told of it, or after a moment. The error is a reply, or ErrUsersStale: then nothing was changed.
	ChangeUsers(ctx context.Context, users change.Users) error

	// SetParameters has parameters of CONFIG set for the whole cluster, and returns when the nodes that can be reached work by them, or after a moment. The error is a reply: then nothing was
	// changed, or it says that nobody knows. An empty value takes one back.
	SetParameters(ctx context.Context, set []change.Parameter) error

	// RandomKey returns some live key of a database, by the client's name, nil if there is none.
	RandomKey(ctx context.Context, number int) ([]byte, error)
}
