package session

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
)

// clientInfo is what other clients may see of a session, in CLIENT LIST.
type clientInfo struct {
	command atomic.Pointer[command.Command]
	// queued is how many commands wait for EXEC, and 1 more; 0 if there is no transaction. watching is how many keys are watched.
	queued, watching atomic.Int64
	// waits is set while the client waits for a key.
	waits atomic.Pointer[waiter]
	// subscribed is how many channels, patterns and channels of shards the client subscribes to.
	subscribed [protocol.InterestKinds]atomic.Int64
	// database is its number.
	database atomic.Int64
	// monitor: it sees what others do. blocked: it is paused.
	monitor, blocked atomic.Bool
	// user is who the client is. changing: it changes users just now, and is disconnected behind the reply if it is none of them any more.
	user     atomic.Pointer[acl.User]
	changing atomic.Bool

	mu                          sync.Mutex
	name, libName, libVersion   string
	resp3, noEvict, noTouchMode bool
	quit                        bool
	tracking                    tracking
}

// set changes the fields under mu.
func (c *clientInfo) set(change func(*clientInfo)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

func (c *clientInfo) clientName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

func (c *clientInfo) speaksRESP3() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resp3
}

// hasQuit reports whether the client has said QUIT: nothing is pushed to it any more.
func (c *clientInfo) hasQuit() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quit
}

func (c *clientInfo) tracks() tracking {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tracking
}

// subscribes reports whether the client subscribes to anything.
func (c *clientInfo) subscribes() bool {
	n := int64(0)
	for kind := range c.subscribed {
		n += c.subscribed[kind].Load()
	}
	return n > 0
}

// describe appends the client's line of CLIENT LIST. Fields that have no meaning
// here are there for programs that read them, with the value that fits best. pending is the command that the client waits for, if it is known.
func (s *Session) describe(dst []byte, now time.Time, pending [][]byte) []byte {
	info := &s.info
	name, version, flags := "NULL", 2, ""
	if cmd := info.command.Load(); cmd != nil {
		name = cmd.Name
	}
	info.mu.Lock()
	defer info.mu.Unlock()
	if info.resp3 {
		version = 3
	}
	if info.subscribes() {
		flags = "P"
	}
	if info.monitor.Load() {
		flags = "O"
	}
	queued := info.queued.Load() - 1
	if queued >= 0 {
		flags += "x"
	}
	if info.blocked.Load() || info.waits.Load() != nil {
		flags += "b"
	}
	if info.tracking.on {
		flags += "t"
		if to := info.tracking.to; to != 0 && s.client(to) == nil {
			flags += "R"
		}
		if info.tracking.broadcast {
			flags += "B"
		}
	}
	if info.noEvict {
		flags += "e"
	}
	if flags == "" {
		flags = "N"
	}
	if info.noTouchMode {
		flags += "T"
	}
	messages, waiting := s.conn.Waiting()
	sent, arguments := sizeOfCommand(pending)
	idle := max(0, now.UnixMilli()-s.conn.Active()) / 1000
	return fmt.Appendf(dst, "id=%d addr=%s laddr=%s fd=-1 name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d "+
		"qbuf=%d qbuf-free=0 argv-mem=%d multi-mem=0 rbs=0 rbp=0 obl=0 oll=%d omem=%d tot-mem=0 events=r cmd=%s user=%s redir=%d resp=%d "+
		"lib-name=%s lib-ver=%s watch=%d\n",
		s.conn.ID(), s.conn.RemoteAddr(), s.conn.LocalAddr(), info.name, int(now.Sub(s.conn.Created()).Seconds()), idle, flags, info.database.Load(),
		info.subscribed[protocol.OfChannel].Load(), info.subscribed[protocol.OfPattern].Load(), info.subscribed[protocol.OfShardChannel].Load(), queued,
		sent, arguments, messages, waiting, name, info.user.Load().Name, info.tracking.redirect(), version, info.libName, info.libVersion, info.watching.Load())
}

// sizeOfCommand returns how many bytes a command has as an array of strings, as libraries send it, and how many its arguments have.
func sizeOfCommand(args [][]byte) (sent, arguments int) {
	if len(args) == 0 {
		return 0, 0
	}
	header := func(n int) int { return len("*\r\n") + len(strconv.Itoa(n)) }
	sent = header(len(args))
	for _, arg := range args {
		sent += header(len(arg)) + len(arg) + len("\r\n")
		arguments += len(arg)
	}
	return sent, arguments
}

// validName reports whether a client may have this name: printable, no spaces.
func validName(name []byte) bool {
	return !bytes.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' })
}
