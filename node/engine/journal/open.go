package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/quolldb/quoll/node/engine"
)

// Open opens a journal, or creates it, and calls replay for every operation after the
// checkpoint, in order; op is borrowed for the call. Reading takes about a second for a gigabyte.
// An error of replay ends it. After ErrCorrupt and ErrVersion (both
// wrapped) nothing has been changed.
//
// That no space is left is an error for a new journal only: another one is open then,
// without Room. The directory must not be open twice; the journal does not lock it.
func Open(opt Options, replay func(seq uint64, op []byte) error) (*Journal, error) {
	opt = opt.withDefaults()
	j := &Journal{
		opt: opt, fs: opt.FS, next: newBatch(), free: newBatch(),
		wake: make(chan struct{}, 1), dirtied: make(chan struct{}, 1), shortened: make(chan struct{}, 1),
		stop: make(chan struct{}),
	}
	j.idle = sync.NewCond(&j.mu)
	var short error
	err := j.open(replay)
	if err == nil {
		if short = j.prepare(); !shortage(short) {
			err = short
		}
	}
	if err != nil {
		j.release()
		return nil, fmt.Errorf("open the journal in %s: %w", opt.Dir, err)
	}
	j.trimSpare()
	j.goroutines.Go(func() { j.runPreparer(short) })
	j.goroutines.Go(j.runWriter)
	if opt.Interval > 0 {
		j.goroutines.Go(j.runSyncer)
	}
	return j, nil
}

// listing is what is in the directory.
type listing struct {
	checkpoint bool
	numbers    []uint64 // of the segments, ascending
	spares     []uint64
}

func list(fs FileSystem) (listing, error) {
	var l listing
	names, err := fs.Names()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return l, err
	}
	for _, name := range names {
		if n, ok := parseName(name, segmentSuffix); ok {
			l.numbers = append(l.numbers, n)
		} else if id, ok := parseName(name, spareSuffix); ok {
			l.spares = append(l.spares, id)
		} else if name == checkpointName {
			l.checkpoint = true
		} else if name != temporaryName {
			return l, fmt.Errorf("%w: %s does not belong there; move it away", ErrCorrupt, name)
		}
	}
	slices.Sort(l.numbers)
	return l, nil
}

func (j *Journal) open(replay func(seq uint64, op []byte) error) error {
	l, err := list(j.fs)
	if err != nil {
		return err
	}
	if !l.checkpoint {
		if len(l.numbers)+len(l.spares) > 0 {
			return fmt.Errorf("%w: there are segments, but the file %s is missing; %s",
				ErrCorrupt, checkpointName, engine.Advice)
		}
		if j.opt.MustExist {
			return fmt.Errorf("%w: nothing is there; %s", ErrCorrupt, engine.Advice)
		}
		if err := j.fs.MakeDir(); err != nil {
			return err
		}
		if err := j.saveFile(checkpoint{journal: randomID(), base: 1}); err != nil {
			return fullOr(err)
		}
	}
	c, err := j.loadFile()
	if err != nil {
		return err
	}
	j.id = c.journal
	if c.first == 0 {
		return j.begin(c, l)
	}
	return j.resume(c, l, replay)
}

func fullOr(err error) error {
	if shortage(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

func (j *Journal) loadFile() (checkpoint, error) {
	f, err := j.fs.Open(checkpointName)
	if err != nil {
		return checkpoint{}, err
	}
	defer f.Close()
	b := make([]byte, checkpointSize+1)
	n, _ := f.ReadAt(b, 0) // what cannot be read is missing, and noticed
	c, err := decodeCheckpoint(b[:n])
	if err != nil {
		return c, fmt.Errorf("%w (file %s; %s)", err, checkpointName, engine.Advice)
	}
	return c, nil
}

// begin gives a journal that was never used its first segment. The checkpoint names it
// before it is used, so that it is missed when it is gone.
func (j *Journal) begin(c checkpoint, l listing) error {
	if len(l.numbers) > 1 || len(l.numbers) == 1 && l.numbers[0] != 1 {
		return fmt.Errorf("%w: there are segments that the file %s does not know of; %s", ErrCorrupt, checkpointName, engine.Advice)
	}
	if err := j.adopt(l.numbers, l.spares); err != nil {
		return err
	}
	s, err := j.newSegment(1, j.takeSpare())
	if err != nil {
		return fullOr(err)
	}
	j.live, j.offset, j.number = []*segment{s}, blockSize, 2
	s.base = c.base
	c.first = s.number
	if err := j.saveFile(c); err != nil {
		return fullOr(err)
	}
	j.countRoom()
	return nil
}

// resume plays back a journal and makes it ready to be written to.
func (j *Journal) resume(c checkpoint, l listing, replay func(seq uint64, op []byte) error) error {
	old, needed, err := split(c.first, l.numbers)
	if err != nil {
		return err
	}
	p := &player{checkpoint: c, replay: replay}
	for _, number := range needed {
		s, err := j.openSegment(number)
		if err != nil {
			return err
		}
		j.live = append(j.live, s)
	}
	p.segments = j.live
	if err := p.run(); err != nil {
		return err
	}
	dropped, err := p.judge()
	if err != nil {
		return err
	}
	if dropped > 0 || p.partial {
		j.opt.Logger.Info("the end of the journal was being written when the process ended, and is dropped",
			"file", p.segment().name(), "offset", p.offset, "frames", dropped, "next", p.next)
	}
	return j.settle(p, old, l.spares)
}

// split tells the segments that are needed from older ones that only were not removed.
func split(first uint64, numbers []uint64) (old, needed []uint64, err error) {
	at, found := slices.BinarySearch(numbers, first)
	for i, n := range numbers[at:] {
		found = found && n == first+uint64(i)
	}
	if !found {
		return nil, nil, fmt.Errorf("%w: segments are missing: %x are there, and from %x on all are needed; %s",
			ErrCorrupt, numbers, first, engine.Advice)
	}
	return numbers[:at], numbers[at:], nil
}

func (j *Journal) openSegment(number uint64) (*segment, error) {
	s := &segment{number: number}
	f, err := j.fs.Open(s.name())
	if err != nil {
		return nil, err
	}
	s.file = f
	if err := s.readHead(j.id); err != nil {
		f.Close()
		return nil, fmt.Errorf("segment %s: %w; %s", s.name(), err, engine.Advice)
	}
	s.limit = s.size - headerSize
	j.size.Add(s.size)
	return s, nil
}

// readHead learns from the file what the segment is. A file that is shorter than it was allocated has lost its end, and maybe with it all proof that
// something was there.
func (s *segment) readHead(journal uint64) error {
	b := make([]byte, headSize+sizeSize)
	n, _ := s.file.ReadAt(b, 0) // what cannot be read is missing, and noticed
	var err error
	if s.id, err = decodeHead(b[:n], journal, s.number); err != nil {
		return err
	}
	allocated, err := decodeSize(b[:n])
	if err != nil {
		return err
	}
	if s.size, _, err = s.file.Size(); err == nil && s.size < allocated {
		err = fmt.Errorf("%w: it has %d bytes of %d", ErrCorrupt, s.size, allocated)
	}
	return err
}

// settle ends the old life of the journal: what was played back is made durable, what comes
// behind it can never come back, and the next operation goes into a new segment.
func (j *Journal) settle(p *player, old, spares []uint64) error {
	j.live = p.segments[:p.at+1]
	for _, s := range j.live {
		// The process that wrote it may have ended before it was synced.
		if err := s.file.Datasync(); err != nil {
			return err
		}
	}
	behind := p.segments[p.at+1:]
	numbers := make([]uint64, len(behind))
	for i, s := range behind {
		s.file.Close()
		j.size.Add(-s.size)
		numbers[i] = s.number
	}
	// From the highest one down: never is there a gap.
	slices.Reverse(numbers)
	if err := j.adopt(append(numbers, old...), spares); err != nil {
		return err
	}
	tail := j.tail()
	tail.limit, j.offset, j.number = p.offset, p.offset, tail.number+1
	last := p.next - 1
	j.last.Store(last)
	j.durable.Store(last)
	j.written = last
	j.checkpointed.Store(p.checkpoint.seq)
	j.countRoom()
	return nil
}

// adopt makes spare segments out of those that are not needed, and keeps the spare
// ones that are whole. The others are removed.
func (j *Journal) adopt(numbers, spares []uint64) error {
	for _, n := range numbers {
		s := &segment{number: n, id: randomID()}
		if err := j.fs.Rename(s.name(), s.spareName()); err != nil {
			return err
		}
		spares = append(spares, s.id)
	}
	if len(numbers) > 0 {
		if err := j.fs.SyncDir(); err != nil {
			return err
		}
	}
	for _, id := range spares {
		s := &segment{id: id}
		f, err := j.fs.Open(s.spareName())
		if err != nil {
			return err
		}
		s.file = f
		size, allocated, err := f.Size()
		s.size = size
		j.size.Add(size)
		if err != nil || size != j.opt.SegmentSize || !allocated {
			j.discard(s, s.spareName())
			continue
		}
		j.spare = append(j.spare, s)
	}
	return nil
}
