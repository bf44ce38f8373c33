package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/database"
)

// called begins the reply to a batch that is Shown and of which scripts have called commands. As with missingKeys no RESP begins so.
const called = "?CALLED"

// MaxCalled bounds the bytes of what is told of the commands that the scripts of a batch call. The first one that does not fit, and all behind it, are only counted.
const MaxCalled = 256 << 10

// CallList is the commands that the scripts of a batch call, in their order, as they travel before its reply. The nil list takes none, the zero one is empty.
type CallList struct {
	encoded []byte
	kept    int
	more    int       // calls that are only counted,
	first   [2]uint64 // and where the first of them was: At and Database
}

// Call is a command that a script has called.
type Call struct {
	// At is which of the commands of the batch runs the script, and Database the number of that in which the call was executed.
	At, Database int
	// Args are as the script has written them. Behind those that are told one stands for the rest: its only argument says how many these are.
	Args [][]byte
}

// Add adds a call. The arguments are copied.
func (l *CallList) Add(at, number int, args [][]byte) {
	if l == nil {
		return
	}
	size := 3 * binary.MaxVarintLen32
	for _, arg := range args {
		size += binary.MaxVarintLen32 + len(arg)
	}
	if l.more > 0 || len(l.encoded)+size > MaxCalled {
		if l.more++; l.more == 1 {
			l.first = [2]uint64{uint64(at), uint64(number)}
		}
		return
	}
	l.kept++
	l.encoded = appendCall(l.encoded, uint64(at), uint64(number), args)
}

func appendCall(dst []byte, at, number uint64, args [][]byte) []byte {
	for _, n := range []uint64{at, number, uint64(len(args))} {
		dst = binary.AppendUvarint(dst, n)
	}
	for _, arg := range args {
		dst = append(binary.AppendUvarint(dst, uint64(len(arg))), arg...)
	}
	return dst
}

// Before puts the list, unless it is empty, before the reply that begins at start in dst.
func (l *CallList) Before(dst []byte, start int) []byte {
	if l == nil || l.kept+l.more == 0 {
		return dst
	}
	calls, list := l.kept, l.encoded
	if l.more > 0 {
		calls++
		list = appendCall(list, l.first[0], l.first[1], [][]byte{fmt.Appendf(nil, "... (%d more commands)", l.more)})
	}
	head := binary.AppendUvarint([]byte(called), uint64(calls))
	return slices.Insert(dst, start, append(head, list...)...)
}

// Calls is the reverse of CallList.Before: it returns the calls before a reply, none if there are none, and the reply. They are views of it.
func Calls(all []byte) (calls []Call, reply []byte) {
	rest, ok := bytes.CutPrefix(all, []byte(called))
	if !ok {
		return nil, all
	}
	n, rest, ok := cutNumber(rest)
	for ; ok && n > 0; n-- {
		var c Call
		if c, rest, ok = cutCall(rest); ok {
			calls = append(calls, c)
		}
	}
	if !ok {
		return nil, all
	}
	return calls, rest
}

func cutCall(all []byte) (c Call, rest []byte, ok bool) {
	var head [3]uint64
	rest = all
	for i := range head {
		if head[i], rest, ok = cutNumber(rest); !ok {
			return c, nil, false
		}
	}
	if head[0] > MaxCalled || head[1] >= database.Count || head[2] > uint64(len(rest)) {
		return c, nil, false
	}
	c = Call{At: int(head[0]), Database: int(head[1]), Args: make([][]byte, head[2])}
	for i := range c.Args {
		if c.Args[i], rest, ok = cutText(rest); !ok {
			return c, nil, false
		}
	}
	return c, rest, true
}
