package datatype

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/hyperloglog"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// A HyperLogLog is a string. See package hyperloglog.

// sketchIn returns the HyperLogLog that a live state has, or the text of the error of a command that wants one.
func sketchIn(st record.State) (value []byte, problem string) {
	if st.Type != record.String {
		return nil, errWrongType
	}
	t := textIn(st)
	if value = t.slice(0, t.size()); hyperloglog.Check(value) != nil {
		return nil, errNoSketch
	}
	return value, ""
}

// pfAdd serves PFADD: whether a register, and so the estimate, may have changed.
func pfAdd(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	value := hyperloglog.New()
	if st.Live() {
		var problem string
		if value, problem = sketchIn(st); problem != "" {
			return refuse(dst, problem)
		}
	}
	changes := make([]hyperloglog.Register, 0, len(req.Args)-2)
	for _, element := range req.Args[2:] {
		changes = append(changes, hyperloglog.Of(element))
	}
	next, changes, err := hyperloglog.Add(value, changes)
	switch {
	case err != nil:
		return refuse(dst, errCorruptSketch)
	case len(next) > longest(req):
		return refuse(dst, ErrTooLong)
	case len(changes) == 0 && st.Live():
		return appendBool(dst, false), noEffect
	}
	next, _, _ = hyperloglog.Stale(next)
	eff := record.Effect{Kind: record.Replaced, State: stringOf(st, next)}
	if delta := encodeRegisters(changes); st.Live() && len(next) > minSpliceValue && len(delta) < len(next)/minSpliceGain {
		eff.Kind, eff.Delta = record.Changed, delta
	}
	return appendBool(dst, true), eff
}

// pfCount serves PFCOUNT of one key. As in Redis, the value keeps the estimate until it changes, so this may be a write.
func pfCount(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendInt(dst, 0), noEffect
	}
	value, problem := sketchIn(st)
	if problem != "" {
		return refuse(dst, problem)
	}
	n, valid := hyperloglog.Estimate(value)
	if valid {
		return resp.AppendInt(dst, int64(n)), noEffect
	}
	n, err := hyperloglog.Calculate(value)
	if err != nil {
		return refuse(dst, errCorruptSketch)
	}
	next, from, to := hyperloglog.WithEstimate(value, n)
	if bytes.Equal(next, value) {
		return resp.AppendInt(dst, int64(n)), noEffect
	}
	return resp.AppendInt(dst, int64(n)), spliced(st, text{bytes: next}, from, to)
}

// pfRead serves the internal PFRead, one key of PFCOUNT of several: the whole value, or null.
func pfRead(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	value, problem := sketchIn(st)
	if problem != "" {
		return refuse(dst, problem)
	}
	if _, err := hyperloglog.Calculate(value); err != nil {
		return refuse(dst, errCorruptSketch)
	}
	return resp.AppendBulk(dst, value), noEffect
}

// pfMerge serves PFMERGE of a key with itself: see pfMergeAll for others. Nothing changes, but that the estimate has to be made again.
func pfMerge(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		next, _, _ := hyperloglog.Stale(hyperloglog.New())
		return append(dst, resp.OK...), record.Effect{Kind: record.Replaced, State: stringOf(st, next)}
	}
	value, problem := sketchIn(st)
	if problem != "" {
		return refuse(dst, problem)
	}
	if _, err := hyperloglog.Calculate(value); err != nil {
		return refuse(dst, errCorruptSketch)
	}
	next, from, to := hyperloglog.Stale(value)
	if bytes.Equal(next, value) {
		return append(dst, resp.OK...), noEffect
	}
	return append(dst, resp.OK...), spliced(st, text{bytes: next}, from, to)
}

// encodeRegisters encodes changes of a HyperLogLog as a delta: of each the register and its new value.
func encodeRegisters(changes []hyperloglog.Register) []byte {
	delta := []byte{deltaRegisters}
	for _, r := range changes {
		delta = binary.AppendUvarint(delta, uint64(r.Index)<<8|uint64(r.Value))
	}
	return delta
}

var errRegisters = errors.New("bad registers")

// decodeRegisters reads what encodeRegisters wrote, without the tag.
func decodeRegisters(body []byte) (changes []hyperloglog.Register, err error) {
	for len(body) > 0 {
		n, size := binary.Uvarint(body)
		if size <= 0 || n>>8 >= hyperloglog.Count || n&0xff > hyperloglog.MaxValue {
			return nil, errRegisters
		}
		changes = append(changes, hyperloglog.Register{Index: uint16(n >> 8), Value: uint8(n)})
		body = body[size:]
	}
	return changes, nil
}

// applyRegisters applies a delta of encodeRegisters.
func applyRegisters(st record.State, body []byte) (record.State, error) {
	changes, err := decodeRegisters(body)
	if err != nil || !st.Live() {
		return record.State{}, fmt.Errorf("%w: %w for a %s", ErrDelta, errRegisters, st.Type)
	}
	value, problem := sketchIn(st)
	if problem != "" {
		return record.State{}, fmt.Errorf("%w: registers for what is no HyperLogLog", ErrDelta)
	}
	next, _, err := hyperloglog.Add(value, changes)
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrDelta, err)
	}
	return stringOf(st, next), nil
}
