package hint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// slack is how many bytes a file may have beside twice those that it needs.
const slack = 1 << 20

// file is the file of a set, and who writes it. What is not the writer's own is guarded by the set's lock.
// The methods that note something do nothing on nil.
type file struct {
	path   string
	header []byte
	limit  int64

	pending []byte // to be appended
	stale   bool   // the file has to be written anew
	length  int64  // of the file with what is pending, 0 if there is none
	broken  bool   // it could not be written

	wake chan struct{}
	stop chan struct{}
	wait sync.WaitGroup
	out  *os.File // the writer's own, nil while there is no file
}

// openFile reads the file of a former process, if there is one, and lets a new goroutine write it from now on.
func (s *Set) openFile(opt Options) {
	f := &file{path: filepath.Join(opt.Dir, opt.Replica+".hints"), header: appendHeader(nil, opt.Replica, opt.Generation),
		limit: s.limit, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	s.log = s.log.With("file", f.path)
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		s.log.Error("hints are not kept over restarts", "err", err)
		return
	}
	switch err := s.read(f); {
	case err == nil, errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errForeign):
		s.setAside(f, ".foreign")
		s.log.Warn("hints of another replica of this name were set aside", "err", err)
	default:
		s.setAside(f, ".damaged")
		s.markAll()
		s.log.Error("hints cannot be read and were set aside; all slots of the replica are compared when it is back", "err", err)
	}
	f.stale = f.length > 0 || !s.empty() // a file is written to the end by who made it
	s.file = f
	f.wait.Go(func() { s.write(f) })
	f.shorten(s)
}

func (s *Set) read(f *file) error {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	if info.Size() > 4*(s.limit+slack) {
		return fmt.Errorf("%w: %d bytes are too many", errDamaged, info.Size())
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	records, err := cutHeader(text, f.header)
	if err != nil {
		return err
	}
	torn, err := s.load(records)
	if err != nil {
		return err
	}
	f.length = int64(len(text))
	if torn > 0 {
		s.log.Warn("the end of the hints was cut off, as a lost process or machine leaves it; they go on without", "bytes", torn)
	}
	return nil
}

func (s *Set) setAside(f *file, suffix string) {
	if err := os.Rename(f.path, f.path+suffix); err != nil {
		s.log.Error("hints could not be set aside", "err", err)
	}
}

func (f *file) key(slot uint16, key []byte) {
	if f.writable() {
		f.pending = appendKey(f.pending, slot, key)
		f.noted()
	}
}

func (f *file) mark(slot uint16) {
	if f.writable() {
		f.pending = appendHead(f.pending, kindMark, slot, 0)
		f.noted()
	}
}

func (f *file) writable() bool { return f != nil && !f.broken }

// noted lets the writer write. If the disk is so slow that too much waits for it, it
// is left to the next time that the file is written anew.
func (f *file) noted() {
	if int64(len(f.pending)) > f.limit+slack {
		f.pending, f.stale = nil, true
	}
	f.soon()
}

func (f *file) soon() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// shorten lets the writer write the file anew if most of it is not needed any more.
func (f *file) shorten(s *Set) {
	if f.writable() && f.overlong(s) {
		f.soon()
	}
}

func (f *file) overlong(s *Set) bool {
	return f.stale || s.empty() && f.length > 0 || f.length > 2*s.bytes+slack
}
