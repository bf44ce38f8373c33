package badger

import (
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"
)

// Options say where an engine keeps its data and how. Sizes are in bytes; zero values are
// replaced by defaults that suit the file system's size.
type Options struct {
	// Dir is Badger's directory, Journal the journal's. They are made if they are not there.
	Dir, Journal string
	// MustExist says that there was an engine here before: that there is nothing is an
	// error then.
	MustExist bool
	// Interval is how often the journal is synced to disk; 0: a commit waits for it.
	Interval time.Duration
	// Cache bounds the memory for records that are on disk: 256 MiB. Records that are not
	// on disk yet, and up to three of MemTable, come on top.
	Cache int64
	// SegmentSize is the size of the journal's files, MemTable of Badger's tables in memory,
	// FlushSize how much has to change until it is written to Badger.
	SegmentSize, MemTable, FlushSize int64
	// Reserve is how much of the file system is to remain free: below it there is no Room.
	// Badger needs some space to get rid of what is obsolete.
	Reserve int64
	// ValueFile is the size of a file of Badger's value log: 128 MiB.
	ValueFile int64
	// FlushInterval is how long a change waits at most until it is written to Badger: 10 s.
	FlushInterval time.Duration
	// CollectInterval is how often it is looked for files of the value log that are worth
	// rewriting: 10 s. CollectRate bounds how fast they are read then, in bytes a second:
	// 32 MiB; at most half of it is written again.
	CollectInterval time.Duration
	CollectRate     int64
	Logger          *slog.Logger
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

// largeValue is the size from which Badger keeps a value in its value log. What is
// smaller moves with its key when tables are compacted, which from about this size on costs
// more than a second read (WiscKey, FAST 2016): written at random, values of 1 KiB took twice the
// processor and three times the disk within the tables.
const largeValue = 1 << 10

// apartFrom is the size from which values are apart from their records. With what else is in a record it remains
// below largeValue then.
const apartFrom = largeValue - 64

// setDefaults fills what was left out.
func (o *Options) setDefaults() error {
	var fs unix.Statfs_t
	if err := unix.Statfs(o.Dir, &fs); err != nil {
		return fmt.Errorf("the size of the file system of %s: %w", o.Dir, err)
	}
	total := int64(fs.Blocks) * fs.Bsize
	setDefault(&o.Cache, 256*mib)
	setDefault(&o.SegmentSize, min(max(total/256, 4*mib), 16*mib))
	setDefault(&o.MemTable, min(max(total/64, 8*mib), 32*mib))
	setDefault(&o.FlushSize, 2*o.MemTable)
	// One compaction may write all tables of the first levels anew before it removes them.
	setDefault(&o.Reserve, min(max(total/16, 8*o.MemTable), gib))
	setDefault(&o.ValueFile, 128*mib)
	setDefault(&o.FlushInterval, 10*time.Second)
	setDefault(&o.CollectInterval, 10*time.Second)
	setDefault(&o.CollectRate, 32*mib)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return nil
}

func setDefault[T int64 | time.Duration](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}
