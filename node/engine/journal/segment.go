package journal

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
)

const (
	checkpointName = "checkpoint"
	temporaryName  = "checkpoint.tmp"
	segmentSuffix  = ".wal"
	spareSuffix    = ".spare"
)

// segment is a file that frames are in, or will be. What is not said to be otherwise
// does not change once the segment is shared.
type segment struct {
	number uint64
	id     uint64
	file   File
	size   int64

	// Guarded by the journal's mutex:

	// limit is where frames end: what follows is kept for the seal.
	limit int64
	// base is the seq of the first frame.
	base uint64
	// last is the seq of the last operation that begins in the segment. It is known when
	// the next segment is begun.
	last uint64
	// complete is set when all of the segment is durable, with its seal.
	complete bool
}

func (s *segment) name() string { return fmt.Sprintf("%016x%s", s.number, segmentSuffix) }

// spareName is the name while the segment is not in use. The id makes it unique.
func (s *segment) spareName() string { return fmt.Sprintf("%016x%s", s.id, spareSuffix) }

// parseName returns the number in the name of a file.
func parseName(name, suffix string) (uint64, bool) {
	digits, found := strings.CutSuffix(name, suffix)
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, found && err == nil && name == fmt.Sprintf("%016x%s", n, suffix)
}

func randomID() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return le.Uint64(b[:])
}

// newSegment makes a segment, durable under its name when it returns, out of a spare
// one, or of nothing if that is nil. On failure neither is there any more.
func (j *Journal) newSegment(number uint64, spare *segment) (*segment, error) {
	s := &segment{number: number, id: randomID(), size: j.opt.SegmentSize}
	s.limit = s.size - headerSize
	name := s.spareName()
	if spare != nil {
		s.file, name = spare.file, spare.spareName()
	} else if err := j.allocate(s); err != nil {
		return nil, err
	}
	var err error
	if spare == nil && j.filling {
		err = writeZeros(s.file, s.size)
	}
	if err == nil {
		err = writeDurably(s.file, encodeHead(j.id, number, s.id, s.size))
	}
	if err == nil {
		err = j.fs.Rename(name, s.name())
	}
	if err == nil {
		name = s.name()
		err = j.fs.SyncDir()
	}
	if err != nil {
		j.discard(s, name)
		return nil, err
	}
	// What was written in one piece is in memory in large pieces, of up to 2 MiB: a block that is written there later takes the time, and counts in what
	// the process has written, as if it were all of the piece.
	s.file.Uncache()
	return s, nil
}

// writeZeros writes zeros over what is allocated. The file system notes of every allocated block whether
// it was ever written, and an fsync that is the first one after a write to it has to wait until
// that note, and on ext4 what others have written meanwhile, is on disk.
func writeZeros(f File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return f.Datasync()
}

// allocate creates the file of a segment under its spare name.
func (j *Journal) allocate(s *segment) error {
	f, err := j.fs.Create(s.spareName())
	if err != nil {
		return err
	}
	s.file = f
	j.size.Add(s.size)
	j.taking.Lock()
	defer j.taking.Unlock()
	if err := f.Allocate(s.size); err != nil {
		j.discard(s, s.spareName())
		return err
	}
	return nil
}

// discard closes and removes the file of a segment.
func (j *Journal) discard(s *segment, name string) {
	s.file.Close()
	if err := j.fs.Remove(name); err != nil {
		j.opt.Logger.Warn("a file of the journal that is not needed cannot be removed", "file", name, "error", err)
	}
	j.size.Add(-s.size)
}

// writeDurably writes the beginning of a file.
func writeDurably(f File, b []byte) error {
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	return f.Sync()
}
