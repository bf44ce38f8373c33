package route

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/record"
)

// chosen remembers versions that a majority was seen to hold. What a majority holds is not taken back, and a version names one state of one key for ever: so what one replica shows in such
// a version was chosen, whoever has written since (register/protocol.md, "Reads of one replica"). Of two that have the same place the later is remembered: for the other a majority is asked once more.
// Any goroutine may use it.
type chosen struct {
	mutex sync.Mutex // of those who change what is next
	now   atomic.Pointer[chosenVersions]
}

// chosenVersions are versions as numbers of 64 bits, none like another's: 14 for the slot, 14 for the ballot, of which the versions of a ring have few, and 36 for the seq.
type chosenVersions struct {
	ballots map[record.Ballot]uint64 // their numbers, from 1 on; immutable
	table   *chosenTable
}

// chosenTable has each number at its place, or another one.
type chosenTable [chosenSize]atomic.Uint64

const (
	// chosenSize is how many versions are remembered at most: 16 MiB.
	chosenBits, chosenSize = 21, 1 << chosenBits
	ballotBits, seqBits    = 14, 36
)

// has reports whether a version of a slot is remembered.
func (c *chosen) has(slot uint16, v record.Version) bool {
	now := c.now.Load()
	if now == nil {
		return false
	}
	number := now.number(slot, v)
	return number != 0 && now.table[placeOf(number)].Load() == number
}

// add remembers a version of a slot.
func (c *chosen) add(slot uint16, v record.Version) {
	now := c.now.Load()
	if now == nil || now.ballots[v.Ballot] == 0 {
		now = c.learn(v.Ballot)
	}
	if number := now.number(slot, v); number != 0 {
		now.table[placeOf(number)].Store(number)
	}
}

// forget forgets all.
func (c *chosen) forget() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now.Store(nil)
}

// learn gives a ballot a number. When there is none left all is forgotten: most are of terms that are over.
func (c *chosen) learn(b record.Ballot) *chosenVersions {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	next := &chosenVersions{ballots: map[record.Ballot]uint64{}}
	if now := c.now.Load(); now != nil && len(now.ballots) < 1<<ballotBits-1 {
		next.ballots, next.table = maps.Clone(now.ballots), now.table
	} else {
		next.table = new(chosenTable)
	}
	if next.ballots[b] == 0 {
		next.ballots[b] = uint64(len(next.ballots) + 1)
	}
	c.now.Store(next)
	return next
}

// number returns what stands for a version of a slot, 0 for none.
func (c *chosenVersions) number(slot uint16, v record.Version) uint64 {
	ballot := c.ballots[v.Ballot]
	if ballot == 0 || v.Seq >= 1<<seqBits {
		return 0
	}
	return (uint64(slot)<<ballotBits|ballot)<<seqBits | v.Seq
}

// placeOf spreads numbers over the table (Fibonacci hashing).
func placeOf(number uint64) uint64 { return number * 0x9e3779b97f4a7c15 >> (64 - chosenBits) }
