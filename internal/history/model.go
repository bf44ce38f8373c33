package history

import (
	"strconv"

	"github.com/anishathalye/porcupine"
)

// Kind is what a command does, as the Redis command of that name.
type Kind string

// The commands that the model knows.
const (
	Get    Kind = "GET"
	Set    Kind = "SET"
	SetNX  Kind = "SETNX"
	GetSet Kind = "GETSET"
	Append Kind = "APPEND"
	Incr   Kind = "INCR"
	Del    Kind = "DEL"
)

// Command is one command on one key. Arg is the value of Set, SetNX, GetSet and
// Append; values that are unique in the history make the check sharp.
type Command struct {
	Kind     Kind
	Key, Arg string
}

// Replies that are not values.
const (
	Nil        = "(nil)"
	NotInteger = "ERR value is not an integer or out of range"

	unknown = "?"
)

// state is a key's: absent, or a string.
type state struct {
	live  bool
	value string
}

// apply is what a command means.
func apply(st state, c Command) (next state, reply string) {
	old := Nil
	if st.live {
		old = st.value
	}
	switch c.Kind {
	case Get:
		return st, old
	case Set:
		return state{true, c.Arg}, "OK"
	case GetSet:
		return state{true, c.Arg}, old
	case SetNX:
		if st.live {
			return st, "0"
		}
		return state{true, c.Arg}, "1"
	case Append:
		next = state{true, st.value + c.Arg}
		return next, strconv.Itoa(len(next.value))
	case Incr:
		return increment(st)
	case Del:
		if st.live {
			return state{}, "1"
		}
		return state{}, "0"
	}
	panic("history: unknown command " + string(c.Kind))
}

func increment(st state) (state, string) {
	n := int64(0)
	if st.live {
		var err error
		n, err = strconv.ParseInt(st.value, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != st.value { // Redis takes canonical numbers only
			return st, NotInteger
		}
	}
	reply := strconv.FormatInt(n+1, 10)
	return state{true, reply}, reply
}

// register is the model of one key.
var register = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(current, input, output any) (bool, any) {
		next, reply := apply(current.(state), input.(Command))
		return output == unknown || output == reply, next
	},
	Equal: func(a, b any) bool { return a == b },
}
