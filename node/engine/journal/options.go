package journal

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/quolldb/quoll/node/engine"
)

var (
	// ErrFull is returned (wrapped) by Append when the space that is prepared does not
	// suffice: the disk is full, or slower than the caller. Nothing was appended. It wraps
	// engine.ErrFull.
	ErrFull = fmt.Errorf("journal: %w", engine.ErrFull)
	// ErrCorrupt is returned (wrapped) by Open when something is missing or cannot be read as
	// it was written. Nothing was changed on the disk. It wraps engine.ErrCorrupt.
	ErrCorrupt = fmt.Errorf("journal: %w", engine.ErrCorrupt)
	// ErrVersion is returned (wrapped) by Open for files of a newer version.
	ErrVersion = errors.New("journal: written by a newer version of the program")
	// ErrFailed is returned (wrapped, with the cause) by everything after a write or an fsync has
	// failed.
	ErrFailed = errors.New("journal: cannot be written any more")
	// ErrGone is returned (wrapped) by Present.
	ErrGone = fmt.Errorf("journal: %w", engine.ErrGone)
	// ErrTooLarge is returned (wrapped) by Append for more than MaxOp bytes.
	ErrTooLarge = errors.New("journal: operation too large")
	// ErrClosed is returned after Close.
	ErrClosed = engine.ErrClosed
)

// MaxOp is the length of the largest operation in bytes.
const MaxOp = 128<<20 + 1<<20

// Overhead is what an operation takes of Room, at most, beside its own length.
const Overhead = 96

// Options say where a journal is and how it works. Only Dir is required.
type Options struct {
	// Dir is the directory, which is the journal's alone.
	Dir string
	// MustExist says that there is a journal: that nothing is there is ErrCorrupt then.
	// Without it a directory that is empty, or not there, is a new journal.
	MustExist bool
	// SegmentSize is the size of new segments in bytes: 64 MiB.
	SegmentSize int64
	// Reserve is how many bytes of segments are kept prepared beyond the current one, and
	// so, but for some kilobytes, the least Room while the disk has space. The default is
	// SegmentSize. It grows by itself with the largest operation that did not fit.
	Reserve int64
	// Spare is how many segments that are not needed any more are kept to be overwritten,
	// beside those that are prepared: 2. The rest is removed.
	Spare int
	// Interval is the time between fdatasyncs. 0: every commit waits for one. More: commits are called
	// back when the operations are written to the file, which survives the process but
	// not the machine.
	Interval time.Duration
	// FS replaces the directory, nil for the one at Dir.
	FS FileSystem
	// Logger gets a few lines. The default is slog.Default().
	Logger *slog.Logger

	// frameSize is the largest payload of a frame that is written: maxFrame.
	frameSize int
	// pause is the time between attempts to get space: 1 s.
	pause time.Duration
}

func (o Options) withDefaults() Options {
	o.SegmentSize = max(cmp.Or(o.SegmentSize, 64<<20), 2*blockSize)
	o.Reserve = max(o.Reserve, o.SegmentSize)
	o.Spare = cmp.Or(o.Spare, 2)
	o.frameSize = cmp.Or(o.frameSize, maxFrame)
	o.pause = cmp.Or(o.pause, time.Second)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Logger = o.Logger.With("component", "journal")
	if o.FS == nil {
		o.FS = directory(o.Dir)
	}
	return o
}
