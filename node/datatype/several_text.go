package datatype

import (
	"encoding/binary"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/hyperloglog"
	"github.com/quolldb/quoll/internal/lcs"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// strings returns what some keys hold, nothing for one that is not there. It reports false if one of them holds something else than a string.
func (k *Keyspace) strings(keys [][]byte) (values [][]byte, ok bool) {
	values = make([][]byte, len(keys))
	for i, key := range keys {
		st := k.read(key)
		if holdsOther(st, record.String) {
			return nil, false
		}
		t := textIn(st)
		values[i] = t.slice(0, t.size())
	}
	return values, true
}

// lcsOf serves LCS.
func lcsOf(k *Keyspace, dst []byte, req *command.Request) []byte {
	values, ok := k.strings(req.Args[1:3])
	if !ok {
		return resp.AppendError(dst, errNotStrings)
	}
	return lcs.LCS(dst, values[0], values[1], req.Args[3:], req.RESP3)
}

// bitOp serves BITOP operation destination key [key ...].
func bitOp(k *Keyspace, dst []byte, req *command.Request) []byte {
	var of func(a, b uint64) uint64
	not := isWord(req.Args[1], "not")
	switch name := req.Args[1]; {
	case isWord(name, "and"):
		of = func(a, b uint64) uint64 { return a & b }
	case isWord(name, "or"):
		of = func(a, b uint64) uint64 { return a | b }
	case isWord(name, "xor"):
		of = func(a, b uint64) uint64 { return a ^ b }
	case not && len(req.Args) > 4:
		return resp.AppendError(dst, errManyNot)
	case !not:
		return resp.AppendError(dst, errSyntax)
	}
	values, ok := k.strings(req.Args[3:])
	if !ok {
		return resp.AppendError(dst, errWrongType)
	}
	size := 0
	for _, value := range values {
		size = max(size, len(value))
	}
	var st record.State
	if size > 0 {
		result := resized(values[0], size)
		if not {
			combine(result, nil, func(a, _ uint64) uint64 { return ^a })
		}
		for _, value := range values[1:] {
			combine(result, value, of)
		}
		st = record.State{Type: record.String, Value: result}
	}
	k.store(req.Args[2], st, req, notify.String, "set")
	return resp.AppendInt(dst, int64(size))
}

// combine makes each byte of a value what a function, which works bit by bit, makes of it and of that of another value, which has zeros at its end if it is shorter, and is no
// longer.
func combine(value, with []byte, of func(a, b uint64) uint64) {
	const word = 8
	for ; len(value) >= word && len(with) >= word; value, with = value[word:], with[word:] {
		binary.LittleEndian.PutUint64(value, of(binary.LittleEndian.Uint64(value), binary.LittleEndian.Uint64(with)))
	}
	for i := range value {
		var b byte
		if i < len(with) {
			b = with[i]
		}
		value[i] = byte(of(uint64(value[i]), uint64(b)))
	}
}

// registers returns the registers of HyperLogLogs put together, and whether one of them is dense.
func (k *Keyspace) registers(keys [][]byte) (all *hyperloglog.Registers, dense bool, problem string) {
	all = new(hyperloglog.Registers)
	for _, key := range keys {
		st := k.read(key)
		if !st.Live() {
			continue
		}
		value, problem := sketchIn(st)
		if problem != "" {
			return nil, false, problem
		}
		if all.Merge(value) != nil {
			return nil, false, errCorruptSketch
		}
		dense = dense || hyperloglog.Dense(value)
	}
	return all, dense, ""
}

// pfCountAll serves PFCOUNT.
func pfCountAll(k *Keyspace, dst []byte, req *command.Request) []byte {
	if len(req.Args) == 2 { // the value keeps the estimate
		return k.on(dst, req)
	}
	all, _, problem := k.registers(req.Args[1:])
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	return resp.AppendInt(dst, int64(all.Estimate()))
}

// pfMergeAll serves PFMERGE. The destination is one of the sources.
func pfMergeAll(k *Keyspace, dst []byte, req *command.Request) []byte {
	all, dense, problem := k.registers(req.Args[1:])
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	st, value := k.get(req.Args[1]), hyperloglog.New()
	if st.Live() {
		value, _ = sketchIn(st) // it is one: its registers are among all
	}
	next, err := all.Into(value, dense)
	if err != nil {
		return resp.AppendError(dst, errCorruptSketch)
	}
	k.store(req.Args[1], stringOf(st, buffer.Clone(next)), req, notify.String, "pfadd")
	return append(dst, resp.OK...)
}
