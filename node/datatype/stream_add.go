package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// trimming is which entries XADD and XTRIM remove.
type trimming uint8

const (
	trimNothing trimming = iota
	trimLength           // all but the last ones
	trimIDs              // those before an ID
)

// streamOptions are what XADD has before its fields, and XTRIM behind its key.
type streamOptions struct {
	trim    trimming
	about   bool // only what is cheap to remove
	length  int64
	from    streamID
	limit   int64
	limited bool

	noStream           bool // nothing is added to a stream that is not there
	id                 streamID
	hasID, hasSequence bool
}

// Redis removes whole nodes of its tree when it may remove about as many entries as it was told (~): of 100 entries, if these are short (stream-node-max-entries), and
// at most 100 nodes unless LIMIT says something else.
const (
	trimmedTogether = 100
	trimmedUsually  = 100 * trimmedTogether
)

// parseStreamOptions reads the options of XADD, its ID included, or those of XTRIM, and returns where they end: see Redis' streamParseAddOrTrimArgsOrReply. problem is an error text, empty when all is well.
func parseStreamOptions(args [][]byte, adds bool) (o streamOptions, end int, problem string) {
	i := 2
options:
	for ; i < len(args); i++ {
		more := len(args) - 1 - i
		switch opt := args[i]; {
		case adds && string(opt) == "*":
			break options
		case (isWord(opt, "maxlen") || isWord(opt, "minid")) && more > 0:
			n, problem := o.parseTrim(args[i:])
			if problem != "" {
				return o, 0, problem
			}
			i += n
		case isWord(opt, "limit") && more > 0:
			n, ok := parseInt(args[i+1])
			switch {
			case !ok:
				return o, 0, errNotInteger
			case n < 0:
				return o, 0, "ERR The LIMIT argument must be >= 0."
			}
			o.limit, o.limited = n, true
			i++
		case adds && isWord(opt, "nomkstream"):
			o.noStream = true
		case adds:
			var ok bool
			if o.id, o.hasSequence, ok = parseNewID(opt); !ok {
				return o, 0, errStreamID
			}
			o.hasID = true
			break options
		default:
			return o, 0, errSyntax
		}
	}
	switch {
	case o.limit != 0 && o.trim == trimNothing:
		return o, 0, "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
	case !adds && o.trim == trimNothing:
		return o, 0, "ERR syntax error, XTRIM must be called with a trimming strategy"
	case o.limited && !o.about:
		return o, 0, "ERR syntax error, LIMIT cannot be used without the special ~ option"
	case !o.limited && o.about:
		o.limit = trimmedUsually
	}
	return o, i, ""
}

// parseTrim reads MAXLEN or MINID, and what is behind it, and returns how many arguments that is.
func (o *streamOptions) parseTrim(args [][]byte) (n int, problem string) {
	if o.trim != trimNothing {
		return 0, "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
	}
	n, o.about = 1, false
	if len(args) > 2 && (string(args[1]) == "~" || string(args[1]) == "=") {
		o.about = args[1][0] == '~'
		n = 2
	}
	var ok bool
	if isWord(args[0], "maxlen") {
		o.trim = trimLength
		switch o.length, ok = parseInt(args[n]); {
		case !ok:
			return 0, errNotInteger
		case o.length < 0:
			return 0, "ERR The MAXLEN argument must be >= 0."
		}
		return n, ""
	}
	o.trim = trimIDs
	if o.from, ok = parseID(args[n], 0); !ok {
		return 0, errStreamID
	}
	return n, ""
}

// run removes entries, and returns how many.
func (o *streamOptions) run(e *streamEdit) int {
	if o.trim == trimNothing {
		return 0
	}
	first := e.find(aboutEntries).rank
	n := e.count() - first
	if o.trim == trimIDs {
		n = e.find(entryKey(o.from)).rank - first
	} else {
		n = int(max(int64(n)-o.length, 0))
	}
	if o.about {
		if o.limit > 0 {
			n = int(min(int64(n), o.limit))
		}
		n = wholeHundreds(e, n)
	}
	if n == 0 {
		return 0
	}
	end := behindEntries
	if first+n < e.count() {
		end = append([]byte(nil), keyOf(e.at(first+n))...)
	}
	return e.cut(aboutEntries, end)
}

// wholeHundreds returns how many of the first n entries there are up to the end of a hundred, as they were added: where a node of Redis ends, unless some were deleted or are long.
func wholeHundreds(e *streamEdit, n int) int {
	first := e.find(aboutEntries).rank
	value, _ := e.lookup(headerKey)
	h, _ := headerIn(value)
	gone := h.added - int64(e.count()-first)
	return max(n-int((gone+int64(n))%trimmedTogether), 0)
}

// newID returns the ID that an entry gets, or why it gets none.
func (o *streamOptions) newID(last streamID, now int64) (id streamID, problem string) {
	const tooLow = "ERR The ID specified in XADD is equal or smaller than the target stream top item"
	switch {
	case last == highestID:
		return id, "ERR The stream has exhausted the last possible ID, unable to add more items"
	case !o.hasID && uint64(now) > last.ms:
		return streamID{uint64(now), 0}, ""
	case !o.hasID:
		id, _ = last.next()
		return id, ""
	case !o.hasSequence && o.id.ms == last.ms:
		if last.seq == math.MaxUint64 {
			return id, tooLow
		}
		return streamID{last.ms, last.seq + 1}, ""
	case !last.less(o.id):
		return id, tooLow
	}
	return o.id, ""
}

// xAdd serves XADD.
func xAdd(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	o, at, problem := parseStreamOptions(req.Args, true)
	if problem != "" {
		return refuse(dst, problem)
	}
	if left := len(req.Args) - at - 1; left < 2 || left%2 != 0 {
		return refuse(dst, errArity(req))
	}
	switch {
	case o.hasID && o.hasSequence && o.id.isZero():
		return refuse(dst, "ERR The ID specified in XADD must be greater than 0-0")
	case holdsOther(st, record.Stream):
		return refuse(dst, errWrongType)
	case !st.Live() && o.noStream:
		return resp.AppendNull(dst, req.RESP3), noEffect
	}
	s := streamIn(st)
	h := s.header()
	id, problem := o.newID(h.last, now)
	if problem != "" {
		return refuse(dst, problem)
	}
	pairs := req.Args[at+1:]
	size := 0
	for _, piece := range pairs {
		size += parts.LengthenedSize(len(piece))
	}
	if size > longest(req) {
		return refuse(dst, "ERR Elements are too large to be stored")
	}
	inline := make([]byte, 0, size)
	for _, piece := range pairs {
		inline = parts.AppendLengthened(inline, piece)
	}
	e := s.edit()
	if !st.Live() {
		e.put(headerKey, h.append(nil)) // schemas are behind it
	}
	e.addEntry(&h, id, inline)
	o.run(e)
	return e.run(appendID(dst, id), len(dst), st, req)
}

// xTrim serves XTRIM.
func xTrim(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	o, _, problem := parseStreamOptions(req.Args, false)
	switch {
	case problem != "":
		return refuse(dst, problem)
	case !st.Live():
		return resp.AppendInt(dst, 0), noEffect
	case st.Type != record.Stream:
		return refuse(dst, errWrongType)
	}
	e := streamIn(st).edit()
	return e.run(resp.AppendInt(dst, int64(o.run(e))), len(dst), st, req)
}
