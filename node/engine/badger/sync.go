package badger

import (
	"fmt"

	"github.com/quolldb/quoll/internal/durable"
)

// sync makes durable what was written to Badger, which has synced the contents of its files
// already, and that the files exist. An error is final: nobody knows what is on the
// disk then.
func (e *Engine) sync() error {
	err := e.db.Sync()
	if err == nil {
		err = durable.Sync(e.opt.Dir)
	}
	if err != nil {
		err = fmt.Errorf("syncing the store: %w", err)
		e.fail(err)
	}
	return err
}
