package datatype

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// Keyspace is the keys of a batch while its commands are executed one after the other: each sees what those before it have done. It is for one goroutine.
type Keyspace struct {
	keys  [][]byte
	names map[string]int // where in keys, nil while these are few
	held  []holding
	now   int64
	lend  func(*command.Request)

	// Of the command that is being executed: what its keys held before, in the order in which it changed them, and whether it made something too long, or asked for
	// a key that is not there.
	undo             []undone
	tooLong, foreign bool
	request          command.Request // as it is executed here

	missing  [][]byte
	guessing bool

	all    database.ID // the database of which the keyspace has all keys,
	hasAll bool        // if there is one

	told    *notify.List // the events of the commands, nil if nobody wants any
	expired []bool       // which keys had expired, and is to be told,
	lapsed  []int        // and of which this command has

	bytes []byte // backs short values that commands have set
	room  keyspaceRoom
}

// keyspaceRoom is what the slices of a keyspace begin with, so that most are one piece of memory.
type keyspaceRoom struct {
	held  [4]holding
	undo  [2]undone
	bytes [256]byte
}

// fewKeys is among how many keys one is looked for in their order.
const fewKeys = 16

// holding is what a key holds, and whether a command has changed it.
type holding struct {
	state   record.State
	changed bool
	several deltaList // which make it of what the key held at first, unless there are none
}

// undone is what a key held.
type undone struct {
	at int
	holding
}

// NewKeyspace returns the keyspace of some keys, which are distinct, and of their states: the zero State for a key that is absent, or expired at now (Unix milliseconds). Both
// are borrowed for as long as it is used. lend gives a request what is the node's (MaxValue, MaxCollection, Random); it is called before each execution of a command on one
// key, and may be nil.
func NewKeyspace(keys [][]byte, states []record.State, now int64, lend func(*command.Request)) *Keyspace {
	k := &Keyspace{keys: keys[:len(keys):len(keys)], now: now, lend: lend}
	k.held, k.undo, k.bytes = k.room.held[:0], k.room.undo[:0], k.room.bytes[:0]
	for i := range keys {
		k.held = append(k.held, holding{state: states[i]})
	}
	k.index()
	return k
}

// index makes the index of the keys, if these are many.
func (k *Keyspace) index() {
	if len(k.keys) <= fewKeys {
		return
	}
	k.names = make(map[string]int, len(k.keys))
	for i, key := range k.keys {
		k.names[string(key)] = i
	}
}

// Tell has the events of all commands added to a list from now on. expired says of each key whether what it held has expired, which is told when a command looks at it.
func (k *Keyspace) Tell(events *notify.List, expired []bool) {
	k.told, k.expired = events, expired
}

// TellRest tells of the keys that have expired and that no command has looked at: they are deleted, too.
func (k *Keyspace) TellRest() {
	for at := range k.expired {
		k.lapse(at)
	}
}

// Untell takes back all events: nothing of what the commands have done is to be. The keys that expired says have expired all the same.
func (k *Keyspace) Untell(expired []bool) {
	k.told.Cut(0)
	k.expired = expired
}

// lapse tells that a key has expired, if it has and nobody has been told.
func (k *Keyspace) lapse(at int) {
	if at < len(k.expired) && k.expired[at] {
		k.expired[at] = false
		k.lapsed = append(k.lapsed, at)
		k.told.Add(notify.Expired, "expired", k.keys[at])
	}
}

// untell takes back what a command has told that is undone, but for keys that have expired, which they have. What one that is refused before it changed anything has told is true: it has looked
// for keys.
func (k *Keyspace) untell(from int) {
	k.told.Cut(from)
	for _, at := range k.lapsed {
		k.told.Add(notify.Expired, "expired", k.keys[at])
	}
}

// Execute executes a command, of one key or of several, as the client wrote it, and appends its reply to dst. A command that is refused (the reply is an error) changes
// nothing. req and its arguments are borrowed for the call, and what the keyspace keeps is not in dst; but of a request that is Owned it keeps long arguments. It panics
// as the function Execute does, after which the keyspace is of no use.
func (k *Keyspace) Execute(dst []byte, req *command.Request) []byte {
	if len(req.Args) == 0 {
		return resp.AppendError(dst, errNoKeys(req))
	}
	if c := command.ByOp(req.Op); c != nil && !c.ArityOK(len(req.Args)) {
		return resp.AppendError(dst, errArity(req))
	}
	k.request = *req
	own, start, told := &k.request, len(dst), k.told.Len()
	k.undo, k.tooLong, k.foreign, k.lapsed = k.undo[:0], false, false, k.lapsed[:0]
	if k.told != nil {
		own.Events = k.told.Wanted
	}
	if run := severalOf(req.Op); run != nil {
		k.lendTo(own)
		dst = run(k, dst, own)
	} else {
		dst = k.single(dst, own)
	}
	k.request.Args = nil
	problem := ""
	switch {
	case k.foreign:
		problem = errForeignKey
	case k.tooLong:
		problem = ErrTooLong
	case dst[start] != '-':
		return dst
	}
	for i := len(k.undo) - 1; i >= 0; i-- {
		k.held[k.undo[i].at] = k.undo[i].holding
	}
	if problem != "" || len(k.undo) > 0 {
		k.untell(told)
	}
	if problem != "" {
		dst = resp.AppendError(dst[:start], problem)
	}
	return dst
}

// Effects returns what becomes of each key, in the order of the keys: it is Unchanged, Replaced with its whole state, which is the zero State if it is deleted, or Changed, if all that commands have
// done to a long state were deltas. A Value of up to record.CopiedValue bytes is borrowed from the keyspace, a longer one may be kept, and so may a Delta.
func (k *Keyspace) Effects() []record.Effect {
	effects := make([]record.Effect, len(k.held))
	for i := range k.held {
		if h := &k.held[i]; h.changed {
			effects[i] = h.effect()
		}
	}
	return effects
}

// Guess takes keys that are not there for absent ones from now on, instead of refusing commands on them: Missing then has as many as can be found out at once. What comes of
// it is of no use if there are any.
func (k *Keyspace) Guess() { k.guessing = true }

// Index returns which of the keys one is. It panics if it is none of them.
func (k *Keyspace) Index(key []byte) int {
	at, ok := k.at(key)
	if !ok {
		panic("datatype: not a key of the keyspace")
	}
	return at
}

// Missing returns the keys that commands have asked for, and that are not among those of the keyspace: each once. Such a command was refused, or has seen an absent key. They are the caller's.
func (k *Keyspace) Missing() [][]byte { return k.missing }

// single executes a command on one key, as the function Execute does.
func (k *Keyspace) single(dst []byte, req *command.Request) []byte {
	if req.Op == command.OpObject {
		return k.object(dst, req)
	}
	if int(req.Op) >= len(operations) || operations[req.Op].run == nil || len(req.Args) < 2 {
		return resp.AppendError(dst, errNoKeys(req))
	}
	return k.on(dst, req)
}

// on executes a command on the one key that is its first argument.
func (k *Keyspace) on(dst []byte, req *command.Request) []byte {
	at, ok := k.find(req.Args[1])
	if !ok {
		return dst
	}
	k.lendTo(req)
	before, start := Look(k.held[at].state, req), len(dst)
	dst, effect := Execute(dst, k.held[at].state, req, k.now)
	if k.told != nil {
		before.Tell(k.told, req, dst[start:], &effect)
	}
	if effect.Kind != record.Unchanged {
		was := k.held[at]
		if k.put(at, k.keep(effect.Whole()), req) {
			k.held[at].follow(&was, &effect)
		}
	}
	return dst
}

// do executes another command on one key, for what a command of several does to it. It returns the error that it was refused with, nil if it was not.
func (k *Keyspace) do(req *command.Request, op command.Op, args ...[]byte) (problem []byte) {
	part := *req
	part.Op, part.Args = op, args
	if reply := k.on(nil, &part); len(reply) > 0 && reply[0] == '-' {
		return reply
	}
	return nil
}

// lendTo gives a request what is the node's.
func (k *Keyspace) lendTo(req *command.Request) {
	if k.lend != nil {
		k.lend(req)
	}
}

// find returns where a key is. If it is nowhere the command is refused.
func (k *Keyspace) find(key []byte) (at int, ok bool) {
	if at, ok = k.at(key); ok {
		k.lapse(at)
		return at, true
	}
	if k.guessing {
		return k.guess(bytes.Clone(key)), true
	}
	k.foreign = true
	k.miss(key)
	return 0, false
}

// miss notes that a key is missing, once.
func (k *Keyspace) miss(key []byte) {
	if !slices.ContainsFunc(k.missing, func(other []byte) bool { return bytes.Equal(other, key) }) {
		k.missing = append(k.missing, bytes.Clone(key))
	}
}

// at returns where a key is, if it is one of the keyspace.
func (k *Keyspace) at(key []byte) (at int, ok bool) {
	if k.names != nil {
		at, ok = k.names[string(key)]
		return at, ok
	}
	for i, other := range k.keys {
		if bytes.Equal(other, key) {
			return i, true
		}
	}
	return 0, false
}

// guess adds a key, which is kept, and returns where it is.
func (k *Keyspace) guess(key []byte) (at int) {
	at = len(k.held)
	k.keys, k.held, k.missing = append(k.keys, key), append(k.held, holding{}), append(k.missing, key)
	if k.names != nil {
		k.names[string(key)] = at
	} else {
		k.index()
	}
	return at
}

// keep is Keep, with the keyspace's memory.
func (k *Keyspace) keep(st record.State) record.State {
	if n := len(st.Value); n > 0 && n <= record.CopiedValue {
		if cap(k.bytes)-len(k.bytes) < n { // what has been overwritten goes with the memory before
			k.bytes = make([]byte, 0, max(n, record.CopiedValue))
		}
		start := len(k.bytes)
		k.bytes = append(k.bytes, st.Value...)
		st.Value = k.bytes[start:len(k.bytes):len(k.bytes)]
		return st
	}
	return st.Keep()
}

// get returns what a key holds now, nothing of one that is not there.
func (k *Keyspace) get(key []byte) record.State {
	if at, ok := k.find(key); ok {
		return k.held[at].state
	}
	return record.State{}
}

// set gives a key a whole new state, which is not borrowed; the zero State deletes it.
func (k *Keyspace) set(key []byte, st record.State, req *command.Request) {
	if at, ok := k.find(key); ok && (st.Live() || k.held[at].state.Live()) {
		k.put(at, st, req)
	}
}

// put gives a key a new state, and reports whether it has: not one that is too long. See replica.Stripe's Execute: what a command makes is mostly bounded before it is made.
func (k *Keyspace) put(at int, st record.State, req *command.Request) bool {
	if st.Expired(k.now) {
		st = record.State{}
	}
	if size := st.Size(); size > req.MaxValue && size > Longest(st.Type, req) {
		k.tooLong = true
		return false
	}
	k.undo = append(k.undo, undone{at, k.held[at]})
	k.held[at] = holding{state: st, changed: true}
	return true
}

// read is get for a command that reads: it is an event if the key is not there.
func (k *Keyspace) read(key []byte) record.State {
	st := k.get(key)
	if !st.Live() {
		k.told.Add(notify.Missed, "keymiss", key)
	}
	return st
}

// store is set for a command that stores what it has computed, which is told as an event of a class, or that the key is gone.
func (k *Keyspace) store(key []byte, st record.State, req *command.Request, class notify.Class, event string) {
	was := k.get(key).Live()
	k.set(key, st, req)
	switch {
	case st.Live() && !was:
		k.told.Add(notify.New, "new", key)
		fallthrough
	case st.Live():
		k.told.Add(class, event, key)
	case was:
		k.told.Add(notify.Generic, "del", key)
	}
}

// object serves OBJECT subcommand key.
func (k *Keyspace) object(dst []byte, req *command.Request) []byte {
	if len(req.Args) != 3 {
		return resp.AppendError(dst, "ERR wrong number of arguments for 'object|"+string(bytes.ToLower(req.Args[1]))+"' command")
	}
	part := *req
	part.Op, part.Args = command.OpObjectState, [][]byte{req.Args[0], req.Args[2], req.Args[1]}
	return k.on(dst, &part)
}

// errForeignKey is the error of a command on a key that is not among those of the keyspace.
const errForeignKey = "ERR a command is on a key that was not named before; nothing was done"

// errNoKeys is the error of what is no command on keys.
func errNoKeys(req *command.Request) string {
	return "ERR operation " + strconv.Itoa(int(req.Op)) + " is not one on keys; proxy and node may be of different versions"
}
