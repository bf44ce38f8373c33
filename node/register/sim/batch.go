package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// Commands on both keys of a slot, and the model of a slot.

// several reports whether the command is on several keys.
func (c cmd) several() bool {
	switch c.Name {
	case "mget", "mset", "msetnx", "mappend", "rename", "derive", "mdel", "census", "wipe":
		return true
	}
	return false
}

// single reports whether the command is on one key.
func (c cmd) single() bool { return c.Key != "" && !c.several() }

// between is between the keys of a command.
const between = "+"

// keysTogether names both keys of a slot, in either order.
func (s *Sim) keysTogether(slot uint16) string {
	names := keysIn(slot)
	if s.chance(2) {
		slices.Reverse(names)
	}
	return strings.Join(names, between)
}

// request returns the command as a home gets it.
func (o *operation) request(attempt int) *register.Request {
	born := int64(o.client.sim.now)
	switch {
	case o.scripted(): // a script of one key
		return register.NewBatch([][]byte{[]byte(o.cmd.Key)}, o.running(o.cmd.alone), o, uint64(attempt), born)
	case !o.cmd.several():
		return register.NewRequest(o.cmd.request(), o, uint64(attempt), born)
	}
	if o.cmd.whole() {
		return o.census(attempt, born)
	}
	var names [][]byte
	for name := range strings.SplitSeq(o.cmd.Key, between) {
		names = append(names, []byte(name))
	}
	return register.NewBatch(names, o.running(o.cmd.run), o, uint64(attempt), born)
}

// scripted reports whether the command is sent as a batch of its one key: every third one, but in scenarios.
func (o *operation) scripted() bool {
	s := o.client.sim
	return o.cmd.single() && ops[o.cmd.Name] < 1<<15 && s.base != "calm" && s.chance(3)
}

// running is a run, which sometimes takes long.
func (o *operation) running(run register.Run) register.Run {
	if !o.client.sim.chance(4) {
		return run
	}
	return func([]byte, []record.Record, int64) ([]byte, []record.Effect, error) {
		return nil, nil, &register.Long{With: run}
	}
}

// alone evaluates a command on one key as a batch of that.
func (c cmd) alone(dst []byte, held []record.Record, now int64) ([]byte, []record.Effect, error) {
	st := held[0].State
	if !st.Live() {
		st = record.State{}
	}
	dst, effect := execute(dst, st, c.request(), now)
	return dst, []record.Effect{effect}, nil
}

// run evaluates the command at a home.
func (c cmd) run(dst []byte, held []record.Record, _ int64) ([]byte, []record.Effect, error) {
	var states [2]record.State
	for i := range held {
		if held[i].State.Live() {
			states[i] = held[i].State
		}
	}
	next, reply := c.together(states)
	effects := make([]record.Effect, len(held))
	for i := range next {
		if identity(next[i]) != identity(states[i]) || c.Name == "mset" {
			effects[i] = record.Effect{Kind: record.Replaced, State: next[i]}
		}
	}
	return append(dst, reply...), effects, nil
}

// together is the meaning of the command.
func (c cmd) together(st [2]record.State) (next [2]record.State, reply string) {
	str := record.State{Type: record.String, Value: []byte(c.Arg)}
	next = st
	switch c.Name {
	case "mget":
		return st, show(st[0]) + between + show(st[1])
	case "mset":
		return [2]record.State{str, str}, "ok"
	case "msetnx":
		if st[0].Live() || st[1].Live() {
			return st, "0"
		}
		return [2]record.State{str, str}, "1"
	case "mappend":
		for i := range next {
			next[i].Type, next[i].Value = record.String, append(slices.Clone(st[i].Value), c.Arg...)
		}
		return next, show(next[0]) + between + show(next[1])
	case "rename":
		if !st[0].Live() {
			return st, "no such key"
		}
		return [2]record.State{{}, st[0]}, "ok"
	case "derive": // reads the one and writes the other
		next[1] = record.State{Type: record.String, Value: []byte(show(st[0]) + c.Arg)}
		return next, show(st[0])
	case "mdel":
		count := 0
		for i := range st {
			if st[i].Live() {
				count++
			}
		}
		return [2]record.State{}, fmt.Sprint(count)
	}
	switch count := 0; c.Name {
	case "census", "wipe": // reads the whole database, of which it knows one key at first
		for i := range st {
			if st[i].Live() {
				count++
			}
		}
		reply = fmt.Sprint(count)
		if c.Name == "wipe" {
			next[1] = record.State{}
		}
		next[0] = record.State{Type: record.String, Value: []byte(reply + " " + c.Arg)}
		return next, reply
	}
	panic("unknown command " + c.Name)
}

// slotModel is a register per slot, of both of its keys: see model.
var slotModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{[2]modelState{}} },
	Step: func(state, input, output any) (result []any) {
		c := input.(cmd)
		for _, start := range mayHaveExpired(state.([2]modelState)) {
			next, reply := c.meaningOf(start)
			if output == unknown || output == reply {
				result = append(result, next)
			}
		}
		return result
	},
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, slots)
		for _, op := range history {
			slot := op.Input.(cmd).Slot
			parts[slot] = append(parts[slot], op)
		}
		return parts
	},
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

// mayHaveExpired returns what a slot may hold by now.
func mayHaveExpired(start [2]modelState) [][2]modelState {
	all := [][2]modelState{start}
	for i := range start {
		if start[i].expires {
			for _, other := range slices.Clone(all) {
				other[i] = modelState{}
				all = append(all, other)
			}
		}
	}
	return all
}

// meaningOf is what any command does to a slot.
func (c cmd) meaningOf(start [2]modelState) (next [2]modelState, reply string) {
	var states [2]record.State
	for i := range start {
		states[i] = start[i].state()
	}
	first := strings.HasPrefix(c.Key, keysIn(c.Slot)[0])
	switch {
	case c.Key == "":
		states, reply = [2]record.State{}, "ok"
	case c.several() && first:
		states, reply = c.together(states)
	case c.several():
		states[0], states[1] = states[1], states[0]
		states, reply = c.together(states)
		states[0], states[1] = states[1], states[0]
	case first:
		states[0], reply = meaning(states[0], c, 1)
	default:
		states[1], reply = meaning(states[1], c, 1)
	}
	for i := range states {
		next[i] = modelState{states[i].Type, states[i].ExpireAt != 0, string(states[i].Value)}
	}
	return next, reply
}

// state is the state that the checker compares.
func (m modelState) state() record.State {
	st := record.State{Type: m.kind, Value: []byte(m.value)}
	if m.expires {
		st.ExpireAt = 1
	}
	return st
}
