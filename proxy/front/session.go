package front

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/route"
)

// Session is what this package needs of one client's state: it knows the commands. It takes what the client has sent from its Conn (Peek, Skip)
// and writes replies to it. Whoever owns the connection calls it, one at a time.
type Session interface {
	// Plan takes commands from the connection that can be executed together with those of other clients, as long as they have fewer
	// operations than that. It returns their operations, which stay the session's, and whether there are no other commands.
	// What needs no operation it answers at once.
	Plan(limit int) (ops []route.Op, all bool)
	// Executed answers what Plan has planned, with the outcomes of its operations and how long they took.
	Executed(ops []route.Op, took time.Duration)
	// Run executes and answers all commands that are left, as long as that takes, or until one waits for something else than the client, for which it has
	// parked the connection (Conn.Park).
	Run()
	// Reject answers with the reason for which the connection is about to be closed: a resp.ProtocolError, or a bug.
	Reject(err error)
	// Closed is called once, when the connection has ended and nothing else is called. It must not wait for anything.
	Closed()
}

// Executor executes batches: see route.Cluster, which is one.
type Executor interface {
	Execute(b *route.Batch)
	Working() bool
	EndWaiting()
}

var _ Executor = route.Cluster(nil)

// What the front itself refuses.
var (
	errMaxClients = route.Refuse("ERR max number of clients reached")
	errInternal   = &route.ReplyError{Outcome: answer.Unknown, Text: "UNKNOWN internal error; the connection is closed. The proxy's log has the details"}
)
