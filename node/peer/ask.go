package peer

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
)

const (
	// answerTime bounds the time that a peer has for an answer to something rare: one that has just been started may have to count first.
	answerTime = time.Minute
	// objectsTime is the same for an answer with large objects. A connection that is lost ends it at once, and one on which none of it comes for silence.
	objectsTime = 10 * time.Minute
	silence     = 15 * time.Second
)

// Ask asks the peer for something rare.
func (p *Peer) Ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return p.caller.Call(ctx, method, payload)
}

// AskJSON asks for something that is answered in JSON, as long as ctx lasts.
func (p *Peer) AskJSON(ctx context.Context, method protocol.Method, payload []byte, answer any) error {
	return p.caller.CallJSON(ctx, method, payload, answer)
}

// AskObjects asks for something rare whose answer may refer to large objects.
func (p *Peer) AskObjects(ctx context.Context, method protocol.Method, payload []byte) ([]byte, protocol.Objects, error) {
	ctx, cancel := context.WithTimeout(ctx, objectsTime)
	defer cancel()
	return p.caller.CallObjects(ctx, method, payload, silence)
}

// Answered gets the answer to AskObjects from the link's reader, which has the objects that have come on the connection.
func (p *Peer) Answered(body []byte, object func(id uint64) record.State) {
	p.caller.HandleObjectsReply(body, object)
}
