package badger

import (
	"context"
	"errors"
	"time"

	badger "github.com/dgraph-io/badger/v4"
)

// deadShare is the share of a value log's file that has to be obsolete for the file to
// be rewritten.
const deadShare = 0.5

// collector gives back the space of large values that are obsolete, until ctx ends. What it
// does to the disk is bounded: one file at a time, and then a pause.
func (e *Engine) collector(ctx context.Context) {
	pause := e.opt.CollectInterval
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		rewritten, err := e.collect()
		if err != nil {
			e.log.Error("the value log cannot be collected", "err", err)
		}
		pause = e.opt.CollectInterval
		if rewritten {
			pause = min(pause, time.Duration(float64(e.opt.ValueFile)/float64(e.opt.CollectRate)*float64(time.Second)))
		}
	}
}

// collect rewrites one file of the value log, if one is worth it.
func (e *Engine) collect() (rewritten bool, err error) {
	free := e.freeSpace()
	if free < e.opt.Reserve/2 { // rewriting a file takes space before it gives any back
		return false, nil
	}
	if free < 2*e.opt.Reserve {
		// What is obsolete is known from compactions only: where space is short, now.
		if err := e.db.Flatten(1); err != nil {
			return false, err
		}
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	switch err := e.db.RunValueLogGC(deadShare); {
	case errors.Is(err, badger.ErrNoRewrite), errors.Is(err, badger.ErrRejected):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, nil
}
