package notify

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/quolldb/quoll/internal/database"
)

// mark begins a reply with events before it. No RESP begins so.
const mark = "?EVENTS"

// MaxList bounds the bytes of the events of one execution. What a script does beyond it is not told.
const MaxList = 32 << 20

// List is the events of one execution of a command, or of several together, in their order. The nil List takes none. The zero List asks for none.
type List struct {
	// Wanted are the classes that it takes.
	Wanted Class
	encoded
}

type encoded []byte

// Event is what happened to a key.
type Event struct {
	Class Class
	Name  []byte
	// Key is named as its database keeps it.
	Key []byte
}

// Add adds an event, of a class that is wanted. The key, named as its database keeps it, is copied. There are none of keys that are Quoll's own.
func (l *List) Add(class Class, name string, key []byte) {
	if l == nil || l.Wanted&class == 0 || database.Own(key) || len(l.encoded)+len(name)+len(key) > MaxList {
		return
	}
	l.encoded = binary.AppendUvarint(l.encoded, uint64(class))
	l.encoded = append(binary.AppendUvarint(l.encoded, uint64(len(name))), name...)
	l.encoded = append(binary.AppendUvarint(l.encoded, uint64(len(key))), key...)
}

// Len is a place in the list: its end now.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return len(l.encoded)
}

// Cut takes out what was added after a place.
func (l *List) Cut(from int) {
	if l != nil {
		l.encoded = l.encoded[:from]
	}
}

// Swap puts what was added after the second of two places before what was added between them.
func (l *List) Swap(first, second int) {
	if l == nil {
		return
	}
	between := bytes.Clone(l.encoded[first:second])
	l.encoded = append(append(l.encoded[:first], l.encoded[second:]...), between...)
}

// Before puts the list, unless it is empty, before the reply that begins at start in dst.
func (l *List) Before(dst []byte, start int) []byte {
	if l.Len() == 0 {
		return dst
	}
	head := binary.AppendUvarint([]byte(mark), uint64(len(l.encoded)))
	return slices.Insert(slices.Insert(dst, start, l.encoded...), start, head...)
}

// Cut is the reverse of List.Before: it returns the events before a reply, none if there are none, and the reply. Both are views.
func Cut(all []byte) (events, reply []byte) {
	if len(all) == 0 || all[0] != mark[0] {
		return nil, all
	}
	rest, ok := bytes.CutPrefix(all, []byte(mark))
	if !ok {
		return nil, all
	}
	n, size := binary.Uvarint(rest)
	if size <= 0 || n > uint64(len(rest)-size) {
		return nil, all
	}
	return rest[size : size+int(n)], rest[size+int(n):]
}

// Events goes through the events that Cut has returned. They are views.
func Events(events []byte) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for len(events) > 0 {
			class, size := binary.Uvarint(events)
			if size <= 0 {
				return
			}
			e := Event{Class: Class(class)}
			var ok bool
			if e.Name, events, ok = cutText(events[size:]); !ok {
				return
			}
			if e.Key, events, ok = cutText(events); !ok || !yield(e) {
				return
			}
		}
	}
}

// cutText takes a text away that its length precedes.
func cutText(all []byte) (text, rest []byte, ok bool) {
	n, size := binary.Uvarint(all)
	if size <= 0 || n > uint64(len(all)-size) {
		return nil, nil, false
	}
	return all[size : size+int(n)], all[size+int(n):], true
}
