package disk

import (
	"context"
	"time"
)

// collector gives back the space of what is obsolete, until ctx ends. What it does to the disk is bounded: some of it, and then a pause.
func (e *Engine) collector(ctx context.Context) {
	pause := e.opt.CollectInterval
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		much, err := e.collect()
		if err != nil {
			e.log.Error("the space of what is obsolete cannot be given back", "err", err)
		}
		pause = e.opt.CollectInterval
		if much {
			pause = min(pause, e.opt.CollectRest)
		}
	}
}

// collect gives back some space.
func (e *Engine) collect() (much bool, err error) {
	free := e.freeSpace()
	if e.failed.Load() != nil || free < e.floor() { // it takes space before it gives any back, and writes
		return false, nil
	}
	// What is obsolete is known from compactions only: where space is short, now.
	return e.store.Reclaim(free < 2*e.opt.Reserve)
}
