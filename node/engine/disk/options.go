package disk

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/quolldb/quoll/internal/record"
)

// Options say where an engine keeps its data and how. Sizes are in bytes; zero values are
// replaced by defaults that suit the file system's size.
type Options struct {
	// Dir is the store's directory, Journal the journal's. They are made if they are not there.
	Dir, Journal string
	// System is what the engine asks of the operating system, nil for that of the process.
	System System
	// MustExist says that there was an engine here before: that there is nothing is an
	// error then.
	MustExist bool
	// Interval is how often the journal is synced to disk; 0: a commit waits for it.
	Interval time.Duration
	// Cache bounds the memory for records that are on disk: 256 MiB. Records that are not
	// on disk yet, and up to three of MemTable, come on top.
	Cache int64
	// SegmentSize is the size of the journal's files, MemTable of the store's tables in memory,
	// FlushSize how much has to change until it is written to the store.
	SegmentSize, MemTable, FlushSize int64
	// Reserve is how much of the file system is to remain free: below it there is no Room.
	// A store needs some space to get rid of what is obsolete.
	Reserve int64
	// WaitFrom is the size from which on an object waits in the journal and in memory: 4 KiB. WaitSize is how much the journal may then hold, which Open
	// repeats: 2 times FlushSize.
	WaitFrom, WaitSize int64
	// PartsFrom is the size from which on an object is in the store in parts: 16 KiB.
	PartsFrom int64
	// LazyFrom is the size from which on an object in parts is read when its parts are needed, and not as a whole: 1 MiB. A smaller one may become part
	// of a message, which cannot fail.
	LazyFrom int64
	// FlushInterval is how long any other change waits at most until it is written to the store: 10 s.
	FlushInterval time.Duration
	// MaxDisk bounds the files, 0 for no bound: from 95 % of it on there is no Room for more data.
	MaxDisk int64
	// CollectInterval is how often it is looked for space that can be given back: 10 s. CollectRest is the
	// pause after much of that: 4 s.
	CollectInterval, CollectRest time.Duration
	// Apply makes of a state what a delta makes of it, the same at any time. With it Change writes deltas to the journal, and Open
	// applies them.
	Apply func(st record.State, delta []byte) (record.State, error)
	// Live makes of a state whose value is bytes, which are borrowed, what it is in memory, and reports whether that is something else.
	Live func(st record.State) (record.State, bool)
	// Assemble makes an object of a type, which is a record.Parted, of its parts in the store. Without it no object is there in parts.
	Assemble func(t record.Type, root record.Place, from record.Source) (record.Object, error)
	Logger   *slog.Logger
}

const (
	mib = 1 << 20
	gib = 1 << 30
)

// setDefaults fills what was left out.
func (o *Options) setDefaults() error {
	total, _, err := o.System.Space(o.Dir)
	if err != nil {
		return fmt.Errorf("the size of the file system of %s: %w", o.Dir, err)
	}
	setDefault(&o.Cache, 256*mib)
	setDefault(&o.SegmentSize, min(max(total/256, 4*mib), 16*mib))
	setDefault(&o.MemTable, min(max(total/64, 8*mib), 32*mib))
	setDefault(&o.FlushSize, 2*o.MemTable)
	setDefault(&o.WaitFrom, 4<<10)
	setDefault(&o.WaitSize, 2*o.FlushSize)
	setDefault(&o.PartsFrom, 16<<10)
	setDefault(&o.LazyFrom, mib)
	// One compaction may write all tables of the first levels anew before it removes them.
	setDefault(&o.Reserve, min(max(total/16, 8*o.MemTable), gib))
	setDefault(&o.FlushInterval, 10*time.Second)
	setDefault(&o.CollectInterval, 10*time.Second)
	setDefault(&o.CollectRest, 4*time.Second)
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
