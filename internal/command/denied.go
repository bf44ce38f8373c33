package command

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// denied begins the reply to a batch with Rules of which scripts were denied commands. As with missingKeys no RESP begins so.
const denied = "?DENIED"

// maxDenials and maxDeniedObject bound what is told of denials: how many, and how many bytes of each object.
const (
	maxDenials      = 32
	maxDeniedObject = 1024
)

// Denial is a command that a script was denied.
type Denial struct {
	// Reason is an acl.Denial. Object is the command, the key or the channel that the user has no permission for, or its beginning.
	Reason uint8
	Object []byte
}

// DenialList is what the scripts of a batch were denied, as it travels before its reply. The zero list is empty.
type DenialList struct{ list []Denial }

// Add adds a denial. The object is copied. When there are many of them the rest is not kept.
func (l *DenialList) Add(reason uint8, object []byte) {
	if len(l.list) < maxDenials {
		l.list = append(l.list, Denial{reason, bytes.Clone(object[:min(len(object), maxDeniedObject)])})
	}
}

// Before puts the list, unless it is empty, before the reply that begins at start in dst.
func (l *DenialList) Before(dst []byte, start int) []byte {
	if len(l.list) == 0 {
		return dst
	}
	head := binary.AppendUvarint([]byte(denied), uint64(len(l.list)))
	for _, d := range l.list {
		head = append(head, d.Reason)
		head = append(binary.AppendUvarint(head, uint64(len(d.Object))), d.Object...)
	}
	return slices.Insert(dst, start, head...)
}

// Denials is the reverse of DenialList.Before: it returns the denials before a reply, none if there are none, and the reply. They are views of it.
func Denials(all []byte) (list []Denial, reply []byte) {
	rest, ok := bytes.CutPrefix(all, []byte(denied))
	if !ok {
		return nil, all
	}
	n, rest, ok := cutNumber(rest)
	for ; ok && n > 0; n-- {
		if ok = len(rest) > 0; !ok {
			break
		}
		d := Denial{Reason: rest[0]}
		if d.Object, rest, ok = cutText(rest[1:]); ok {
			list = append(list, d)
		}
	}
	if !ok {
		return nil, all
	}
	return list, rest
}
