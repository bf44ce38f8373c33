package command

import "github.com/quolldb/quoll/internal/resp"

// streamKeys returns where the keys of XREAD and XREADGROUP begin, and how many arguments are behind STREAMS: the first half of them are the keys. An option that is not known ends the search.
func streamKeys(args [][]byte) (first, behind int) {
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case equalFold("block", arg), equalFold("count", arg):
			i++
		case equalFold("group", arg):
			i += 2
		case equalFold("noack", arg):
		case equalFold("streams", arg):
			return i + 1, len(args) - i - 1
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// StreamRead is XREAD or XREADGROUP, as a client has written it, taken apart: what it asks of each of its streams.
type StreamRead struct {
	args     [][]byte
	first, n int
}

// StreamReadOf takes an XREAD or an XREADGROUP apart. It reports false if its arguments do not say where its keys are: what is wrong is for a node to say.
func StreamReadOf(args [][]byte) (r StreamRead, ok bool) {
	first, behind := streamKeys(args)
	return StreamRead{args: args, first: first, n: behind / 2}, behind > 0 && behind%2 == 0
}

// Keys returns the keys. They are views.
func (r StreamRead) Keys() [][]byte { return r.args[r.first : r.first+r.n] }

// One returns the arguments of OpXReadKey or OpXReadGroupKey for one of the keys: the name, the key, the ID that is read from, and the options.
func (r StreamRead) One(i int) [][]byte {
	options := r.args[1 : r.first-1]
	one := make([][]byte, 0, 3+len(options))
	return append(append(one, r.args[0], r.args[r.first+i], r.args[r.first+r.n+i]), options...)
}

// Block returns for how long the command would wait for entries, as its client has written it, in milliseconds: nil if it would not.
func (r StreamRead) Block() (ms []byte) { return r.option("block") }

// Group returns the name of the group that reads, nil if there is none.
func (r StreamRead) Group() []byte { return r.option("group") }

// option returns what is behind an option, nil if it is not there.
func (r StreamRead) option(name string) (value []byte) {
	for i := 1; i < r.first-1; i++ {
		arg := r.args[i]
		if equalFold(name, arg) {
			value = r.args[i+1]
		}
		switch {
		case equalFold("count", arg), equalFold("block", arg):
			i++
		case equalFold("group", arg):
			i += 2
		}
	}
	return value
}

// ID returns the ID from which one of the streams is read. SetID replaces it.
func (r StreamRead) ID(i int) []byte { return r.args[r.first+r.n+i] }

// SetID replaces the ID from which one of the streams is read, in the arguments.
func (r StreamRead) SetID(i int, id []byte) { r.args[r.first+r.n+i] = id }

// KeyFirst returns what a node is asked for when a client calls XGROUP or XINFO on a key, which is behind the name of a subcommand: the same with the key before that name. ok is false for all
// other commands, and for what has no key.
func KeyFirst(op Op, args [][]byte) (keyed Op, first [][]byte, ok bool) {
	switch op {
	case OpXGroup:
		keyed = OpXGroupKey
	case OpXInfo:
		keyed = OpXInfoKey
	default:
		return OpNone, nil, false
	}
	if len(args) < 3 {
		return OpNone, nil, false
	}
	first = append(make([][]byte, 0, len(args)), args[0], args[2], args[1])
	return keyed, append(first, args[3:]...), true
}

// AppendStreamsRead appends the reply of an XREAD or XREADGROUP of several keys: those of the keys, each an array or a map of one stream, or null, put together.
func AppendStreamsRead(dst []byte, replies [][]byte, resp3 bool) []byte {
	const one = len("*1\r\n")
	n := 0
	for _, reply := range replies {
		if holdsStream(reply) {
			n++
		}
	}
	switch {
	case n == 0:
		return resp.AppendNullArray(dst, resp3)
	case resp3:
		dst = resp.AppendMap(dst, n, true)
	default:
		dst = resp.AppendArray(dst, n)
	}
	for _, reply := range replies {
		if holdsStream(reply) {
			dst = append(dst, reply[one:]...)
		}
	}
	return dst
}

// holdsStream reports whether a reply is not null.
func holdsStream(reply []byte) bool {
	return len(reply) > 1 && (reply[0] == '*' || reply[0] == '%') && reply[1] == '1'
}
