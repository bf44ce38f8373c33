package route

import (
	"context"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// ScanEntry is one live key found by a scan.
type ScanEntry struct {
	Key  []byte
	Type record.Type
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

	// Copies returns how many replicas, at least, hold whatever was acknowledged: a majority of those of a slot, in that with the fewest. It is 0 until commands can be executed. It
	// does not block.
	Copies() int

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

	// DBSize counts the live keys of a database. It is exact while nobody writes. Databases other than 0 take as long as all their keys together.
	DBSize(ctx context.Context, number int) (int64, error)

	// DBSizes is DBSize for all databases.
	DBSizes(ctx context.Context) ([database.Count]int64, error)

	// FlushAll deletes every key of clients, in all databases, atomically per slot, and those of Quoll's own. But a slot of one that is kept loses the keys of clients one after the other, and no other.
	// An error says whether some slots may have been cleared.
	FlushAll(ctx context.Context, kept ...[]byte) error

	// RandomKey returns some live key of a database, by the client's name, nil if there is none.
	RandomKey(ctx context.Context, number int) ([]byte, error)
}
