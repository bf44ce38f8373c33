package engine

import "github.com/quolldb/quoll/internal/record"

// Add counts a record in.
func (s *SlotStats) Add(key []byte, rec record.Record) {
	if !rec.State.Live() {
		s.Tombstones++
		return
	}
	s.Live++
	s.Bytes += uint64(len(key) + len(rec.State.Value))
	s.Digest += Mix(rec.Version)
}

// Remove takes out a record that Add counted in.
func (s *SlotStats) Remove(key []byte, rec record.Record) {
	if !rec.State.Live() {
		s.Tombstones--
		return
	}
	s.Live--
	s.Bytes -= uint64(len(key) + len(rec.State.Value))
	s.Digest -= Mix(rec.Version)
}

// Merge adds the counts of another slot.
func (s *SlotStats) Merge(other SlotStats) {
	s.Live += other.Live
	s.Tombstones += other.Tombstones
	s.Bytes += other.Bytes
	s.Digest += other.Digest
}

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
