package world

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/quolldb/quoll/node/engine/journal"
)

// sectorSize is what a disk writes entirely or not at all.
const sectorSize = 512

// inode is the content of a file.
type inode struct {
	data, durable []byte
	dirty         map[int]bool // sectors that are not synced
}

// nameChange is one of the directory: a name goes, another comes, or one of these.
type nameChange struct {
	from, to string
	file     *inode
}

func (c nameChange) apply(names map[string]*inode) {
	delete(names, c.from)
	if c.to != "" {
		names[c.to] = c.file
	}
}

// afterPowerCut is the content when the power has failed: of each sector that is not synced the old one, the new one or, where nothing was,
// anything.
func (n *inode) afterPowerCut(random *rand.Rand) []byte {
	size := len(n.durable)
	if random.IntN(2) == 0 {
		size = max(size, len(n.data))
	}
	b := make([]byte, size)
	copy(b, n.durable)
	for _, sector := range slices.Sorted(maps.Keys(n.dirty)) {
		from, to := sector*sectorSize, min((sector+1)*sectorSize, size)
		if from >= to {
			continue
		}
		switch blank := allZero(b[from:to]); random.IntN(4) {
		case 0, 1:
			copy(b[from:to], n.data[from:])
		case 2:
			for i := from; blank && i < to; i++ {
				b[i] = byte(random.Uint32())
			}
		}
	}
	return b
}

func allZero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

func (n *inode) write(b []byte, at int) {
	n.data = append(n.data, make([]byte, max(at+len(b)-len(n.data), 0))...)
	copy(n.data[at:], b)
	for s := at / sectorSize; s*sectorSize < at+len(b); s++ {
		n.dirty[s] = true
	}
}

func (n *inode) sync() {
	n.durable = append(n.durable, make([]byte, max(len(n.data)-len(n.durable), 0))...)
	for s := range n.dirty {
		if from := s * sectorSize; from < len(n.data) {
			copy(n.durable[from:min(from+sectorSize, len(n.durable))], n.data[from:])
		}
	}
	clear(n.dirty)
}

// files is the journal's directory on a volume.
type files struct{ *volume }

var _ journal.FileSystem = files{}

func (f files) Names() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.names)), nil
}

func (f files) MakeDir() error { return nil }

func (f files) Create(name string) (journal.File, error) { return journalFile(f.create(name)) }
func (f files) Open(name string) (journal.File, error)   { return journalFile(f.open(name)) }

func journalFile(f *openFile, err error) (journal.File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f files) create(name string) (*openFile, error) {
	if f.faults.full.Load() {
		return nil, pathError("create", name, syscall.ENOSPC)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := &inode{dirty: map[int]bool{}}
	f.change(nameChange{to: name, file: n})
	return &openFile{volume: f.volume, inode: n, name: name}, nil
}

func (f files) open(name string) (*openFile, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.names[name]
	if n == nil {
		return nil, pathError("open", name, syscall.ENOENT)
	}
	return &openFile{volume: f.volume, inode: n, name: name}, nil
}

func (f files) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.names[from]
	if n == nil {
		return pathError("rename", from, syscall.ENOENT)
	}
	f.change(nameChange{from, to, n})
	return nil
}

func (f files) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.names[name]
	if n == nil {
		return pathError("remove", name, syscall.ENOENT)
	}
	f.change(nameChange{from: name, file: n})
	return nil
}

// change changes the directory. The volume is locked.
func (f files) change(c nameChange) {
	c.apply(f.names)
	f.pending = append(f.pending, c)
}

func (f files) Holds(name string, file journal.File) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[name] == file.(*openFile).inode
}

func (f files) SyncDir() error {
	if err := f.work(); err != nil {
		return pathError("sync", ".", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.durable, f.pending = maps.Clone(f.names), nil
	return nil
}

// openFile is an open file.
type openFile struct {
	*volume
	inode  *inode
	name   string
	closed atomic.Bool
}

// check says why nothing can be done with the file.
func (f *openFile) check(op string) error {
	if f.closed.Load() {
		return pathError(op, f.name, os.ErrClosed)
	}
	return nil
}

func (f *openFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.check("read"); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if at >= int64(len(f.inode.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.inode.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *openFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.check("write"); err != nil {
		return 0, err
	}
	if f.faults.failing.Load() {
		return 0, pathError("write", f.name, syscall.EIO)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inode.write(b, int(at))
	return len(b), nil
}

func (f *openFile) Close() error {
	f.closed.Store(true)
	return nil
}

func (f *openFile) Size() (int64, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.inode.data)), true, nil
}

func (f *openFile) Allocate(size int64) error {
	if err := f.check("allocate"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.full.Load() || f.used()+size > capacity {
		return pathError("allocate", f.name, syscall.ENOSPC)
	}
	f.inode.data = make([]byte, size)
	return nil
}

func (f *openFile) Sync() error     { return f.sync("fsync") }
func (f *openFile) Datasync() error { return f.sync("fdatasync") }
func (f *openFile) Uncache()        {}

// sync makes durable what was written before it was called. What is written meanwhile may be, or not.
func (f *openFile) sync(op string) error {
	if err := f.check(op); err != nil {
		return err
	}
	if err := f.work(); err != nil {
		return pathError(op, f.name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inode.sync()
	return nil
}

func pathError(op, name string, err error) error {
	return fmt.Errorf("%w", &os.PathError{Op: op, Path: name, Err: err})
}
