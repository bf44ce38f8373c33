package disk

import (
	"fmt"

	"github.com/quolldb/quoll/node/engine"
)

// Present implements engine.Engine. It looks at the journal's files, and at those of the store that do not come and go.
func (e *Engine) Present() error {
	if e.closed.Load() {
		return engine.ErrClosed
	}
	if err := e.broken(); err != nil {
		return err
	}
	err := e.journal.Present()
	if err == nil {
		if name := e.store.Missing(); name != "" {
			err = fmt.Errorf("%w: %s", engine.ErrGone, name)
		}
	}
	if err != nil {
		e.fail(err) // what would be written to them is lost, too
	}
	return err
}
