package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// del serves one key of DEL and UNLINK: 1 if it was there.
func del(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	if !st.Live() {
		return appendBool(dst, false), noEffect
	}
	return appendBool(dst, true), deleted()
}

// exists serves one key of EXISTS and TOUCH: 1 if it is there.
func exists(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	return appendBool(dst, st.Live()), noEffect
}

// typeOf serves TYPE.
func typeOf(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	return resp.AppendSimple(dst, st.Type.String()), noEffect
}
