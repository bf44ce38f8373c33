package session

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// monitors are the clients that see what all others do.
type monitors struct {
	mu sync.Mutex
	// list is nil if there are none. It is replaced, never changed.
	list atomic.Pointer[[]*Session]
}

var (
	errMonitorInside = route.Refuse("ERR MONITOR isn't allowed for DENY BLOCKING client")
	errMonitorOnly   = route.Refuse("ERR Replica can't interact with the keyspace")
)

// runMonitor is MONITOR, https://redis.io/commands/monitor/.
func runMonitor(s *Session, dst []byte, _ [][]byte) []byte {
	switch {
	case s.multi.open:
		return route.AppendReply(dst, errMonitorInside)
	case s.monitor: // as in Redis nothing is answered
		return dst
	}
	s.monitor = true
	s.info.monitor.Store(true)
	s.service.look.monitors.change(func(list []*Session) []*Session { return append(list, s) })
	return append(dst, resp.OK...)
}

// endMonitor ends it, for RESET.
func (s *Session) endMonitor() {
	if !s.monitor {
		return
	}
	s.monitor = false
	s.info.monitor.Store(false)
	s.service.look.monitors.remove(s)
}

// onKeys reports whether a command reads or writes keys, which a client that monitors does not.
func onKeys(cmd *command.Command) bool {
	return cmd.Flags&(command.FlagWrite|command.FlagReadOnly) != 0 || isScript(cmd.Op)
}

// change replaces the list by one that is made of a copy of it.
func (m *monitors) change(change func([]*Session) []*Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*Session
	if old := m.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	if list = change(list); len(list) == 0 {
		m.list.Store(nil)
		return
	}
	m.list.Store(&list)
}

func (m *monitors) remove(s *Session) {
	m.change(func(list []*Session) []*Session {
		return slices.DeleteFunc(list, func(other *Session) bool { return other == s })
	})
}

// feed shows a command that is about to be executed to those who monitor. As in Redis they do not see what is for administrators.
func (s *Session) feed(cmd *command.Command, number int, args [][]byte) {
	list := s.service.look.monitors.list.Load()
	if list == nil {
		return
	}
	called := cmd.Called(args)
	if called == nil || cmd.Route == command.RouteUnsupported || !isShown(called) {
		return
	}
	switch cmd.Op { // they are shown with the database that they lead to
	case command.OpReset:
		number = 0
	case command.OpSelect:
		if to, problem := command.Database(args[1]); problem == "" {
			number = to
		}
	}
	line := monitorLine(time.Now(), number, s.conn.RemoteAddr().String(), unnamed(redacted(cmd, args)))
	for _, m := range *list {
		if m == s && cmd.Op == command.OpReset { // it does not monitor any more
			continue
		}
		s.service.look.monitors.push(m, line)
	}
}

// isShown reports whether those who monitor see a command. As in Redis that which runs a script is not shown by what executes commands, but here, before what the script calls.
func isShown(called *command.Command) bool {
	return called.Flags&(command.FlagSkipMonitor|command.FlagAdmin) == 0 || isScript(called.Op)
}

// any reports whether somebody monitors.
func (m *monitors) any() bool { return m.list.Load() != nil }

// push shows a line to one who monitors.
func (m *monitors) push(to *Session, line []byte) {
	if !to.conn.Push(line) { // it is gone
		m.remove(to)
	}
}

// feedCalls shows what scripts have called, behind the command that has run them.
func (s *Session) feedCalls(calls []command.Call) {
	monitors := &s.service.look.monitors
	list := monitors.list.Load()
	if list == nil {
		return
	}
	for i := range calls {
		line := monitorLine(time.Now(), calls[i].Database, "lua", unnamed(calls[i].Args))
		for _, to := range *list {
			monitors.push(to, line)
		}
	}
}

// feedExec shows EXEC, behind the commands of its transaction, unless these were not executed, and what their scripts have called. number is the
// database in which it ends, reply that of the commands on keys.
func (s *Session) feedExec(cmd *command.Command, number int, args [][]byte, queue []queued, reply []byte, calls []command.Call) {
	if !s.service.look.monitors.any() {
		return
	}
	if isArray(reply) || bytes.HasPrefix(reply, unknown) {
		at := 0 // among those on keys
		for i := range queue {
			q := &queue[i]
			s.feed(q.cmd, q.database, q.args)
			if q.op == command.OpNone {
				continue
			}
			n := 0
			for n < len(calls) && calls[n].At == at {
				n++
			}
			s.feedCalls(calls[:n])
			calls = calls[n:]
			at++
		}
	}
	s.feed(cmd, number, args)
}

// unknown begins the reply of what may have been executed.
var unknown = []byte("-UNKNOWN ")

// monitorLine is a line of MONITOR.
func monitorLine(now time.Time, number int, client string, args [][]byte) []byte {
	line := fmt.Appendf(nil, "+%d.%06d [%d %s]", now.Unix(), now.Nanosecond()/1000, number, client)
	for _, arg := range args {
		line = appendQuoted(append(line, ' '), arg)
	}
	return append(line, "\r\n"...)
}

// appendQuoted appends bytes between quotation marks, as Redis does: what is not printable in ASCII is escaped.
func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '\\', c == '"':
			dst = append(dst, '\\', c)
		case c == '\n', c == '\r', c == '\t', c == '\a', c == '\b':
			dst = append(dst, strconv.Quote(string(rune(c)))[1:3]...)
		case c < ' ' || c > '~':
			dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
