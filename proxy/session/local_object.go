package session

import (
	"github.com/quolldb/quoll/internal/command"
)

// objectCommand is OBJECT. What its subcommands say of a value the nodes know: see node/datatype/encoding.go.
var objectCommand = container{"OBJECT", []subcommand{
	{"ENCODING", 3, objectAbout, []string{"ENCODING <key>", "Return the name of the form in which a Redis 7.0 would keep the value", "associated with a <key>."}},
	{"FREQ", 3, objectAbout, []string{"FREQ <key>", "Return the access frequency index of the key. The returned integer is", "proportional to the logarithm of the recent access frequency of the key."}},
	{"IDLETIME", 3, objectAbout, []string{"IDLETIME <key>", "Return the idle time of the key, that is the approximated number of", "seconds elapsed since the last access to the key."}},
	{"REFCOUNT", 3, objectAbout, []string{"REFCOUNT <key>", "Return the number of references that a Redis 7.0 would count of the value", "associated with the specified <key>."}},
}}

// objectAbout is OBJECT subcommand key.
func objectAbout(s *Session, dst []byte, args [][]byte) []byte {
	said := s.execute(command.Request{Op: command.OpObjectState, RESP3: s.resp3, Args: aboutObject(args)}, false)
	return append(dst, said.Reply...)
}

// aboutObject returns the arguments of the operation for OBJECT subcommand key.
func aboutObject(args [][]byte) [][]byte { return [][]byte{[]byte("OBJECTSTATE"), args[2], args[1]} }
