package hint

import (
	"log/slog"
	"sync"

	"github.com/quolldb/quoll/ring"
)

// Options say whose hints a Set keeps, and where.
type Options struct {
	// Replica and Generation identify the replica that misses writes.
	Replica    string
	Generation uint64
	// Dir is the directory of the files, empty to keep nothing over restarts. It is made if it
	// is not there.
	Dir string
	// Limit bounds the bytes that the keys take in memory: 16 MiB.
	Limit  int64
	Logger *slog.Logger
}

// keyCost is about what a key takes in memory beside its bytes.
const keyCost = 96

// maxBatch bounds the bytes of the keys that are taken at a time.
const maxBatch = 1 << 20

// Hint is a key that the replica missed a write of.
type Hint struct {
	Slot uint16
	Key  []byte
}

// Batch is what is taken from a Set at a time: hints, or when there are none left the slots that
// have to be compared.
type Batch struct {
	Hints []Hint
	Marks []uint16
}

// Counts says how much a Set holds.
type Counts struct {
	Keys  int   // that the replica missed
	Bytes int64 // of memory that they take, about
	Marks int   // slots that have to be compared
}

// Set is what one replica missed. Its methods may be called from any goroutine; none but Close
// waits for the disk.
type Set struct {
	limit int64
	log   *slog.Logger

	mu    sync.Mutex
	slots map[uint16]map[string]struct{} // without those that are marked
	keys  int                            // in slots and taken,
	bytes int64                          // and what they take
	marks marks
	taken Batch
	file  *file // nil: nothing is kept
}

// Open returns the Set of a replica, with what the file of a former process says. If that cannot be
// used it is logged, and the Set does without.
func Open(opt Options) *Set {
	s := &Set{limit: opt.Limit, log: opt.Logger, slots: map[uint16]map[string]struct{}{}}
	if s.limit == 0 {
		s.limit = 16 << 20
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if opt.Dir != "" {
		s.openFile(opt)
	}
	return s
}

// Add notes that the replica missed a write of a key, which is copied.
func (s *Set) Add(slot uint16, key []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.add(slot, key) {
		s.file.key(slot, key)
	}
}

// add reports whether a key was added.
func (s *Set) add(slot uint16, key []byte) bool {
	keys := s.slots[slot]
	if _, known := keys[string(key)]; known || s.marks.has(slot) {
		return false
	}
	if s.bytes+cost(key) > s.limit {
		s.mark(slot)
		return false
	}
	if keys == nil {
		keys = map[string]struct{}{}
		s.slots[slot] = keys
	}
	keys[string(key)] = struct{}{}
	s.keys, s.bytes = s.keys+1, s.bytes+cost(key)
	return true
}

func cost[K []byte | string](key K) int64 { return int64(len(key)) + keyCost }

// Mark notes that a slot has to be compared. Its keys need not be remembered any more.
func (s *Set) Mark(slot uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark(slot)
}

func (s *Set) mark(slot uint16) {
	if slot >= ring.Slots || !s.marks.add(slot) {
		return
	}
	for key := range s.slots[slot] {
		s.keys, s.bytes = s.keys-1, s.bytes-cost(key)
	}
	delete(s.slots, slot)
	s.file.mark(slot)
}

// Take returns some of the hints, at most n, or all marks. They count as held until Done or
// Requeue, and what is noted meanwhile is noted beside them. What was taken before is put back.
func (s *Set) Take(n int) Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requeue()
	bytes := int64(0)
	for slot, keys := range s.slots {
		for key := range keys {
			if len(s.taken.Hints) >= n || bytes >= maxBatch {
				return s.taken
			}
			s.taken.Hints = append(s.taken.Hints, Hint{slot, []byte(key)})
			bytes += cost(key)
			delete(keys, key)
		}
		delete(s.slots, slot)
	}
	if len(s.taken.Hints) == 0 {
		s.taken.Marks = s.marks.list()
		s.marks = marks{}
	}
	return s.taken
}

// Done forgets what was taken: the replica has it.
func (s *Set) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.taken.Hints {
		s.keys, s.bytes = s.keys-1, s.bytes-cost(h.Key)
	}
	s.taken = Batch{}
	s.file.shorten(s)
}

// Requeue puts back what was taken.
func (s *Set) Requeue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requeue()
}

func (s *Set) requeue() {
	taken := s.taken
	s.taken = Batch{}
	for _, slot := range taken.Marks {
		s.mark(slot)
	}
	for _, h := range taken.Hints {
		s.keys, s.bytes = s.keys-1, s.bytes-cost(h.Key)
		s.add(h.Slot, h.Key)
	}
}

// Counts returns how much the set holds.
func (s *Set) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Counts{Keys: s.keys, Bytes: s.bytes, Marks: s.marks.n + len(s.taken.Marks)}
}

func (s *Set) empty() bool { return s.keys == 0 && s.marks.n == 0 && len(s.taken.Marks) == 0 }

// marks is a set of slots.
type marks struct {
	bits [ring.Slots / 64]uint64
	n    int
}

func (m *marks) has(slot uint16) bool {
	return slot < ring.Slots && m.bits[slot/64]&(1<<(slot%64)) != 0
}

// add reports whether the slot was not there.
func (m *marks) add(slot uint16) bool {
	if m.has(slot) {
		return false
	}
	m.bits[slot/64] |= 1 << (slot % 64)
	m.n++
	return true
}

func (m *marks) list() []uint16 {
	list := make([]uint16, 0, m.n)
	for slot := uint16(0); slot < ring.Slots && len(list) < m.n; slot++ {
		if m.has(slot) {
			list = append(list, slot)
		}
	}
	return list
}
