package datatype

import (
	"bytes"
	"io"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// rename serves RENAME.
func rename(k *Keyspace, dst []byte, req *command.Request) []byte {
	return renamed(k, dst, req, false)
}

// renameNX serves RENAMENX.
func renameNX(k *Keyspace, dst []byte, req *command.Request) []byte {
	return renamed(k, dst, req, true)
}

// renamed gives the second key the state of the first one, its expiry included, and deletes that.
func renamed(k *Keyspace, dst []byte, req *command.Request, onlyNew bool) []byte {
	from, to := req.Args[1], req.Args[2]
	st, same := k.get(from), bytes.Equal(from, to)
	switch {
	case !st.Live():
		return resp.AppendError(dst, errNoKey)
	case onlyNew && (same || k.get(to).Live()):
		return appendBool(dst, false)
	case !same:
		k.set(to, another(st), req)
		k.set(from, record.State{}, req)
		k.tellMoved(req, from, to)
	}
	if onlyNew {
		return appendBool(dst, true)
	}
	return append(dst, resp.OK...)
}

// tellMoved tells that a key has the state of another one, which is gone. As in Redis what was there before counts as deleted, and so the key is new.
func (k *Keyspace) tellMoved(req *command.Request, from, to []byte) {
	away, there := "rename_from", "rename_to"
	if req.Op == command.OpMoveKey {
		away, there = "move_from", "move_to"
	}
	k.told.Add(notify.New, "new", to)
	k.told.Add(notify.Generic, away, from)
	k.told.Add(notify.Generic, there, to)
}

// copyKey serves COPY source destination [DB number] [REPLACE], where the keys are named already as their databases keep them. The expiry is copied, too.
func copyKey(k *Keyspace, dst []byte, req *command.Request) []byte {
	replace := false
	for rest := req.Args[3:]; len(rest) > 0; rest = rest[1:] {
		switch {
		case isWord(rest[0], "replace"):
			replace = true
		case isWord(rest[0], "db") && len(rest) > 1:
			if _, problem := command.Database(rest[1]); problem != "" {
				return resp.AppendError(dst, problem)
			}
			rest = rest[1:]
		default:
			return resp.AppendError(dst, errSyntax)
		}
	}
	from, to := req.Args[1], req.Args[2]
	if bytes.Equal(from, to) {
		return resp.AppendError(dst, errSameKey)
	}
	st := k.read(from)
	if there := k.get(to); !st.Live() || there.Live() && !replace {
		return appendBool(dst, false)
	}
	k.set(to, another(st), req)
	k.told.Add(notify.New, "new", to)
	k.told.Add(notify.Generic, "copy_to", to)
	return appendBool(dst, true)
}

// moveKey serves MoveKey, which is RENAMENX but for a key that there is not.
func moveKey(k *Keyspace, dst []byte, req *command.Request) []byte {
	if !k.get(req.Args[1]).Live() {
		return appendBool(dst, false)
	}
	return renameNX(k, dst, req)
}

// another returns a state for another key. It has an object of its own: a store notes in the parts of an object where it keeps them, and that is for one key. What a batch
// writes is packed on its way anyway. It panics with record.Unreadable if the object cannot be read.
func another(st record.State) record.State {
	if st.Object == nil {
		return st.Keep()
	}
	builder, err := NewBuilder(st.Type, false, st.Size())
	if err == nil {
		_, err = io.Copy(builder, st.Reader())
	}
	if err != nil {
		panic(record.Unreadable{Err: err})
	}
	built, err := builder.State()
	if err != nil {
		panic(record.Unreadable{Err: err})
	}
	built.ExpireAt = st.ExpireAt
	return built
}
