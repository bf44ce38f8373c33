package replicate

import (
	"errors"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/transfer"
)

// maxIncoming bounds the bytes of large objects that come from peers and are not stored yet, of all connections
// together: two of the largest, at least.
const maxIncoming = 4 << 30

// Objects are the large objects that come on a connection. They belong to the goroutine that reads it.
type Objects struct {
	replicator *Replicator
	incoming   *transfer.Incoming
	object     func(id uint64) record.State // incoming.Object, made once
}

// Objects returns those of a new connection.
func (r *Replicator) Objects() Objects {
	in := transfer.NewIncoming(&r.incoming)
	return Objects{r, in, in.Object}
}

// Piece takes a piece of an object. That it does not fit shows with what refers to the object, which is as if it had been lost. An error means
// that the frame makes no sense.
func (o *Objects) Piece(body []byte) error {
	err := o.incoming.Piece(body)
	if errors.Is(err, transfer.ErrRoom) || errors.Is(err, transfer.ErrPieces) {
		o.replicator.log.Debug("a large object from a peer is given up", "err", err)
		return nil
	}
	return err
}

// Object returns an object that has come whole: see transfer.Incoming.Object.
func (o *Objects) Object(id uint64) record.State { return o.object(id) }

// Drop gives up what has come: the connection has ended.
func (o *Objects) Drop() { o.incoming.Drop() }
