package node

import (
	"errors"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/transfer"
)

// maxIncoming bounds the bytes of large objects that come from peers and are not stored yet, of all connections
// together: two of the largest, at least.
const maxIncoming = 4 << 30

// objects are the large objects that come on a connection. They belong to the goroutine that reads it.
type objects struct {
	incoming *transfer.Incoming
	object   func(id uint64) record.State // incoming.Object, made once
}

func (n *Node) newObjects() objects {
	in := transfer.NewIncoming(&n.incoming)
	return objects{in, in.Object}
}

// piece takes a piece of an object. That it does not fit shows with what refers to the object, which is as if it had been lost.
func (n *Node) piece(o *objects, body []byte) error {
	err := o.incoming.Piece(body)
	if errors.Is(err, transfer.ErrRoom) || errors.Is(err, transfer.ErrPieces) {
		n.log.Debug("a large object from a peer is given up", "err", err)
		return nil
	}
	return err
}
