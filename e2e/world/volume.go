package world

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quolldb/quoll/node/engine/journal"
)

// volume is the disk of a machine: it knows what a power cut would leave of it. Changes of the directory become durable in their
// order, as in a file system with a journal of metadata, sectors that are not synced in any. It is a disk.System.
type volume struct {
	faults *diskFaults

	mu      sync.Mutex
	random  *rand.Rand
	names   map[string]*inode
	durable map[string]*inode
	pending []nameChange
	// records are those of the Store, after each write since the last one that is durable.
	records []records
}

// diskFaults are what may be wrong with a disk, at any time.
type diskFaults struct {
	latency atomic.Int64 // of a write that is to be durable, in nanoseconds, and as much again at random
	full    atomic.Bool
	failing atomic.Bool
}

// usualSync is how long a usual disk takes to sync.
const usualSync = 200 * time.Microsecond

func (f *diskFaults) heal() {
	f.latency.Store(int64(usualSync))
	f.full.Store(false)
	f.failing.Store(false)
}

func newVolume(faults *diskFaults, random *rand.Rand) *volume {
	return &volume{faults: faults, random: random, names: map[string]*inode{}, durable: map[string]*inode{}, records: []records{nil}}
}

// capacity is the size of a volume in bytes.
const capacity = 64 << 20

// MakeDirs implements disk.System.
func (v *volume) MakeDirs(string) error { return nil }

// Space implements disk.System.
func (v *volume) Space(string) (total, free int64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.faults.full.Load() {
		return capacity, 0, nil
	}
	return capacity, capacity - v.used(), nil
}

// Used implements disk.System.
func (v *volume) Used(string) (uint64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return uint64(v.used()), nil
}

func (v *volume) used() (sum int64) {
	for _, n := range v.names {
		sum += int64(len(n.data))
	}
	return sum
}

// Journal implements disk.System.
func (v *volume) Journal(string) journal.FileSystem { return files{v} }

// work takes the time that the disk takes, and says what is wrong with it.
func (v *volume) work() error {
	if v.faults.failing.Load() {
		return syscall.EIO
	}
	latency := v.faults.latency.Load()
	if !locksPass { // whoever waits for the disk holds locks that others wait for
		return nil
	}
	v.mu.Lock()
	d := time.Duration(latency + v.random.Int64N(latency+1))
	v.mu.Unlock()
	time.Sleep(d)
	return nil
}

// afterKill is the disk when the process was killed: what was not synced still is not. Whatever the process does from now
// on, it does not do here.
func (v *volume) afterKill() *volume {
	v.mu.Lock()
	defer v.mu.Unlock()
	inodes := map[*inode]*inode{}
	copyOf := func(n *inode) *inode {
		if n != nil && inodes[n] == nil {
			inodes[n] = &inode{slices.Clone(n.data), slices.Clone(n.durable), maps.Clone(n.dirty)}
		}
		return inodes[n]
	}
	left := newVolume(v.faults, rand.New(rand.NewPCG(v.random.Uint64(), 1)))
	for name, n := range v.names {
		left.names[name] = copyOf(n)
	}
	for name, n := range v.durable {
		left.durable[name] = copyOf(n)
	}
	for _, c := range v.pending {
		left.pending = append(left.pending, nameChange{c.from, c.to, copyOf(c.file)})
	}
	left.records = slices.Clone(v.records)
	return left
}

// afterPowerCut is the disk when the power has failed.
func (v *volume) afterPowerCut() *volume {
	v.mu.Lock()
	defer v.mu.Unlock()
	names := maps.Clone(v.durable)
	for _, c := range v.pending[:v.random.IntN(len(v.pending)+1)] {
		c.apply(names)
	}
	left := newVolume(v.faults, rand.New(rand.NewPCG(v.random.Uint64(), 1)))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		content := names[name].afterPowerCut(v.random)
		n := &inode{data: content, durable: slices.Clone(content), dirty: map[int]bool{}}
		left.names[name], left.durable[name] = n, n
	}
	left.records = []records{v.records[v.random.IntN(len(v.records))]}
	return left
}
