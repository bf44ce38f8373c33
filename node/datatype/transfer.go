package datatype

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// dumpFormat is the first byte of a dumped state. A new format gets a new number.
const dumpFormat = 1

// errDump is the fault of a blob that is not a dumped state.
var errDump = errors.New("datatype: not a dumped state")

// dumpState serves the internal DumpState: the whole state as an opaque bulk, null if
// the key is absent.
func dumpState(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	if st.Size() > maxReply {
		return refuse(dst, errMuchReply)
	}
	return resp.AppendBulk(dst, encodeState(st)), noEffect
}

// sizeState serves the internal SizeState: how many bytes the value is, as it is sent and stored, null if the key is absent. What it takes in
// memory depends on its form, which is not the same on all replicas.
func sizeState(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	return resp.AppendInt(dst, int64(st.Size())), noEffect
}

// restoreState serves the internal RestoreState key blob [REPLACE]: 1, or 0 if the key
// exists and is not to be replaced.
func restoreState(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	if len(req.Args) == 4 && !isWord(req.Args[3], "replace") {
		return refuse(dst, errSyntax)
	}
	restored, err := decodeState(req.Args[2])
	if err != nil {
		return refuse(dst, errBadDump)
	}
	if st.Live() && len(req.Args) < 4 {
		return appendBool(dst, false), noEffect
	}
	return appendBool(dst, true), replaced(restored, now)
}

// encodeState writes a live state as format, type, expiry (a uvarint) and value.
func encodeState(st record.State) []byte {
	blob := make([]byte, 0, 2+binary.MaxVarintLen64+st.Size())
	blob = append(blob, dumpFormat, byte(st.Type))
	blob = binary.AppendUvarint(blob, uint64(st.ExpireAt))
	if st.Object != nil {
		return st.Object.AppendTo(blob)
	}
	return buffer.Append(blob, st.Value)
}

// decodeState reads what encodeState wrote. The value is a copy.
func decodeState(blob []byte) (record.State, error) {
	if len(blob) < 2 || blob[0] != dumpFormat {
		return record.State{}, errDump
	}
	at, size := binary.Uvarint(blob[2:])
	if size <= 0 || at > math.MaxInt64 || len(blob)-2-size > MaxValueLen {
		return record.State{}, errDump
	}
	st := record.State{Type: record.Type(blob[1]), ExpireAt: int64(at), Value: blob[2+size:]}
	if live, ok := Live(st); ok { // which a hash that is not valid has not
		return live, nil
	}
	if v := verbsOf(st.Type); v == nil || !v.valid(st.Value) {
		return record.State{}, errDump
	}
	st.Value = buffer.Clone(st.Value)
	return st, nil
}
