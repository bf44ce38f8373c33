package datatype

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// streamID is the ID of an entry of a stream. IDs are ordered by time, then by number.
type streamID struct{ ms, seq uint64 }

// highestID is the last ID that there is. It stands for > in XREADGROUP, as in Redis.
var highestID = streamID{math.MaxUint64, math.MaxUint64}

// idSize is how many bytes appendID appends.
const idSize = 16

func (id streamID) isZero() bool { return id == streamID{} }

func (id streamID) less(other streamID) bool {
	return id.ms < other.ms || id.ms == other.ms && id.seq < other.seq
}

// next returns the ID after one. ok is false, and the ID the lowest one, if there is none.
func (id streamID) next() (_ streamID, ok bool) {
	switch {
	case id.seq < math.MaxUint64:
		return streamID{id.ms, id.seq + 1}, true
	case id.ms < math.MaxUint64:
		return streamID{id.ms + 1, 0}, true
	}
	return streamID{}, false
}

// before returns the ID before one. ok is false, and the ID the highest one, if there is none.
func (id streamID) before() (_ streamID, ok bool) {
	switch {
	case id.seq > 0:
		return streamID{id.ms, id.seq - 1}, true
	case id.ms > 0:
		return streamID{id.ms - 1, math.MaxUint64}, true
	}
	return highestID, false
}

// append appends an ID so that the order of the bytes is that of the IDs.
func (id streamID) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, id.ms), id.seq)
}

// idIn reads the ID at the beginning of bytes, which has been checked to be there.
func idIn(b []byte) streamID {
	return streamID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// shortIDSize is how many bytes appendShort appends at most.
const shortIDSize = 1 + 8 + 1 + 8

// Numbers below this one are one byte in a short ID; of 0 there is none. More bytes are as many as the first one is above shortNumber, and one.
const shortNumber = 0xf8

// appendShort appends an ID in few bytes, so that the order of the bytes is that of the IDs. The first one is aboutEntry and more: how many bytes of the time follow.
func (id streamID) appendShort(dst []byte) []byte {
	n := bytesOf(id.ms)
	dst = appendBytes(append(dst, aboutEntry+byte(n)), id.ms, n)
	switch {
	case id.seq == 0:
		return dst
	case id.seq < shortNumber:
		return append(dst, byte(id.seq))
	}
	n = bytesOf(id.seq)
	return appendBytes(append(dst, shortNumber-1+byte(n)), id.seq, n)
}

// shortIDIn reads a short ID. ok is false if there are more or fewer bytes than it has, or others than it should have.
func shortIDIn(b []byte) (id streamID, ok bool) {
	if len(b) == 0 || b[0] < aboutEntry || b[0] >= aboutNothing {
		return id, false
	}
	end := 1 + int(b[0]-aboutEntry)
	if len(b) < end {
		return id, false
	}
	id.ms = numberIn(b[1:end])
	switch rest := b[end:]; {
	case len(rest) == 1:
		id.seq = uint64(rest[0])
	case len(rest) > 1:
		id.seq = numberIn(rest[1:])
	}
	return id, true
}

// isShortID reports whether bytes are what appendShort appends for an ID.
func isShortID(b []byte) bool {
	id, ok := shortIDIn(b)
	return ok && bytes.Equal(id.appendShort(make([]byte, 0, shortIDSize)), b)
}

// bytesOf returns how many bytes a number has.
func bytesOf(n uint64) int { return (bits.Len64(n) + 7) / 8 }

// appendBytes appends the last bytes of a number, the highest one first.
func appendBytes(dst []byte, number uint64, n int) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], number)
	return append(dst, b[8-n:]...)
}

func numberIn(b []byte) (n uint64) {
	for _, digit := range b {
		n = n<<8 | uint64(digit)
	}
	return n
}

// appendText appends an ID as clients see it.
func (id streamID) appendText(dst []byte) []byte {
	return strconv.AppendUint(append(strconv.AppendUint(dst, id.ms, 10), '-'), id.seq, 10)
}

const errStreamID = "ERR Invalid stream ID specified as stream command argument"

// parseID reads an ID as Redis does (streamGenericParseIDOrReply). One without a number has the given one.
func parseID(arg []byte, without uint64) (id streamID, ok bool) {
	const longest = 127
	if len(arg) > longest {
		return id, false
	}
	ms, seq, has := strings.Cut(string(arg), "-")
	if id.ms, ok = parseUnsigned(ms); !ok {
		return id, false
	}
	id.seq = without
	if has {
		id.seq, ok = parseUnsigned(seq)
	}
	return id, ok
}

// parseNewID reads the ID of XADD, whose number may be *: numbered is false then.
func parseNewID(arg []byte) (id streamID, numbered, ok bool) {
	if ms, found := strings.CutSuffix(string(arg), "-*"); found && !strings.Contains(ms, "-") {
		id, ok = parseID([]byte(ms), 0)
		return id, false, ok
	}
	id, ok = parseID(arg, 0)
	return id, true, ok
}

// parseIDBound reads an end of a range: -, +, an ID, or, behind a parenthesis, one that is excluded. One without a number has the given one.
func parseIDBound(arg []byte, without uint64) (id streamID, exclusive, ok bool) {
	switch {
	case len(arg) > 1 && arg[0] == '(':
		id, ok = parseID(arg[1:], without)
		return id, true, ok
	case string(arg) == "-":
		return streamID{}, false, true
	case string(arg) == "+":
		return highestID, false, true
	}
	id, ok = parseID(arg, without)
	return id, false, ok
}

// parseStart and parseEnd read the ends of a range, of which both are included then. problem is an error text, empty when all is well.
func parseStart(arg []byte) (id streamID, problem string) {
	id, exclusive, ok := parseIDBound(arg, 0)
	if ok && exclusive {
		if id, ok = id.next(); !ok {
			return id, "ERR invalid start ID for the interval"
		}
	}
	if !ok {
		return id, errStreamID
	}
	return id, ""
}

func parseEnd(arg []byte) (id streamID, problem string) {
	id, exclusive, ok := parseIDBound(arg, math.MaxUint64)
	if ok && exclusive {
		if id, ok = id.before(); !ok {
			return id, "ERR invalid end ID for the interval"
		}
	}
	if !ok {
		return id, errStreamID
	}
	return id, ""
}

// parseIDs reads some IDs.
func parseIDs(args [][]byte) (ids []streamID, ok bool) {
	ids = make([]streamID, 0, len(args))
	for _, arg := range args {
		id, ok := parseID(arg, 0)
		if !ok {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// parseUnsigned reads a part of an ID as Redis does, by the strtoull of C: behind spaces there may be a sign, and a minus that is not the first byte of a number makes it negative.
func parseUnsigned(s string) (n uint64, ok bool) {
	if signed, ok := parseInt([]byte(s)); ok {
		return uint64(signed), signed >= 0
	}
	digits := strings.TrimLeft(s, " \t\n\v\f\r")
	negative := strings.HasPrefix(digits, "-")
	if negative || strings.HasPrefix(digits, "+") {
		digits = digits[1:]
	}
	if strings.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' }) >= 0 {
		return 0, false // ParseUint would take underscores, and signs
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}
