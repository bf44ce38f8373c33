package disk

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/node/engine"
)

// sync makes durable what was written to the store. An error that is not a lack of space is final: nobody knows what is on the
// disk then.
func (e *Engine) sync() error {
	err := e.store.Sync()
	if err != nil {
		err = fmt.Errorf("syncing the store: %w", err)
	}
	if err != nil && !errors.Is(err, engine.ErrFull) {
		e.fail(err)
	}
	return err
}
