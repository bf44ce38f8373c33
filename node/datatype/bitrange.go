package datatype

import (
	"encoding/binary"
	"math/bits"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// bitCount serves BITCOUNT key [start end [BYTE|BIT]]. Arguments are checked in the
// order of Redis 7.0, which shows when the key is absent.
func bitCount(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendInt(dst, 0), noEffect
	}
	if st.Type != record.String {
		return refuse(dst, errWrongType)
	}
	start, end, unit := int64(0), int64(-1), unitByte
	switch args := req.Args; len(args) {
	case 2:
	case 4, 5:
		var ok, endOK bool
		start, ok = parseInt(args[2])
		end, endOK = parseInt(args[3])
		if !ok || !endOK {
			return refuse(dst, errNotInteger)
		}
		if reversed(start, end) {
			return resp.AppendInt(dst, 0), noEffect
		}
		if len(args) == 5 {
			if unit = parseUnit(args[4]); unit == unitNone {
				return refuse(dst, errSyntax)
			}
		}
	default:
		return refuse(dst, errSyntax)
	}
	from, to := bitRange(start, end, unit, textIn(st).size())
	return resp.AppendInt(dst, textIn(st).countBits(from, to)), noEffect
}

// bitPos serves BITPOS key bit [start [end [BYTE|BIT]]].
func bitPos(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	bit, ok := parseInt(req.Args[2])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	if bit != 0 && bit != 1 {
		return refuse(dst, errBitArgument)
	}
	if !st.Live() {
		return resp.AppendInt(dst, -bit), noEffect // endless zeros
	}
	if st.Type != record.String {
		return refuse(dst, errWrongType)
	}
	start, end, unit, problem := parseSearchRange(req.Args[3:])
	if problem != "" {
		return refuse(dst, problem)
	}
	from, to := bitRange(start, end, unit, textIn(st).size())
	pos := textIn(st).findBit(from, to, bit == 1)
	if endGiven := len(req.Args) > 4; pos < 0 && from <= to && bit == 0 && !endGiven {
		pos = to + 1 // without an end the value goes on in zeros
	}
	return resp.AppendInt(dst, pos), noEffect
}

// parseSearchRange reads the optional arguments of BITPOS.
func parseSearchRange(args [][]byte) (start, end int64, unit rangeUnit, problem string) {
	end, unit = -1, unitByte
	var ok bool
	if len(args) > 3 {
		return 0, 0, unit, errSyntax
	}
	if len(args) > 0 {
		if start, ok = parseInt(args[0]); !ok {
			return 0, 0, unit, errNotInteger
		}
	}
	if len(args) > 2 {
		if unit = parseUnit(args[2]); unit == unitNone {
			return 0, 0, unit, errSyntax
		}
	}
	if len(args) > 1 {
		if end, ok = parseInt(args[1]); !ok {
			return 0, 0, unit, errNotInteger
		}
	}
	return start, end, unit, ""
}

// rangeUnit is the number of bits that ranges of BITCOUNT and BITPOS count in.
type rangeUnit int64

const (
	unitNone rangeUnit = 0
	unitBit  rangeUnit = 1
	unitByte rangeUnit = 8
)

func parseUnit(arg []byte) rangeUnit {
	switch {
	case isWord(arg, "bit"):
		return unitBit
	case isWord(arg, "byte"):
		return unitByte
	}
	return unitNone
}

// bitRange resolves a range given in units to the bits [from, to] of a value of n
// bytes. It is empty if from > to.
func bitRange(start, end int64, unit rangeUnit, n int) (from, to int64) {
	start, end = clampRange(start, end, int64(n)*8/int64(unit))
	if start > end {
		return 0, -1
	}
	return start * int64(unit), (end+1)*int64(unit) - 1
}

// countBits counts the set bits among the bits [from, to].
func (t text) countBits(from, to int64) (count int64) {
	if t.rope == nil {
		return countBits(t.bytes, from, to)
	}
	for at, piece := range t.rope.Pieces(int(from>>3), int(to>>3)+1) {
		begin := int64(at) * 8
		count += countBits(piece, max(from-begin, 0), min(to-begin, int64(len(piece))*8-1))
	}
	return count
}

// findBit returns the position of the first bit in [from, to] that is set (or that is
// clear), -1 if there is none.
func (t text) findBit(from, to int64, set bool) int64 {
	if t.rope == nil {
		return findBit(t.bytes, from, to, set)
	}
	for at, piece := range t.rope.Pieces(int(from>>3), int(to>>3)+1) {
		begin := int64(at) * 8
		if pos := findBit(piece, max(from-begin, 0), min(to-begin, int64(len(piece))*8-1), set); pos >= 0 {
			return begin + pos
		}
	}
	return -1
}

// countBits counts the set bits among the bits [from, to].
func countBits(value []byte, from, to int64) int64 {
	count := 0
	for pos := from; pos <= to; {
		if pos&7 == 0 && pos+63 <= to {
			count += bits.OnesCount64(binary.NativeEndian.Uint64(value[pos>>3:]))
			pos += 64
			continue
		}
		b := value[pos>>3] & (0xff >> (pos & 7))
		if to>>3 == pos>>3 {
			b &= 0xff << (7 - to&7)
		}
		count += bits.OnesCount8(b)
		pos = pos | 7 + 1
	}
	return int64(count)
}

// findBit returns the position of the first bit in [from, to] that is set (or that is
// clear), -1 if there is none.
func findBit(value []byte, from, to int64, set bool) int64 {
	var flip uint64 // makes what is looked for a set bit
	if !set {
		flip = ^flip
	}
	for pos := from; pos <= to; {
		if pos&7 == 0 && pos+63 <= to && binary.NativeEndian.Uint64(value[pos>>3:]) == flip {
			pos += 64
			continue
		}
		if b := (value[pos>>3] ^ byte(flip)) & (0xff >> (pos & 7)); b != 0 {
			if found := pos&^7 + int64(bits.LeadingZeros8(b)); found <= to {
				return found
			}
			return -1
		}
		pos = pos | 7 + 1
	}
	return -1
}
