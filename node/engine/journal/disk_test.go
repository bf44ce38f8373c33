package journal

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
)

// sectorSize is what a disk writes entirely or not at all.
const sectorSize = 512

// disk is a FileSystem in memory that knows what a power cut would leave of it. Changes
// of the directory become durable in their order, as in a filesystem with a journal of
// metadata; sectors that are not synced in any.
type disk struct {
	mu      sync.Mutex
	names   map[string]*inode
	durable map[string]*inode
	pending []change
	// capacity is how many bytes all files may have, 0 for any.
	capacity int64
	// fault is asked before each operation and may fail it.
	fault func(op, name string) error
	// countdown runs the function before an operation, or in the middle of it if it
	// writes.
	countdown int
	crash     func(d *disk)
}

// change is one of the directory: a name goes, another comes, or one of these.
type change struct {
	from, to string
	file     *inode
}

func (c change) apply(names map[string]*inode) {
	delete(names, c.from)
	if c.to != "" {
		names[c.to] = c.file
	}
}

// on is the change on copies of the files.
func (c change) on(copyOf func(*inode) *inode) change {
	c.file = copyOf(c.file)
	return c
}

type inode struct {
	data, durable []byte
	dirty         map[int]bool
}

func newDisk() *disk {
	return &disk{names: map[string]*inode{}, durable: map[string]*inode{}}
}

// crashAt calls crash in the n-th operation from now on, with the disk locked.
func (d *disk) crashAt(n int, crash func(d *disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.countdown, d.crash = n, crash
}

// crashNow calls what crashAt has prepared, unless that has happened.
func (d *disk) crashNow() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strike()
}

func (d *disk) strike() {
	if d.crash != nil {
		d.crash(d)
		d.crash = nil
	}
}

// step begins an operation. due says that the crash is to come in it.
func (d *disk) step(op, name string) (due bool, err error) {
	if d.fault != nil {
		if err := d.fault(op, name); err != nil {
			return false, &os.PathError{Op: op, Path: name, Err: err}
		}
	}
	if d.countdown--; d.countdown == 0 {
		if op == "write" {
			return true, nil
		}
		d.strike()
	}
	return false, nil
}

// afterKill is the disk when the process was killed: what was not synced still is not.
// The disk is locked.
func (d *disk) afterKill() *disk {
	inodes := map[*inode]*inode{}
	copyOf := func(n *inode) *inode {
		if inodes[n] == nil {
			inodes[n] = &inode{slices.Clone(n.data), slices.Clone(n.durable), maps.Clone(n.dirty)}
		}
		return inodes[n]
	}
	left := newDisk()
	for name, n := range d.names {
		left.names[name] = copyOf(n)
	}
	for name, n := range d.durable {
		left.durable[name] = copyOf(n)
	}
	for _, change := range d.pending {
		left.pending = append(left.pending, change.on(copyOf))
	}
	return left
}

// afterPowerCut is the disk when the power fails. The disk is locked.
func (d *disk) afterPowerCut(r *rand.Rand) *disk {
	names := maps.Clone(d.durable)
	for _, change := range d.pending[:r.IntN(len(d.pending)+1)] {
		change.apply(names)
	}
	left := newDisk()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		left.put(name, names[name].afterPowerCut(r))
	}
	return left
}

func (n *inode) afterPowerCut(r *rand.Rand) []byte {
	size := len(n.durable)
	if r.IntN(2) == 0 {
		size = max(size, len(n.data))
	}
	b := make([]byte, size)
	copy(b, n.durable)
	for _, sector := range slices.Sorted(maps.Keys(n.dirty)) {
		from, to := sector*sectorSize, min((sector+1)*sectorSize, size)
		if from >= to {
			continue
		}
		switch blank := allZero(b[from:to]); r.IntN(4) {
		case 0, 1:
			copy(b[from:to], n.data[from:])
		case 2:
			for i := from; blank && i < to; i++ {
				b[i] = byte(r.Uint32())
			}
		}
	}
	return b
}

func allZero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

// put makes a file that is durable.
func (d *disk) put(name string, content []byte) {
	n := &inode{data: slices.Clone(content), durable: slices.Clone(content), dirty: map[int]bool{}}
	d.names[name], d.durable[name] = n, n
}

func (d *disk) change(c change) {
	c.apply(d.names)
	d.pending = append(d.pending, c)
}

func (d *disk) Names() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names)), nil
}

func (d *disk) MakeDir() error { return nil }

func (d *disk) Create(name string) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("create", name); err != nil {
		return nil, err
	}
	n := &inode{dirty: map[int]bool{}}
	d.change(change{to: name, file: n})
	return &handle{d: d, n: n, name: name}, nil
}

func (d *disk) Open(name string) (File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("open", name); err != nil {
		return nil, err
	}
	n := d.names[name]
	if n == nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	return &handle{d: d, n: n, name: name}, nil
}

func (d *disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("rename", from); err != nil {
		return err
	}
	n := d.names[from]
	if n == nil {
		return fmt.Errorf("rename %s: %w", from, syscall.ENOENT)
	}
	d.change(change{from, to, n})
	return nil
}

func (d *disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("remove", name); err != nil {
		return err
	}
	n := d.names[name]
	if n == nil {
		return fmt.Errorf("remove %s: %w", name, syscall.ENOENT)
	}
	d.change(change{from: name, file: n})
	return nil
}

func (d *disk) Holds(name string, f File) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[name] == f.(*handle).n
}

func (d *disk) SyncDir() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step("syncdir", ""); err != nil {
		return err
	}
	d.durable, d.pending = maps.Clone(d.names), nil
	return nil
}

// used is the length of all files.
func (d *disk) used() int64 {
	var sum int64
	for _, n := range d.names {
		sum += int64(len(n.data))
	}
	return sum
}

// handle is an open file.
type handle struct {
	d    *disk
	n    *inode
	name string

	closed bool
}

// step is the disk's. A closed file can do nothing.
func (h *handle) step(op string) (due bool, err error) {
	if h.closed {
		return false, &os.PathError{Op: op, Path: h.name, Err: os.ErrClosed}
	}
	return h.d.step(op, h.name)
}

func (h *handle) ReadAt(b []byte, at int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if _, err := h.step("read"); err != nil {
		return 0, err
	}
	if at >= int64(len(h.n.data)) {
		return 0, io.EOF
	}
	n := copy(b, h.n.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *handle) WriteAt(b []byte, at int64) (int, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	due, err := h.step("write")
	if err != nil {
		return 0, err
	}
	done := 0
	if due {
		done = rand.IntN(len(b) + 1)
		h.n.write(b[:done], int(at))
		h.d.strike()
	}
	h.n.write(b[done:], int(at)+done)
	return len(b), nil
}

func (n *inode) write(b []byte, at int) {
	n.data = append(n.data, make([]byte, max(at+len(b)-len(n.data), 0))...)
	copy(n.data[at:], b)
	for s := at / sectorSize; s*sectorSize < at+len(b); s++ {
		n.dirty[s] = true
	}
}

func (h *handle) Close() error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	h.closed = true
	return nil
}

func (h *handle) Size() (int64, bool, error) {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	return int64(len(h.n.data)), true, nil
}

func (h *handle) Allocate(size int64) error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if _, err := h.step("allocate"); err != nil {
		return err
	}
	if h.d.capacity > 0 && h.d.used()+size > h.d.capacity {
		return fmt.Errorf("allocate %s: %w", h.name, syscall.ENOSPC)
	}
	h.n.data = make([]byte, size)
	return nil
}

func (h *handle) Sync() error { return h.sync("sync") }

func (h *handle) Datasync() error { return h.sync("datasync") }

func (h *handle) Uncache() {}

func (h *handle) sync(op string) error {
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if _, err := h.step(op); err != nil {
		return err
	}
	n := h.n
	n.durable = append(n.durable, make([]byte, max(len(n.data)-len(n.durable), 0))...)
	for s := range n.dirty {
		if from := s * sectorSize; from < len(n.data) {
			copy(n.durable[from:min(from+sectorSize, len(n.durable))], n.data[from:])
		}
	}
	clear(n.dirty)
	return nil
}
