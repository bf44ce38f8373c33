package session

import (
	"bytes"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// functionCommand is FUNCTION.
var functionCommand = container{"FUNCTION", []subcommand{
	{"LOAD", -3, functionLoad, []string{"LOAD [REPLACE] <FUNCTION CODE>", "Keep a library of functions in the cluster."}},
	{"DELETE", 3, functionDelete, []string{"DELETE <LIBRARY NAME>", "Delete a library of the cluster."}},
	{"LIST", -2, functionList, []string{"LIST [LIBRARYNAME PATTERN] [WITHCODE]", "Return the libraries of the cluster, with their functions."}},
	{"STATS", 2, functionStats, []string{"STATS", "Return which function is being executed for the longest time, and how many libraries and functions there are."}},
	{"KILL", 2, functionKill, []string{"KILL", "End the functions that are being executed for more than a tenth of a second, on all nodes."}},
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
	if err := s.roomForFunctions(); err != nil {
		return route.AppendReply(dst, err)
	}
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
	op := s.execute(check.Request(anywhere(name), false), false)
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
