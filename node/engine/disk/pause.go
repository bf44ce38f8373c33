package disk

import "time"

// What has changed and is not in the store yet is in memory. If the store takes it more slowly than the journal, whoever writes is slowed
// down, the more the farther the store is behind, until both are equally fast.
const (
	// lagMost is how many times FlushSize may have changed during one flush until writers wait,
	lagMost = 2
	// lagPause for how long at first; with each FlushSize that the store is behind beyond that it is twice as long, up to lagLongest.
	lagPause   = 2 * time.Millisecond
	lagLongest = 512 * time.Millisecond
)

// Pause implements engine.Engine.
func (e *Engine) Pause() time.Duration {
	if e.unflushed.Load() <= lagMost*e.opt.FlushSize {
		return 0
	}
	pause := lagPause
	for behind := e.behind(); behind > (lagMost+1)*e.opt.FlushSize && pause < lagLongest; behind -= e.opt.FlushSize {
		pause *= 2
	}
	return pause
}

// behind returns how many bytes of operations the journal has that the store does not have, besides what waits.
func (e *Engine) behind() int64 { return e.logged.Load() - e.kept.Load() }
