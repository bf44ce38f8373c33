package front

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/tlsio"
)

// Conn is the connection of one client. At any moment it belongs to one goroutine, or to none
// while it waits for its client (see loop). Its owner calls the methods. Any goroutine may call ID, Server, Session, AtReplica, Created, Active, RemoteAddr,
// LocalAddr, CommonName, HangUp, Push, Resume, LimitOutput, MayIdle and Waiting.
type Conn struct {
	server  *Server
	session Session
	id      int64
	created time.Time
	replica bool
	active  atomic.Int64 // when the client last sent something, Unix milliseconds
	stream  stream
	owned   atomic.Int32 // see ownership.go
	killed  atomic.Bool

	reader *resp.Reader
	input  resp.Batch // what the last read delivered
	next   int        // the first command of input that is not taken

	// quit ends the connection once its replies are flushed; broken ends it at once.
	quit, broken bool

	memory   memory
	stranger stranger
	pass     pass   // at the gate, of what a goroutine executes
	out      []byte // replies, and what was pushed between them, that are not sent
	outbox   outbox

	// parked: the client waits for something else than itself: see park.go. resumed: that has come. A connection with a goroutine of its own hears it by bell.
	parked  bool
	resumed atomic.Bool
	bell    chan struct{}

	// dedicated: the connection has a goroutine for good, which waits for its client. Then, and only then, others may write
	// meanwhile: whoever does has put something into writing. (Who waits for a mutex would keep the clock of tests from going on.)
	dedicated atomic.Bool
	patient   atomic.Bool // see MayIdle
	writing   chan struct{}
}

// newConn returns a connection, which is encrypted unless secure is nil.
func newConn(server *Server, conn net.Conn, secure *tlsio.Conn, id int64, replica bool) *Conn {
	c := &Conn{
		server:  server,
		id:      id,
		created: time.Now(),
		replica: replica,
		stream: stream{
			Conn:         conn,
			writeTimeout: server.cfg.WriteTimeout,
			settings:     &server.settings,
			in:           &server.stats.BytesIn,
			closing:      &server.closing,
		},
	}
	c.stream.patient = &c.patient
	if secure != nil {
		c.stream.secure(secure)
	}
	c.active.Store(c.created.UnixMilli())
	c.reader = resp.NewReader(&c.stream, resp.Limits{})
	c.reader.OnResize(func(bytes int) { c.memory.input(c, bytes) })
	c.outbox.queue.limit = server.settings.Load().OutputLimit
	c.session = server.open(c)
	return c
}

// ID tells the connection from all others of the server, those that have ended too.
func (c *Conn) ID() int64 { return c.id }

// Server returns the server that the connection is one of.
func (c *Conn) Server() *Server { return c.server }

// Session returns what executes its commands.
func (c *Conn) Session() Session { return c.session }

// AtReplica reports whether the client has come by a port that is served by ServeReplica.
func (c *Conn) AtReplica() bool { return c.replica }

// Created is when the client connected.
func (c *Conn) Created() time.Time { return c.created }

// Active is when the client last sent something, in Unix milliseconds.
func (c *Conn) Active() int64 { return c.active.Load() }

// RemoteAddr is the client's address.
func (c *Conn) RemoteAddr() net.Addr { return c.stream.RemoteAddr() }

// LocalAddr is the address that the client connected to.
func (c *Conn) LocalAddr() net.Addr { return c.stream.LocalAddr() }

// CommonName is the name in the client's certificate, which has been verified; empty if it has shown none.
func (c *Conn) CommonName() string {
	if c.stream.tls == nil {
		return ""
	}
	if chains := c.stream.tls.State().VerifiedChains; len(chains) > 0 {
		return chains[0][0].Subject.CommonName
	}
	return ""
}

// SetLimits says how large commands may be from the next one on that is read.
func (c *Conn) SetLimits(limits resp.Limits) { c.reader.SetLimits(limits) }

// More reports whether commands have been read that are not taken yet.
func (c *Conn) More() bool { return c.next < c.input.Len() }

// Peek returns the next command, which More has reported. Its arguments are borrowed until the next read, which comes when the session
// has answered.
func (c *Conn) Peek() [][]byte { return c.input.Command(c.next) }

// Skip takes the next command: Peek has returned it.
func (c *Conn) Skip() { c.next++ }

// Keep says how many bytes of what the client has sent its session keeps for later. They count against Config.ClientMemory.
func (c *Conn) Keep(bytes int) { c.memory.change(c.server, &c.memory.kept, bytes) }

// MayIdle says whether the client may be silent for longer than Config.IdleTimeout from its next command on: it listens.
func (c *Conn) MayIdle(may bool) { c.patient.Store(may) }

// Deliver sends what was pushed to the client until now, behind the replies that are written. It is called where no reply has been begun.
func (c *Conn) Deliver() { c.deliver() }

// Quit ends the connection once its replies are flushed.
func (c *Conn) Quit() { c.quit = true }

// Break ends the connection at once; what is written from now on is not sent.
func (c *Conn) Break() { c.broken = true }

// Broken reports whether nothing more can be sent.
func (c *Conn) Broken() bool { return c.broken }

// Ending reports whether no more commands are executed.
func (c *Conn) Ending() bool { return c.quit || c.broken }
