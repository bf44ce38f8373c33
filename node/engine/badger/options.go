package badger

import (
	"github.com/quolldb/quoll/node/engine/disk"
)

// Options say where an engine keeps its data and how.
type Options struct {
	disk.Options
	// ValueFile is the size of a file of Badger's value log: 128 MiB.
	ValueFile int64
	// Mapped is how many bytes of memory Badger's files may take, which it maps: as many as Cache.
	Mapped int64
}

const mib = 1 << 20

// largeValue is the size from which Badger keeps a value in its value log. What is
// smaller moves with its key when tables are compacted, which from about this size on costs
// more than a second read (WiscKey, FAST 2016): written at random, values of 1 KiB took twice the
// processor and three times the disk within the tables.
const largeValue = 1 << 10

// apartFrom is the size from which values are apart from their records. With what else is in a record it remains
// below largeValue then.
const apartFrom = largeValue - 64

// deadShare is the share of a value log's file that has to be obsolete for the file to
// be rewritten.
const deadShare = 0.5
