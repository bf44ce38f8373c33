package bench

import (
	"fmt"
	"strconv"
)

// A group is a few keys of one slot: the number of a key is a tag that they share.

// groupKeys is how many there are.
const groupKeys = 3

// What a transaction begins and ends with, and the beginnings of commands up to a key's length.
const (
	multiText = "*1\r\n$5\r\nMULTI\r\n"
	execText  = "*1\r\n$4\r\nEXEC\r\n"
	setText   = "*3\r\n$3\r\nSET\r\n"
	msetText  = "*7\r\n$4\r\nMSET\r\n"
)

// appendGroup appends a command that writes all keys of a group, or a transaction that does.
func (r *requests) appendGroup(dst []byte, k kind, group uint64) []byte {
	if k == exec {
		dst = append(dst, multiText...)
	} else {
		dst = append(dst, msetText...)
	}
	for i := range byte(groupKeys) {
		if k == exec {
			dst = append(dst, setText...)
		}
		dst = strconv.AppendInt(append(dst, '$'), int64(len(r.keys.frame)+len("{}a")), 10)
		dst = r.keys.append(append(dst, "\r\n{"...), group)
		dst = append(append(dst, '}', 'a'+i), r.size...)
		dst = append(r.values.append(dst, valueNumber(group, uint64(i))), "\r\n"...)
	}
	if k == exec {
		dst = append(dst, execText...)
	}
	return dst
}

// transaction takes the answers of MULTI, which is the first one, of what is queued and of EXEC. If one is an error that is the transaction's.
func (c *client) transaction(s *sent, first reply) (err error) {
	failure := ""
	look := func(r reply) {
		if r.kind == '-' && failure == "" {
			failure = string(r.text)
		}
	}
	look(first)
	last := first
	for range groupKeys + 1 {
		if last, err = c.in.next(); err != nil {
			return err
		}
		look(last)
	}
	if last.kind != '-' && (last.kind != '*' || last.n != groupKeys) {
		return fmt.Errorf("%w: EXEC was answered with %q", errNotRESP, string(last.kind)+string(last.text))
	}
	for range last.n {
		element, err := c.in.next()
		if err != nil {
			return err
		}
		look(element)
	}
	if failure != "" {
		c.recorder.failed(s.kind, 1, failure)
		return nil
	}
	c.answered(s)
	return nil
}
