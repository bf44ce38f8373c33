// Package replication is the vocabulary in which a slot's home and its replicas speak: what a home asks, and what a replica answers. Package register decides what is
// said, package protocol has its form on the wire. The numbers are part of the peer protocol.
package replication

import (
	"unsafe"

	"github.com/quolldb/quoll/internal/record"
)

// Kind says what a message asks for.
type Kind uint8

// The kinds of messages. The numbers are part of the peer protocol.
const (
	Prepare  Kind = 1 // home -> replica: acquire a term of the slot (R3)
	SyncRead Kind = 2 // home -> replica: read one key under the term (R5)
	Accept   Kind = 3 // home -> replica: write one key under the term (R6)
	Confirm  Kind = 4 // home -> replica: is the term still mine? (R9)
	Purge    Kind = 5 // home -> replica: drop a tombstone that all hold (R13)
	Clear    Kind = 6 // home -> replica: write a deletion of every key of the slot
)

// String names the kind.
func (k Kind) String() string {
	names := [...]string{"?", "prepare", "sync-read", "accept", "confirm", "purge", "clear"}
	if int(k) >= len(names) {
		k = 0
	}
	return names[k]
}

// Result is a replica's answer to a request.
type Result uint8

// The results. The numbers are part of the peer protocol.
const (
	OK          Result = 0
	StaleEpoch  Result = 1 // the request's epoch is older than the replica's (R1)
	StaleBallot Result = 2 // the replica has promised a higher ballot
	NeedFull    Result = 3 // the replica does not hold the base of the delta (R7)
	BelowFloor  Result = 4 // the version is not above the floor and there is no record (R14)
)

// Message is a request of a home to a replica, or the reply, which repeats the
// request's Kind, Slot, Ballot, Round and Key. Its slices are borrowed by whoever is given
// one.
type Message struct {
	Kind     Kind
	Reply    bool
	Slot     uint16
	From, To uint16 // ring member IDs
	Epoch    uint64 // the sender's epoch (R1)
	Ballot   record.Ballot
	Round    uint64 // the home's broadcast number

	// Version is what an Accept or Clear writes, or which tombstone a Purge drops.
	Version record.Version
	// Change is what an Accept writes; the process' own replica is given the state with a delta, too. Of other requests it has the key only, and
	// of a SyncRead Base, the version of the home's own record, zero if it has none: who holds the same need not show it. An Accept's Base is sent with a delta
	// only.
	record.Change

	// Result and what follows is set in replies only.
	Result   Result
	Promised record.Ballot
	// Held is the version of the key (Clear: of the slot's clear) that the replica holds.
	Held record.Version
	// Present: there is a record of the key, and Held is not just the slot's clear (SyncRead).
	Present bool
	// Unsure: there is no record, and the slot's clear is a copy that counts for no agreement (SyncRead).
	Unsure bool
	// Found is the state of version Held (SyncRead). Same: it is not shown, since the home has it, as Base said.
	Found record.State
	Same  bool
	Floor record.Version
}

// Size is about how many bytes a message takes on its way: of a delta those that it has, and not those that it leads to.
func (m *Message) Size() int {
	if m.IsDelta {
		return len(m.Key) + len(m.Delta) + fixedSize
	}
	return len(m.Key) + m.State.Size() + fixedSize
}

// Changes returns what an Accept writes, under one version: today one change. It is the message's own.
func (m *Message) Changes() []record.Change { return unsafe.Slice(&m.Change, 1) }

// Forget lets go of all that the message has borrowed.
func (m *Message) Forget() {
	m.Key, m.State.Value, m.State.Object, m.Delta = nil, nil, nil, nil
	m.Found.Value, m.Found.Object = nil, nil
}

// fixedSize is for the fields of a message that are numbers.
const fixedSize = 128
