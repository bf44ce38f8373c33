package session

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

// errNoDebug is how a Redis refuses DEBUG that was not told to allow it.
var (
	errNoDebug = route.Refuse("ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to " +
		"set this option in the configuration file, and then restart the server.")
	errNoSuchKey = route.Refuse("ERR no such key")
	errNotFloat  = route.Refuse("ERR value is not a valid float")
)

// runDebug is DEBUG, of which there is what harms nobody: it is not said to exist otherwise.
func runDebug(s *Session, dst []byte, args [][]byte) []byte {
	switch {
	case len(args) == 3 && is(args[1], "SLEEP"):
		return debugSleep(s, dst, args[2])
	case len(args) == 3 && is(args[1], "OBJECT") && !s.multi.open:
		return debugObject(s, dst, args[2])
	case len(args) == 4 && is(args[1], "STRINGMATCH-LEN"):
		matched := int64(0)
		if scan.Match(args[2], args[3]) {
			matched = 1
		}
		return resp.AppendInt(dst, matched)
	}
	return route.AppendReply(dst, errNoDebug)
}

// debugSleep is DEBUG SLEEP seconds: this client waits, and no other. Within a transaction nobody does.
func debugSleep(s *Session, dst, arg []byte) []byte {
	seconds, err := strconv.ParseFloat(string(arg), 64)
	if err != nil || math.IsNaN(seconds) {
		return route.AppendReply(dst, errNotFloat)
	}
	if !s.multi.open {
		s.conn.Rest(time.Duration(min(max(seconds, 0), 1e9) * float64(time.Second)))
	}
	return append(dst, resp.OK...)
}

// debugObject is DEBUG OBJECT key.
func debugObject(s *Session, dst, key []byte) []byte {
	args, problem := command.Lookup([]byte("object")).Subcommand([]byte("encoding")).In(s.database, s.service.cluster.Placements(), [][]byte{[]byte("OBJECT"), []byte("ENCODING"), key})
	if problem != "" {
		return route.AppendReply(dst, route.Refuse(problem))
	}
	encoding := s.execute(command.Request{Op: command.OpObjectState, Args: aboutObject(args)}, false)
	size := s.execute(command.Request{Op: command.OpSizeState, Args: sizeOf(args[2])}, false)
	for _, reply := range [][]byte{encoding.Reply, size.Reply} {
		if bytes.HasPrefix(reply, []byte("-")) {
			return append(dst, reply...)
		}
	}
	name := bulkValue(encoding.Reply)
	if name == nil || !bytes.HasPrefix(size.Reply, []byte(":")) {
		return route.AppendReply(dst, errNoSuchKey)
	}
	return resp.AppendSimple(dst, fmt.Sprintf("Value at:0x0 refcount:1 encoding:%s serializedlength:%d lru:0 lru_seconds_idle:0", name, sum([]route.Op{size})))
}

// runLolwut is LOLWUT [VERSION version [...]].
func runLolwut(s *Session, dst []byte, args [][]byte) []byte {
	if len(args) >= 3 && is(args[1], "VERSION") {
		if _, ok := resp.ParseInt(args[2]); !ok {
			return route.AppendReply(dst, errNotInteger)
		}
	}
	return resp.AppendVerbatim(dst, "Redis ver. "+redisVersion+"\n", s.resp3)
}
