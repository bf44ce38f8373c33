package sim

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// cmd is a client's command: its name as in commands, its key ("" for flush) and
// what follows, which is unique in the history if it is a value.
type cmd struct {
	Name, Key, Arg string
	Slot           uint16
	TTL            int64
}

// String shows the command as clients write it.
func (c cmd) String() string {
	switch c.Name {
	case "flush":
		return fmt.Sprint("flush slot ", c.Slot)
	case "setex":
		return fmt.Sprint("setex ", c.Key, " ", c.TTL, " ", c.Arg)
	case "get", "del", "persist", "mget", "mdel", "rename":
		return c.Name + " " + c.Key
	}
	return c.Name + " " + c.Key + " " + c.Arg
}

// value is the value that the command gives the key or, last, a field.
func (c cmd) value() string { return c.Arg[strings.LastIndexByte(c.Arg, ' ')+1:] }

// reads reports whether the command changes nothing, and so may be a quorum read.
func (c cmd) reads() bool {
	switch c.Name {
	case "get", "hget", "hmget", "hgetall":
		return true
	}
	return false
}

// placed is a database that is placed together, in slot 1.
const placed = database.ID(database.Count + 1)

// keys are the keys that clients use, with the slots that they are in and how often
// they are used, in percent. Those of slot 1 are all that there are of a database.
var keys = []struct {
	name   string
	slot   uint16
	weight int
}{{"a", 0, 40}, {"b", 0, 15}, {string(placed.Key([]byte("c"))), 1, 30}, {string(placed.Key([]byte("d"))), 1, 15}}

// keysIn returns those of a slot.
func keysIn(slot uint16) (names []string) {
	for _, key := range keys {
		if key.slot == slot {
			names = append(names, key.name)
		}
	}
	return names
}

func (s *Sim) randomCommand() cmd {
	s.token++
	c := cmd{Name: s.weather.mix.pick(s.rand.IntN(100)), Arg: fmt.Sprintf("%d.", s.token)}
	x := s.rand.IntN(100)
	for _, key := range keys {
		if x -= key.weight; x < 0 {
			c.Key, c.Slot = key.name, key.slot
			break
		}
	}
	switch {
	case c.Name == "setex":
		c.TTL = int64(15 + s.rand.IntN(60))
	case c.Name == "flush":
		c.Key = ""
	case c.several():
		c.Key = s.keysTogether(c.Slot)
		if c.whole() && c.Slot != 1 {
			c.Name = "mget"
		}
	case c.onHash():
		c.Arg = s.hashArg(c.Name)
	}
	return c
}

// ops gives each toy command a number of the real table; only flush is treated by
// the register in a way of its own. SETEX is written so that command.Blind knows it.
var ops = map[string]command.Op{
	"get": command.OpGet, "set": command.OpSet, "setex": command.OpPSetEX, "append": command.OpAppend,
	"setnx": command.OpSetNX, "persist": command.OpPersist, "del": command.OpDel, "getset": command.OpGetSet,
	"flush": command.OpClear, "repair": 1 << 15, "evict": 1<<15 + 1,
}

func (c cmd) request() *command.Request {
	if c.onHash() {
		return c.hashRequest()
	}
	args := [][]byte{[]byte(c.Name), []byte(c.Key), []byte(c.Arg)}
	if c.Name == "setex" {
		args = [][]byte{[]byte("psetex"), []byte(c.Key), fmt.Append(nil, c.TTL), []byte(c.Arg)}
	}
	return &command.Request{Op: ops[c.Name], Args: args}
}

func parse(req *command.Request) cmd {
	c := cmd{Name: string(req.Args[0]), Key: string(req.Args[1]), Arg: string(req.Args[2])}
	if c.Name == "psetex" {
		c.Name, c.Arg = "setex", string(req.Args[3])
		_, _ = fmt.Sscan(string(req.Args[2]), &c.TTL)
	}
	return c
}

// apply is the deterministic meaning of a toy command, shared by the register and the
// model. now is added to relative expiries.
func apply(st record.State, c cmd, now int64) (record.State, string) {
	if st.Type == record.Hash && (c.Name == "get" || c.Name == "getset" || c.Name == "append") {
		return st, wrongType
	}
	str := func(value string) record.State {
		return record.State{Type: record.String, Value: []byte(value)}
	}
	switch c.Name {
	case "get", "repair":
		return st, show(st)
	case "set":
		return str(c.Arg), "ok"
	case "setex":
		next := str(c.Arg)
		next.ExpireAt = now + c.TTL
		return next, "ok"
	case "getset":
		return str(c.Arg), show(st)
	case "append":
		next := str(string(st.Value) + c.Arg)
		next.ExpireAt = st.ExpireAt
		return next, string(next.Value)
	case "setnx":
		if st.Live() {
			return st, "0"
		}
		return str(c.Arg), "1"
	case "persist":
		if !st.Live() || st.ExpireAt == 0 {
			return st, "0"
		}
		st.ExpireAt = 0
		return st, "1"
	case "evict": // what is there has been compared
		if !st.Live() {
			return st, kept
		}
		return record.State{}, gone
	case "del":
		if !st.Live() {
			return st, "0"
		}
		return record.State{}, "1"
	case "flush":
		return record.State{}, "ok"
	}
	panic("unknown command " + c.Name)
}

func show(st record.State) string {
	switch {
	case !st.Live():
		return "nil"
	case st.Type == record.Hash:
		reply, _ := executeHash(nil, st, cmd{Name: "hgetall"}.request(), 1)
		return string(reply)
	}
	return string(st.Value)
}

// appended is what deltas of appends begin with. Those of package datatype begin otherwise.
const appended = '+'

// execute is the register's view of commands. Appends travel as deltas, also to absent keys.
func execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	if hashOps[string(req.Args[0])] != 0 {
		return executeHash(dst, st, req, now)
	}
	c := parse(req)
	if c.Name == "evict" && req.Stale {
		return append(dst, kept...), record.Effect{}
	}
	next, reply := apply(st, c, now)
	dst = append(dst, reply...)
	unchanged := next.Live() == st.Live() && next.ExpireAt == st.ExpireAt && string(next.Value) == string(st.Value)
	switch {
	case c.Name == "append" && reply != wrongType:
		return dst, record.Effect{Kind: record.Changed, State: next, Delta: append([]byte{appended}, c.Arg...)}
	case c.Name == "repair":
		return dst, record.Effect{Kind: record.Replaced, State: st}
	case reply == wrongType, unchanged && c.Name != "set" && c.Name != "setex" && c.Name != "getset":
		return dst, record.Effect{}
	}
	return dst, record.Effect{Kind: record.Replaced, State: next}
}

func applyDelta(st record.State, delta []byte) (record.State, error) {
	if len(delta) == 0 || delta[0] != appended {
		return datatype.Apply(st, delta)
	}
	st.Type = record.String
	st.Value = append(append([]byte(nil), st.Value...), delta[1:]...)
	return st, nil
}

// meaning is what any command means to the model.
func meaning(st record.State, c cmd, now int64) (record.State, string) {
	if c.onHash() {
		return applyHash(st, c, now)
	}
	return apply(st, c, now)
}

// modelState is a state as the checker compares it.
type modelState struct {
	kind    record.Type
	expires bool
	value   string
}

// model is a register per key. A key with expiry may disappear at any moment, but
// a disappearance that was observed is final.
var model = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{modelState{}} },
	Step: func(state, input, output any) []any {
		starts := []modelState{state.(modelState)}
		if starts[0].expires {
			starts = append(starts, modelState{})
		}
		var result []any
		for _, start := range starts {
			st := record.State{Type: start.kind, Value: []byte(start.value)}
			if start.expires {
				st.ExpireAt = 1
			}
			c := input.(cmd)
			if c.Name == "evict" && show(st) != c.Arg { // another value than was chosen
				if output == unknown {
					result = append(result, start)
				}
				continue
			}
			next, reply := meaning(st, c, 1)
			if output == unknown || output == reply {
				result = append(result, modelState{next.Type, next.ExpireAt != 0, string(next.Value)})
			}
		}
		return result
	},
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, len(keys))
		for i, key := range keys {
			for _, op := range history {
				if c := op.Input.(cmd); c.Key == key.name || c.Key == "" && c.Slot == key.slot {
					parts[i] = append(parts[i], op)
				}
			}
		}
		return parts
	},
	Equal: func(a, b any) bool { return a == b },
}).ToModel()
