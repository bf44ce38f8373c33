package backup

import (
	"encoding/hex"
	"errors"
	"hash/crc32"
	"time"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// Version is the version of the format that this program writes, and the highest it reads: it reads all lower ones.
const Version = 2

// Errors of a Reader, wrapped in what was found.
var (
	// ErrNotBackup is returned for what is no backup at all.
	ErrNotBackup = errors.New("not a backup of quoll")
	// ErrNewer is returned for a format that this program does not know.
	ErrNewer = errors.New("the backup was made by a newer quoll")
	// ErrDamaged is returned when a checksum is wrong, or what it covers makes no sense.
	ErrDamaged = errors.New("the backup is damaged")
	// ErrIncomplete is returned when the end is missing.
	ErrIncomplete = errors.New("the backup is incomplete")
	// ErrFailed is returned for a backup whose node says in it why it could not finish.
	ErrFailed = errors.New("the node could not finish the backup")
)

// Header says what a backup is of.
type Header struct {
	// Cluster is the ring at the time, with the generations of its members.
	Cluster ring.Cluster `json:"cluster"`
	// Formation tells the ring from others, in all of its versions. It is 0 in backups that were made before rings had more than one.
	Formation uint64 `json:"formation,omitempty"`
	// Placements says how the keys of each database were placed: what is restored is kept by the same names.
	Placements database.Placements `json:"placements,omitzero"`
	// Node is the name of the node.
	Node string `json:"node"`
	// Slots are the slots that the node held.
	Slots ring.SlotSet `json:"slots"`
	// Time is when the backup began.
	Time time.Time `json:"time"`
	// Quoll is the version of the program.
	Quoll string `json:"quoll"`
	// Records and Bytes are about what is to be expected: what the node counted
	// when it began, as Counts do.
	Records uint64 `json:"records"`
	Bytes   uint64 `json:"bytes"`
}

// Chunk is some of the records of a slot.
type Chunk struct {
	Slot uint16
	// Meta is the state of the slot; its Epoch is not kept.
	Meta    record.SlotMeta
	Records []Entry
}

// Entry is a key and what the replica held of it.
type Entry struct {
	Key []byte
	record.Record
}

// Counts is what a backup holds.
type Counts struct {
	// Live and Tombstones count records. A live one may have expired.
	Live       uint64 `json:"live"`
	Tombstones uint64 `json:"tombstones"`
	// Bytes is the length of the live keys and values.
	Bytes uint64 `json:"bytes"`
}

func (c *Counts) add(e *Entry) {
	if !e.State.Live() {
		c.Tombstones++
		return
	}
	c.Live++
	c.Bytes += uint64(len(e.Key) + e.State.Size())
}

// Digest is the SHA-256 of a backup: it names what is in it.
type Digest [32]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

const (
	magic        = "QUOLLBAK"
	preambleSize = len(magic) + 4 + 4
	blockHeader  = 1 + 4 + 4
	// maxBlock bounds a block; a chunk of one record may be as large as a key and its value.
	maxBlock = 1 << 30
)

type kind byte

const (
	kindHeader  kind = 1
	kindChunk   kind = 2
	kindTrailer kind = 3
	kindFailure kind = 4
	kindPiece   kind = 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
