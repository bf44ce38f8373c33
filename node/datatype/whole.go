package datatype

import (
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
)

// Commands on all keys of a database, of which the keyspace has all.

// HasAll says that the keys of the keyspace that are of a database are all that it has.
func (k *Keyspace) HasAll(id database.ID) { k.all, k.hasAll = id, true }

// ExecuteAll executes a command on all keys of a database (command.Command.ReadsAll), and appends its reply. If these are not known, the name that stands for them is missing.
func (k *Keyspace) ExecuteAll(dst []byte, req *command.Request, id database.ID) []byte {
	if c := command.ByOp(req.Op); c == nil || !c.ArityOK(len(req.Args)) {
		return resp.AppendError(dst, errArity(req))
	}
	if !k.hasAll || k.all != id {
		k.miss(id.All())
		return resp.AppendError(dst, errForeignKey)
	}
	switch req.Op {
	case command.OpDBSize:
		n := 0
		k.each(id, func(int, []byte) { n++ })
		return resp.AppendInt(dst, int64(n))
	case command.OpKeys:
		return k.list(dst, id, func(_ int, key []byte) bool { return scan.Match(req.Args[1], key) })
	case command.OpScan:
		return k.scan(dst, req, id)
	case command.OpRandomKey:
		return k.anyKey(dst, req, id)
	case command.OpFlushDB:
		return k.flush(dst, req, id)
	}
	return resp.AppendError(dst, errNoKeys(req))
}

// each calls visit with the keys of a database that hold something, as clients name them.
func (k *Keyspace) each(id database.ID, visit func(at int, key []byte)) {
	for at, name := range k.keys {
		if of, key := database.Split(name); of == id && k.held[at].state.Live() {
			visit(at, key)
		}
	}
}

// list appends an array of those that are wanted.
func (k *Keyspace) list(dst []byte, id database.ID, wanted func(at int, key []byte) bool) []byte {
	var keys [][]byte
	k.each(id, func(at int, key []byte) {
		if wanted(at, key) {
			keys = append(keys, key)
		}
	})
	dst = resp.AppendArray(dst, len(keys))
	for _, key := range keys {
		dst = resp.AppendBulk(dst, key)
	}
	return dst
}

// scan serves SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]. It replies all that there is from any cursor on, and that this is the end: who has begun before the batch gets some keys
// twice, as he may.
func (k *Keyspace) scan(dst []byte, req *command.Request, id database.ID) []byte {
	if _, err := scan.ParseCursor(req.Args[1]); err != nil {
		return resp.AppendError(dst, err.Error())
	}
	opts, err := scan.Parse(req.Args[2:], true)
	if err != nil {
		return resp.AppendError(dst, err.Error())
	}
	dst = resp.AppendArray(dst, 2)
	dst = resp.AppendBulk(dst, strconv.Itoa(0))
	return k.list(dst, id, func(at int, key []byte) bool {
		return opts.Matches(key) && (opts.Type == nil || isWord(opts.Type, k.held[at].state.Type.String()))
	})
}

// anyKey serves RANDOMKEY.
func (k *Keyspace) anyKey(dst []byte, req *command.Request, id database.ID) []byte {
	var keys [][]byte
	k.each(id, func(_ int, key []byte) { keys = append(keys, key) })
	if len(keys) == 0 {
		return resp.AppendNull(dst, req.RESP3)
	}
	drawn := *req
	k.lendTo(&drawn)
	return resp.AppendBulk(dst, keys[drawn.Random%uint64(len(keys))])
}

// flush serves FLUSHDB [ASYNC|SYNC].
func (k *Keyspace) flush(dst []byte, req *command.Request, id database.ID) []byte {
	if len(req.Args) > 2 || len(req.Args) == 2 && !isWord(req.Args[1], "async") && !isWord(req.Args[1], "sync") {
		return resp.AppendError(dst, errSyntax)
	}
	k.each(id, func(at int, _ []byte) { k.held[at] = holding{changed: true} })
	return append(dst, resp.OK...)
}
