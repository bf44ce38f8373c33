package datatype

import (
	"bytes"
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// bitField serves BITFIELD.
func bitField(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return runFields(dst, st, req, false)
}

// bitFieldRO serves BITFIELD_RO.
func bitFieldRO(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return runFields(dst, st, req, true)
}

func runFields(dst []byte, st record.State, req *command.Request, readOnly bool) ([]byte, record.Effect) {
	var room [8]fieldOp
	ops, problem := parseFieldOps(room[:0], req.Args[2:], longest(req))
	if problem != "" {
		return refuse(dst, problem)
	}
	size := 0 // that the writes need
	for _, op := range ops {
		if op.kind != fieldGet {
			size = max(size, op.endByte())
		}
	}
	if readOnly && size > 0 {
		return refuse(dst, errFieldReadOnly)
	}
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	dst = resp.AppendArray(dst, len(ops))
	if size == 0 {
		for _, op := range ops {
			dst = resp.AppendInt(dst, op.read(textIn(st)))
		}
		return dst, noEffect
	}
	return writeFields(dst, st, req, ops, size)
}

// writeFields runs operations of which at least one writes, on a value of at least the given
// size. The value grows even if all writes fail.
func writeFields(dst []byte, st record.State, req *command.Request, ops []fieldOp, size int) ([]byte, record.Effect) {
	old := textIn(st)
	d := old.draft(size)
	from, to := d.least, 0
	for _, op := range ops {
		reply, ok := op.run(&d)
		if !ok {
			dst = resp.AppendNull(dst, req.RESP3)
			continue
		}
		dst = resp.AppendInt(dst, reply)
		if op.kind != fieldGet {
			from, to = min(from, int(op.pos>>3)), max(to, op.endByte())
		}
	}
	from = min(from, to)
	next := d.done()
	if next.size() == old.size() && bytes.Equal(next.slice(from, to), old.slice(from, to)) {
		return dst, noEffect
	}
	return dst, spliced(st, next, from, to)
}

// fieldKind is a subcommand of BITFIELD.
type fieldKind uint8

const (
	fieldGet fieldKind = iota
	fieldSet
	fieldIncrBy
)

// overflowMode says what a write does with a number that does not fit.
type overflowMode uint8

const (
	overflowWrap overflowMode = iota
	overflowSaturate
	overflowFail
)

// fieldOp is one operation of BITFIELD on one integer.
type fieldOp struct {
	kind     fieldKind
	overflow overflowMode
	signed   bool
	width    int   // in bits: 1 to 64 signed, 1 to 63 unsigned
	pos      int64 // of the first bit
	operand  int64
}

// endByte returns the length of a value that the field just fits into.
func (op *fieldOp) endByte() int { return endByte(op.pos, op.width) }

// read returns the integer in the field.
func (op *fieldOp) read(t text) int64 { return op.extend(t.field(op.pos, op.width)) }

// extend makes an integer of the low bits of raw.
func (op *fieldOp) extend(raw uint64) int64 {
	unused := 64 - op.width
	if op.signed {
		return int64(raw<<unused) >> unused
	}
	return int64(raw << unused >> unused)
}

// run performs the operation on a draft and returns its reply, or false if it failed on
// overflow and did nothing.
func (op *fieldOp) run(d *draft) (int64, bool) {
	old := op.read(d.text)
	next, reply, ok := old, old, true
	switch op.kind {
	case fieldGet:
		return old, true
	case fieldSet:
		next, ok = op.fit(op.operand, op.side(op.operand))
	case fieldIncrBy:
		next, ok = op.fit(old+op.operand, op.sideOfSum(old))
		reply = next
	}
	if ok {
		d.setField(op.pos, op.width, uint64(next))
	}
	return reply, ok
}

// limits returns the least and the greatest integer of the field.
func (op *fieldOp) limits() (least, greatest int64) {
	if op.signed {
		greatest = int64(1<<(op.width-1) - 1)
		return -greatest - 1, greatest
	}
	return 0, int64(1<<op.width - 1)
}

// side returns where n lies: 0 within the field's limits, 1 above, -1 below. As in
// Redis, an unsigned field sees a negative n as a huge one, and so does a signed field
// when n is so low that the distance to the upper limit overflows 64 bits. That matters
// for OVERFLOW SAT.
func (op *fieldOp) side(n int64) int {
	least, greatest := op.limits()
	switch {
	case n > greatest, n < 0 && !op.signed, op.width < 64 && n < greatest-math.MaxInt64:
		return 1
	case n < least:
		return -1
	}
	return 0
}

// sideOfSum returns where old + operand lies. The sum may overflow 64 bits.
func (op *fieldOp) sideOfSum(old int64) int {
	least, greatest := op.limits()
	sum := old + op.operand
	switch {
	case op.operand > 0 && (sum < old || sum > greatest):
		return 1
	case op.operand < 0 && (sum > old || sum < least):
		return -1
	}
	return 0
}

// fit makes a number that lies on the given side of the limits fit the field.
func (op *fieldOp) fit(n int64, side int) (int64, bool) {
	if side == 0 {
		return n, true
	}
	switch least, greatest := op.limits(); op.overflow {
	case overflowFail:
		return 0, false
	case overflowSaturate:
		if side < 0 {
			return least, true
		}
		return greatest, true
	}
	return op.extend(uint64(n)), true
}
