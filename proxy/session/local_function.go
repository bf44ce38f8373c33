package session

import (
	"bytes"
	"errors"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/rdb"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

// functionCommand is FUNCTION.
var functionCommand = container{"FUNCTION", []subcommand{
	{"LOAD", -3, functionLoad, []string{"LOAD [REPLACE] <FUNCTION CODE>", "Keep a library of functions in the cluster."}},
	{"DELETE", 3, functionDelete, []string{"DELETE <LIBRARY NAME>", "Delete a library of the cluster."}},
	{"LIST", -2, functionList, []string{"LIST [LIBRARYNAME PATTERN] [WITHCODE]", "Return the libraries of the cluster, with their functions."}},
	{"STATS", 2, functionStats, []string{"STATS", "Return how many libraries and functions there are."}},
	{"KILL", 2, scriptKill, []string{"KILL", "Return an error: nodes end functions that run for too long by themselves."}},
	{"FLUSH", -2, functionFlush, []string{"FLUSH [ASYNC|SYNC]", "Delete all libraries of the cluster. Both modes are the same."}},
	{"DUMP", 2, functionDump, []string{"DUMP", "Return all libraries in the form that FUNCTION RESTORE takes, here and in Redis."}},
	{"RESTORE", -3, functionRestore, []string{"RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]", "Keep the libraries of a payload, beside those that there are (APPEND, the default),",
		"instead of them (FLUSH), or in the places of those with the same names (REPLACE)."}},
}}

// Errors of FUNCTION, in Redis' words.
var (
	errNoLibrary     = route.Refuse("ERR Library not found")
	errFunctionFlush = route.Refuse("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
	errNoPattern     = route.Refuse("ERR library name argument was not given")
	errPolicy        = route.Refuse("ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.")
	errPayload       = route.Refuse("ERR DUMP payload version or checksum are wrong")
)

// functionLoad is FUNCTION LOAD [REPLACE] code.
func functionLoad(s *Session, dst []byte, args [][]byte) []byte {
	replace := false
	for _, option := range args[2 : len(args)-1] {
		if !is(option, "REPLACE") {
			return route.AppendReply(dst, route.Refuse("ERR Unknown option given: "+line(option)))
		}
		replace = true
	}
	code := args[len(args)-1]
	name, _, problem := function.Metadata(code)
	if problem != "" {
		return route.AppendReply(dst, route.Refuse(line([]byte(problem))))
	}
	var l *function.Library
	err := s.changeFunctions(func(have *function.Set) (*function.Set, error) {
		if have.Library(name) != nil && !replace {
			return nil, function.ErrExists(name)
		}
		var err error
		if l == nil {
			if l, err = s.registered(name, code); err != nil {
				return nil, err
			}
		}
		return have.With(l)
	})
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendBulk(dst, name)
}

// line returns a text as errors of Redis have it: up to a NUL, and on one line.
func line(text []byte) string {
	text, _, _ = bytes.Cut(text, []byte{0})
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(string(text))
}

// registered has a node find out what a library registers. The error says what is wrong with it.
func (s *Session) registered(name string, code []byte) (*function.Library, error) {
	check := command.Batch{Commands: []command.Request{{Op: command.OpFunction, Args: [][]byte{[]byte("FUNCTION"), []byte("LOAD"), code}}}}
	op := s.execute(check.Request([]byte(name), false), false)
	if op.Reply[0] == '-' {
		return nil, route.Refuse(string(errorText(op.Reply)))
	}
	described, rest, err := function.ParseDescription(bulkValue(op.Reply))
	if err != nil || len(rest) > 0 {
		return nil, errLibraries
	}
	return &function.Library{Name: name, Code: bytes.Clone(code), Functions: described}, nil
}

// functionDelete is FUNCTION DELETE library.
func functionDelete(s *Session, dst []byte, args [][]byte) []byte {
	err := s.changeFunctions(func(have *function.Set) (*function.Set, error) {
		if have.Library(string(args[2])) == nil {
			return nil, errNoLibrary
		}
		return have.Without(string(args[2])), nil
	})
	return appendDone(dst, err)
}

// functionFlush is FUNCTION FLUSH [ASYNC|SYNC].
func functionFlush(s *Session, dst []byte, args [][]byte) []byte {
	switch {
	case len(args) > 3:
		return route.AppendReply(dst, misused("FUNCTION", args))
	case len(args) == 3 && !is(args[2], "ASYNC") && !is(args[2], "SYNC"):
		return route.AppendReply(dst, errFunctionFlush)
	}
	return appendDone(dst, s.changeFunctions(func(*function.Set) (*function.Set, error) { return nil, nil }))
}

func appendDone(dst []byte, err error) []byte {
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

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

// functionList is FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE].
func functionList(s *Session, dst []byte, args [][]byte) []byte {
	var pattern []byte
	withCode := false
	for i := 2; i < len(args); i++ {
		switch {
		case !withCode && is(args[i], "WITHCODE"):
			withCode = true
		case pattern == nil && is(args[i], "LIBRARYNAME"):
			if i++; i == len(args) {
				return route.AppendReply(dst, errNoPattern)
			}
			pattern = bytes.ToLower(append([]byte{}, args[i]...))
		default:
			return route.AppendReply(dst, route.Refuse("ERR Unknown argument "+line(args[i])))
		}
	}
	set, err := s.functions()
	if err != nil {
		return route.AppendReply(dst, err)
	}
	var shown []*function.Library
	for _, l := range set.Libraries() {
		if pattern == nil || scan.Match(pattern, bytes.ToLower([]byte(l.Name))) {
			shown = append(shown, l)
		}
	}
	dst = resp.AppendArray(dst, len(shown))
	for _, l := range shown {
		dst = s.appendLibrary(dst, l, withCode)
	}
	return dst
}

func (s *Session) appendLibrary(dst []byte, l *function.Library, withCode bool) []byte {
	fields := 3
	if withCode {
		fields++
	}
	dst = resp.AppendMap(dst, fields, s.resp3)
	dst = resp.AppendBulk(resp.AppendBulk(dst, "library_name"), l.Name)
	dst = resp.AppendBulk(resp.AppendBulk(dst, "engine"), "LUA")
	dst = resp.AppendArray(resp.AppendBulk(dst, "functions"), len(l.Functions))
	for i := range l.Functions {
		f := &l.Functions[i]
		dst = resp.AppendMap(dst, 3, s.resp3)
		dst = resp.AppendBulk(resp.AppendBulk(dst, "name"), f.Name)
		dst = resp.AppendBulk(dst, "description")
		if f.Described {
			dst = resp.AppendBulk(dst, f.Description)
		} else {
			dst = resp.AppendNull(dst, s.resp3)
		}
		flags := f.Flags.Strings()
		dst = resp.AppendSet(resp.AppendBulk(dst, "flags"), len(flags), s.resp3)
		for _, flag := range flags {
			dst = resp.AppendSimple(dst, flag)
		}
	}
	if withCode {
		dst = resp.AppendBulk(resp.AppendBulk(dst, "library_code"), l.Code)
	}
	return dst
}

// functionStats is FUNCTION STATS.
func functionStats(s *Session, dst []byte, _ [][]byte) []byte {
	set, err := s.functions()
	if err != nil {
		return route.AppendReply(dst, err)
	}
	libraries, functions := set.Counts()
	dst = resp.AppendMap(dst, 2, s.resp3)
	dst = resp.AppendNull(resp.AppendBulk(dst, "running_script"), s.resp3)
	dst = resp.AppendMap(resp.AppendBulk(dst, "engines"), 1, s.resp3)
	dst = resp.AppendMap(resp.AppendBulk(dst, "LUA"), 2, s.resp3)
	dst = resp.AppendInt(resp.AppendBulk(dst, "libraries_count"), int64(libraries))
	return resp.AppendInt(resp.AppendBulk(dst, "functions_count"), int64(functions))
}
