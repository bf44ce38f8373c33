package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/node/engine"
)

// storeInterval is how often the node looks whether its data is still there.
const storeInterval = time.Second

// damageReporter is what an engine may offer: to tell which slots it cannot read, when it finds that out by itself.
type damageReporter interface {
	ReportDamage(report func(slot uint16, err error))
}

// lookAtStore notices that what the node keeps on disk was deleted or replaced. The process could go on with files that have no
// name any more, and would acknowledge writes that are lost when it ends.
func (n *Node) lookAtStore() {
	if n.replicas.Failed() {
		return
	}
	err := n.engine.Present()
	gone := errors.Is(err, engine.ErrGone)
	if id := n.opt.Identity; err == nil && id != nil {
		err = id.Present()
		gone = err != nil
	}
	if gone {
		err = fmt.Errorf("%w: stop this node; if its files were moved, move them back and start it again, "+
			"but put back no copy of them, which would be older; if they are gone, this node has lost its state", err)
	}
	if err != nil && !errors.Is(err, engine.ErrClosed) {
		n.replicas.StorageFailed(err)
	}
}

// committed waits until what is staged is durable, or ctx or the node's life ends.
func (n *Node) committed(ctx context.Context) error {
	done := make(chan error, 1)
	n.engine.Commit(func(err error) { done <- err })
	select {
	case err := <-done:
		if err != nil {
			n.replicas.StorageFailed(err)
			return fmt.Errorf("the store failed: %w", err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-n.life.Done():
		return errClosing
	}
}
