package replica

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/node/engine"
)

// A node whose disk is full writes nothing: its homes refuse what would have to, its
// replicas act as if such requests had been lost. What can be done without a write goes on.
//
// A node whose memory is full, which is crowded, refuses only the commands that Redis refuses then, those that may make the data grow. Deletions
// go on, so that it has room again some day. Its replicas take what other homes wrote, for these have room, but not without end
// (engine.ErrBrimful): then what would make the data grow is as if it had been lost.

// Space is what a node knows of the room in its engine.
type Space struct {
	engine engine.Engine
	log    *slog.Logger

	short atomic.Pointer[error] // what there is no room for writes for, nil while there is
	tight atomic.Pointer[error] // the same for more data only
	// brimful: nor is there for more of what other homes wrote.
	brimful atomic.Bool

	roomAt int64 // Look's: when there was room again, in monotonic milliseconds, 0 while there is not
}

// roomAfter is how long there has to be room before a full node writes again.
const roomAfter = time.Second

// Full reports whether a round of work that begins now has to do without writes.
func (s *Space) Full() bool {
	if s.short.Load() != nil {
		return true
	}
	err := s.engine.Room()
	if err == nil {
		if s.tight.Load() != nil {
			s.brimful.Store(false)
		}
		return false
	}
	why := err // a copy, for what is pointed to is allocated at once
	switch {
	case errors.Is(err, engine.ErrFull):
		if s.short.CompareAndSwap(nil, &why) {
			s.log.Warn("no room for writes: this node refuses them, reads go on; free space or enlarge the disk", "err", err)
		}
		return true
	case errors.Is(err, engine.ErrCrowded):
		s.brimful.Store(errors.Is(err, engine.ErrBrimful))
		if s.tight.CompareAndSwap(nil, &why) {
			s.log.Warn("no memory for more data: this node refuses what makes it grow, reads and deletions go on; delete something, or give nodes more --memory, one after the other", "err", err)
		}
	}
	return false // whatever else it is, the next commit tells
}

// Writes reports whether there was room for writes when somebody looked last.
func (s *Space) Writes() bool { return s.short.Load() == nil }

// Crowded reports whether there is no room for more data.
func (s *Space) Crowded() bool { return s.tight.Load() != nil }

// Brimful reports whether there is none for more of what other homes wrote either.
func (s *Space) Brimful() bool { return s.brimful.Load() }

// Short returns what the node is short of, nil for nothing.
func (s *Space) Short() error {
	if short := s.short.Load(); short != nil {
		return *short
	}
	if tight := s.tight.Load(); tight != nil {
		return *tight
	}
	return nil
}

// LimitChanged has the room be judged at once, by a limit that is new: then the node is on no edge.
func (s *Space) LimitChanged() {
	if s.tight.Load() == nil || s.engine.Room() != nil {
		return
	}
	s.brimful.Store(false)
	s.tight.Store(nil)
	s.log.Info("there is room for writes again", "reason", "the limit is another one")
}

// Look ends that the node is full or crowded when there has been room for a while: a node on the edge does not change its mind at every
// moment. It returns what the node is short of. One goroutine calls it.
func (s *Space) Look(now int64) error {
	if s.Short() == nil {
		s.roomAt = 0
		return nil
	}
	if err := s.engine.Room(); err != nil {
		if s.roomAt = 0; errors.Is(err, engine.ErrCrowded) {
			s.tight.Store(&err)
		} else {
			s.short.Store(&err)
		}
	} else if s.roomAt == 0 {
		s.roomAt = now
	} else if now-s.roomAt >= roomAfter.Milliseconds() {
		s.short.Store(nil)
		s.tight.Store(nil)
		s.log.Info("there is room for writes again")
	}
	return s.Short()
}
