// Package rdb reads and writes values in Redis' own format: what DUMP returns and RESTORE takes, and what a file of a Redis consists of.
//
// It reads every encoding in which Redis up to 7.4 writes strings, lists, sets, sorted sets, hashes and streams, and writes the plain ones, which every Redis since
// 2.6 can read, and streams as Redis 7.0 does. Nothing that it reads is trusted: no length takes memory that the bytes behind it, or the given limit, do not account for, and what
// Redis would only find out later, as a wrong length inside a listpack, is found at once.
//
// It is pure: no I/O (a file comes as an io.Reader), no clock, nothing kept between calls.
package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
)

// Version is the version that is written: that of Redis 7.0.
const Version = 10

// maxVersion is the latest version that is read: that of Redis 7.4. Later types are unknown anyway.
const maxVersion = 12

var (
	// ErrChecksum is the error for what is no payload of DUMP, or of a later version.
	ErrChecksum = errors.New("rdb: version or checksum of the payload are wrong")
	// ErrFormat is the error for what is no value.
	ErrFormat = errors.New("rdb: bad format")
	// ErrKind is the error for a value of a type that is not read: those of modules, and hashes whose fields expire.
	ErrKind = errors.New("rdb: not a type that is supported")
	// ErrTooLong is the error for a value that is longer than the limit.
	ErrTooLong = errors.New("rdb: the value is too long")
)

// Kind is what a value is, whatever it is encoded as.
type Kind uint8

// The kinds.
const (
	String Kind = iota + 1
	List
	Set
	SortedSet
	Hash
	Stream
)

// The types of values in the format.
const (
	typeString         = 0
	typeList           = 1
	typeSet            = 2
	typeSortedSet      = 3
	typeHash           = 4
	typeSortedSet2     = 5
	typeModule         = 6
	typeModule2        = 7
	typeHashZipmap     = 9
	typeListZiplist    = 10
	typeIntset         = 11
	typeSortedZiplist  = 12
	typeHashZiplist    = 13
	typeQuicklist      = 14
	typeStream         = 15
	typeHashListpack   = 16
	typeSortedListpack = 17
	typeQuicklist2     = 18
	typeStream2        = 19
	typeSetListpack    = 20
	typeStream3        = 21

	// Of Redis 7.4.
	typeHashMetadataPreview   = 22
	typeHashListpackExPreview = 23
	typeHashMetadata          = 24
	typeHashListpackEx        = 25
)

// kinds are those of the types that are read.
var kinds = map[byte]Kind{
	typeString: String,
	typeList:   List, typeListZiplist: List, typeQuicklist: List, typeQuicklist2: List,
	typeSet: Set, typeIntset: Set, typeSetListpack: Set,
	typeSortedSet: SortedSet, typeSortedSet2: SortedSet, typeSortedZiplist: SortedSet, typeSortedListpack: SortedSet,
	typeStream: Stream, typeStream2: Stream, typeStream3: Stream,
	typeHash: Hash, typeHashZipmap: Hash, typeHashZiplist: Hash, typeHashListpack: Hash,
}

// footer is how many bytes are behind a value in a payload: its version, and the checksum of all before.
const footer = 2 + 8

// Value is a value that is read.
type Value struct {
	Kind  Kind
	typ   byte
	body  []byte
	limit int
}

// Open returns the value of a payload, which it borrows. Its items may have so many bytes together. Errors wrap ErrChecksum, ErrFormat or ErrKind, of which
// the text says what it is. That the items are readable is found out by Each.
func Open(payload []byte, limit int) (Value, error) {
	if _, err := unseal(payload); err != nil {
		return Value{}, err
	}
	kind, err := KindOf(payload) // with its footer: a value that is cut off goes on there, in Redis, too
	if err != nil {
		return Value{}, err
	}
	return Value{kind, payload[0], payload[1:], limit}, nil
}

// unseal returns what is before the footer of a payload. The error is ErrChecksum.
func unseal(payload []byte) (body []byte, err error) {
	end := len(payload) - footer
	if end < 0 || binary.LittleEndian.Uint16(payload[end:]) > maxVersion ||
		binary.LittleEndian.Uint64(payload[end+2:]) != checksum(payload[:end+2]) {
		return nil, ErrChecksum
	}
	return payload[:end:end], nil
}

// KindOf returns the kind of a value, of which a payload, or the first ten bytes of one, is given; or why it is not read: the error wraps ErrKind, of which the text
// says what it is, or ErrFormat.
func KindOf(body []byte) (Kind, error) {
	if len(body) == 0 {
		return 0, fmt.Errorf("%w: it is empty", ErrFormat)
	}
	if what := foreign(body); what != "" {
		return 0, fmt.Errorf("%w: %s", ErrKind, what)
	}
	kind, ok := kinds[body[0]]
	if !ok {
		return 0, fmt.Errorf("%w: type %d", ErrFormat, body[0])
	}
	return kind, nil
}

// jones is the polynomial of Redis' CRC64.
var jones = crc64.MakeTable(0x95ac9329ac4bc9b5)

// checksum is CRC64 as Redis has it: nothing is inverted.
func checksum(b []byte) uint64 { return ^crc64.Update(^uint64(0), jones, b) }
