package session

import (
	"errors"

	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/rdb"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// functionDump is FUNCTION DUMP.
func functionDump(s *Session, dst []byte, _ [][]byte) []byte {
	set, err := s.functions()
	if err != nil {
		return route.AppendReply(dst, err)
	}
	var codes [][]byte
	for _, l := range set.Libraries() {
		codes = append(codes, l.Code)
	}
	return resp.AppendBulk(dst, rdb.AppendFunctions(nil, codes...))
}

// functionRestore is FUNCTION RESTORE payload [FLUSH|APPEND|REPLACE].
func functionRestore(s *Session, dst []byte, args [][]byte) []byte {
	if err := s.roomForFunctions(); err != nil {
		return route.AppendReply(dst, err)
	}
	flush, replace := false, false
	switch {
	case len(args) > 4:
		return route.AppendReply(dst, misused("FUNCTION", args))
	case len(args) == 4:
		flush, replace = is(args[3], "FLUSH"), is(args[3], "REPLACE")
		if !flush && !replace && !is(args[3], "APPEND") {
			return route.AppendReply(dst, errPolicy)
		}
	}
	restored, err := s.restored(args[2])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return appendDone(dst, s.changeFunctions(func(have *function.Set) (*function.Set, error) {
		if flush {
			return (*function.Set)(nil).With(restored...)
		}
		for _, l := range restored {
			if have.Library(l.Name) != nil && !replace {
				return nil, errors.New("ERR Library " + l.Name + " already exists")
			}
		}
		return have.With(restored...)
	}))
}

// restored returns the libraries of a payload. The error is a reply.
func (s *Session) restored(payload []byte) (all []*function.Library, err error) {
	codes, err := rdb.Functions(payload, function.MaxCode)
	switch {
	case errors.Is(err, rdb.ErrChecksum):
		return nil, errPayload
	case errors.Is(err, rdb.ErrFunction):
		return nil, route.Refuse("ERR " + rdb.ErrFunction.Error())
	case err != nil:
		return nil, route.Refuse("ERR " + err.Error())
	}
	for _, code := range codes {
		name, _, problem := function.Metadata(code)
		if problem != "" {
			return nil, route.Refuse(line([]byte(problem)))
		}
		for _, l := range all {
			if l.Name == name {
				return nil, route.Refuse(function.ErrExists(name).Error())
			}
		}
		l, err := s.registered(name, code)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}
