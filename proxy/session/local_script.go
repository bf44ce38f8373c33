package session

import (
	"bytes"
	"errors"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// scriptCommand is SCRIPT.
var scriptCommand = container{"SCRIPT", []subcommand{
	{"EXISTS", -3, scriptExists, []string{"EXISTS <sha1> [<sha1> ...]", "Return information about the existence of the scripts in the cluster."}},
	{"FLUSH", -2, scriptFlush, []string{"FLUSH [ASYNC|SYNC]", "Remove all scripts of the cluster. Both modes are the same."}},
	{"KILL", 2, scriptKill, []string{"KILL", "End the scripts that are being executed for more than a tenth of a second, on all nodes."}},
	{"LOAD", 3, scriptLoad, []string{"LOAD <script>", "Keep a script in the cluster, without executing it."}},
}}

// scriptExists is SCRIPT EXISTS sha1 [sha1 ...].
func scriptExists(s *Session, dst []byte, args [][]byte) []byte {
	start := len(dst)
	dst = resp.AppendArray(dst, len(args)-2)
	for _, sha := range args[2:] {
		_, err := s.script(string(bytes.ToLower(sha)))
		switch {
		case err == nil:
			dst = resp.AppendInt(dst, 1)
		case errors.Is(err, errNoScript):
			dst = resp.AppendInt(dst, 0)
		default:
			return route.AppendReply(dst[:start], err)
		}
	}
	return dst
}

// scriptLoad is SCRIPT LOAD script.
func scriptLoad(s *Session, dst []byte, args [][]byte) []byte {
	sha := shaOf(args[2])
	if err := s.load(sha, args[2]); err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendBulk(dst, sha)
}

// scriptFlush is SCRIPT FLUSH [ASYNC|SYNC].
func scriptFlush(s *Session, dst []byte, args [][]byte) []byte {
	if len(args) > 3 || len(args) == 3 && !is(args[2], "ASYNC") && !is(args[2], "SYNC") {
		return route.AppendReply(dst, errFlushMode)
	}
	names, err := s.scriptNames()
	for _, name := range names {
		if err == nil {
			_, err = s.own(true, command.OpDel, scriptKey(name))
		}
		if err == nil {
			_, err = s.own(true, command.OpHDel, allScripts, []byte(name))
		}
	}
	s.service.scripts.forget()
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

// keepingScripts removes the keys of all clients, which scripts are not: they are kept again.
func (s *Session) keepingScripts(flush func() error) error {
	names, err := s.scriptNames()
	if err != nil {
		return err
	}
	bodies := make(map[string][]byte, len(names))
	for _, name := range names {
		if bodies[name], err = s.script(name); err != nil && !errors.Is(err, errNoScript) {
			return err
		}
	}
	err = flush()
	for name, body := range bodies {
		if s.service.scripts.saw(name, nil); body == nil {
			continue
		}
		if again := s.load(name, body); err == nil {
			err = again
		}
	}
	return err
}
