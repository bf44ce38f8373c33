package badger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"golang.org/x/sys/unix"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
)

// Open opens an engine, or makes one; see disk.Open.
func Open(opt Options) (*disk.Engine, error) {
	valueFile, mapped := cmp.Or(opt.ValueFile, 128*mib), cmp.Or(opt.Mapped, opt.Cache, 256*mib)
	return disk.Open(opt.Options, disk.Kind{
		Name: "badger", ApartFrom: apartFrom, Least: least, Floor: floor,
		Open: func(opt disk.Options, fail func(error)) (disk.Store, error) {
			return openStore(opt, valueFile, mapped, fail)
		},
	})
}

// least is what Badger may need to start or to end: to write its tables in memory to
// disk. It writes through maps: where there is not enough, the process ends with SIGBUS.
func least(opt *disk.Options) int64 { return opt.SegmentSize + 3*opt.MemTable }

// floor keeps Badger away from the end of the disk.
func floor(opt *disk.Options) int64 { return opt.Reserve / 2 }

// openStore opens Badger, after every table was verified.
func openStore(opt disk.Options, valueFile, mapped int64, fail func(error)) (_ disk.Store, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: badger: %v", engine.ErrCorrupt, p)
		}
	}()
	if opt.MustExist {
		if _, err := os.Stat(opt.Dir + "/MANIFEST"); err != nil {
			return nil, fmt.Errorf("%w: what was there is missing: %w", engine.ErrCorrupt, err)
		}
	}
	if err := verify(opt.Dir); err != nil {
		return nil, err
	}
	if err := removeEmpty(opt.Dir); err != nil {
		return nil, err
	}
	db, err := badger.Open(badger.DefaultOptions(opt.Dir).
		WithLogger(logger{opt.Logger}).
		// Nobody waits for it, but the order matters: a table or a look-up must not refer to a value
		// that a power cut takes, nor a file be removed before what was taken out of it is on disk.
		WithSyncWrites(true).
		WithDetectConflicts(false).
		WithNumVersionsToKeep(1).
		WithCompression(options.None).
		WithMemTableSize(opt.MemTable).
		WithNumMemtables(2).
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(8).
		WithNumCompactors(2).
		WithBaseLevelSize(4 * opt.MemTable).
		WithBlockCacheSize(0). // the slots' tables are the cache
		WithValueThreshold(largeValue).
		WithValueLogFileSize(valueFile).
		WithVerifyValueChecksum(true).
		// Badger says "not found" where a block is damaged. All have been verified; what is
		// damaged later is noticed by the records' checksums.
		WithChecksumVerificationMode(options.NoVerification))
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS), errors.Is(err, unix.ENOSPC):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	return &store{db: db, dir: opt.Dir, resident: newResident(opt.Dir, mapped), fail: fail, abandoned: make(chan struct{})}, nil
}

// logger passes on what Badger says, most of which is of no interest.
type logger struct{ log *slog.Logger }

func (l logger) say(level slog.Level, format string, args []any) {
	l.log.Log(context.Background(), level, "badger: "+strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (l logger) Errorf(format string, args ...any)   { l.say(slog.LevelError, format, args) }
func (l logger) Warningf(format string, args ...any) { l.say(slog.LevelWarn, format, args) }
func (l logger) Infof(format string, args ...any)    { l.say(slog.LevelDebug, format, args) }
func (l logger) Debugf(string, ...any)               {}
