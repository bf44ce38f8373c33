package session

import (
	"bytes"

	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

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
	dst = s.appendRunning(resp.AppendBulk(dst, "running_script"), s.longestFunction())
	dst = resp.AppendMap(resp.AppendBulk(dst, "engines"), 1, s.resp3)
	dst = resp.AppendMap(resp.AppendBulk(dst, "LUA"), 2, s.resp3)
	dst = resp.AppendInt(resp.AppendBulk(dst, "libraries_count"), int64(libraries))
	return resp.AppendInt(resp.AppendBulk(dst, "functions_count"), int64(functions))
}

// longestFunction returns the function that has been running for the longest time, nil if none takes long.
func (s *Session) longestFunction() (longest *protocol.RunningScript) {
	running, _ := s.service.cluster.Scripts(s.conn.Server().Context(), protocol.ScriptsRequest{})
	for i := range running {
		if one := &running[i]; one.Function != "" && (longest == nil || one.Since > longest.Since) {
			longest = one
		}
	}
	return longest
}

// appendRunning appends what FUNCTION STATS says of a function that is running, which may be nil.
func (s *Session) appendRunning(dst []byte, one *protocol.RunningScript) []byte {
	if one == nil {
		return resp.AppendNull(dst, s.resp3)
	}
	dst = resp.AppendMap(dst, 3, s.resp3)
	dst = resp.AppendBulk(resp.AppendBulk(dst, "name"), one.Function)
	dst = resp.AppendArray(resp.AppendBulk(dst, "command"), len(one.Command))
	for _, arg := range one.Command {
		dst = resp.AppendBulk(dst, arg)
	}
	return resp.AppendInt(resp.AppendBulk(dst, "duration_ms"), one.Since.Milliseconds())
}
