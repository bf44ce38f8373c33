package engine

import (
	"sync/atomic"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/internal/record"
)

// Usage is what an engine takes of the disk, in bytes.
type Usage struct {
	// Disk is the size of all files: records, logs and what is obsolete.
	Disk uint64
	// Live is what of it are records, keys and overhead included, that are not obsolete;
	// Dead is the rest of the records' files, which compaction and collection give back.
	Live, Dead uint64
	// Journal is the size of the write-ahead log, a part of Disk.
	Journal uint64
	// Free is what the file system has left for this process.
	Free uint64
}

// Add counts a record in.
func (s *SlotStats) Add(key []byte, rec record.Record) {
	if !rec.State.Live() {
		s.Tombstones++
		s.TombstoneDigest += Mix(rec.Version)
		return
	}
	s.count(key, 1)
	s.Bytes += uint64(len(key) + rec.State.Size())
	s.Digest += Mix(rec.Version)
}

// Remove takes out a record that Add counted in.
func (s *SlotStats) Remove(key []byte, rec record.Record) {
	if !rec.State.Live() {
		s.Tombstones--
		s.TombstoneDigest -= Mix(rec.Version)
		return
	}
	s.count(key, ^uint64(0))
	s.Bytes -= uint64(len(key) + rec.State.Size())
	s.Digest -= Mix(rec.Version)
}

// count adds n to what counts live keys. No client has Quoll's own.
func (s *SlotStats) count(key []byte, n uint64) {
	if !database.Reserved(key) {
		s.Live += n
	} else if id, _ := database.Split(key); id > 0 {
		s.Live += n
		s.Others += n
	}
}

// Merge adds the counts of another slot.
func (s *SlotStats) Merge(other SlotStats) {
	s.Live += other.Live
	s.Others += other.Others
	s.Tombstones += other.Tombstones
	s.Bytes += other.Bytes
	s.Digest += other.Digest
	s.TombstoneDigest += other.TombstoneDigest
}

// Root returns the digest of all records, live or not.
func (s SlotStats) Root() uint64 { return s.Digest + s.TombstoneDigest }

// Mix spreads a version over 64 bits for SlotStats.Digest. Versions of one ballot
// never collide; others do as rarely as random numbers. Digests are compared
// between nodes, so the function can never change.
func Mix(v record.Version) uint64 {
	h := scramble(v.Ballot.Counter + 0x9e3779b97f4a7c15)
	h = scramble(h ^ v.Ballot.Incarnation)
	return scramble(h ^ v.Seq)
}

// scramble is the finaliser of SplitMix64 (Stafford's variant 13), a bijection in
// which every input bit flips every output bit with a probability of about 1/2.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Counters are a slot's stats and leaves while it is open. Whoever has the slot changes them, and
// reads the leaves; the stats are read by anybody at any time, and what is read of several may be of
// different moments.
type Counters struct {
	live, others, tombstones, bytes, digest, tombstoneDigest atomic.Uint64
	// leaves is nil while the slot holds nothing: 512 bytes, which an empty slot does not need.
	leaves *Leaves
}

// Load returns the stats.
func (c *Counters) Load() SlotStats {
	return SlotStats{
		Live:            c.live.Load(),
		Others:          c.others.Load(),
		Tombstones:      c.tombstones.Load(),
		Bytes:           c.bytes.Load(),
		Digest:          c.digest.Load(),
		TombstoneDigest: c.tombstoneDigest.Load(),
	}
}

// Leaves returns the leaves.
func (c *Counters) Leaves() Leaves {
	if c.leaves == nil {
		return Leaves{}
	}
	return *c.leaves
}

// Prefetch brings near what Change at a position will touch.
func (c *Counters) Prefetch(pos Position) {
	if c.leaves != nil {
		prefetch.Of(&c.leaves[LeafOf(pos)])
	}
}

// Change replaces the stats after records of one position have changed. The position's leaf changes
// by what the digests do.
func (c *Counters) Change(pos Position, s SlotStats) {
	c.changeLeaf(pos, s.Root()-c.digest.Load()-c.tombstoneDigest.Load())
	if s == (SlotStats{}) {
		c.leaves = nil
	}
	c.store(s)
}

// Renew notes that a live record at a position, which is counted, has another version, and is as long as before.
func (c *Counters) Renew(pos Position, from, to record.Version) {
	change := Mix(to) - Mix(from)
	c.changeLeaf(pos, change)
	c.digest.Store(c.digest.Load() + change)
}

// changeLeaf adds to the leaf of a position.
func (c *Counters) changeLeaf(pos Position, change uint64) {
	// Each branch knows that its pointer is not nil. Else it would be looked at first, and that is another line of memory.
	if leaves := c.leaves; leaves != nil {
		leaves[LeafOf(pos)] += change
	} else {
		c.leaves = new(Leaves)
		c.leaves[LeafOf(pos)] = change
	}
}

// Replace replaces stats and leaves.
func (c *Counters) Replace(s SlotStats, leaves Leaves) {
	c.leaves = nil
	if leaves != (Leaves{}) {
		c.leaves = &leaves
	}
	c.store(s)
}

func (c *Counters) store(s SlotStats) {
	storeChanged(&c.live, s.Live)
	storeChanged(&c.others, s.Others)
	storeChanged(&c.tombstones, s.Tombstones)
	storeChanged(&c.bytes, s.Bytes)
	storeChanged(&c.digest, s.Digest)
	storeChanged(&c.tombstoneDigest, s.TombstoneDigest)
}

// storeChanged spares an atomic store, which costs many times an atomic load.
// There is one writer, so nothing can come between the two.
func storeChanged(counter *atomic.Uint64, value uint64) {
	if counter.Load() != value {
		counter.Store(value)
	}
}

// Earlier returns the earlier of an expiry (0: none) and that of a state.
func Earlier(expiry int64, st record.State) int64 {
	if !st.Live() || st.ExpireAt == 0 || expiry != 0 && expiry <= st.ExpireAt {
		return expiry
	}
	return st.ExpireAt
}
