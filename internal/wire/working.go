package wire

import (
	"sync/atomic"
	"time"
)

// A peer that has too much to do answers late, and looks like one that hangs: a ping waits until the frames before
// it are handled. So a server tells the peers whose frames it is behind with that it works on them. A process that
// is stopped tells nothing, and one that only looks alive, because its disk hangs, is stuck: it
// says nothing and answers no pings.

const (
	// progressInterval is how often peers are told.
	progressInterval = 50 * time.Millisecond
	// workingFor is how long they believe it.
	workingFor = time.Second
	// behindAfter is the age of frames from which a connection is behind.
	behindAfter = 100 * time.Millisecond
	// longestTurn is how long a handler may take for a frame, or for a step if it tells of them. Then something is wrong with it, and nobody
	// reports it as working any more.
	longestTurn = 5 * time.Second
)

// turn is what the reader of a connection does: it waits for frames, or handles those that have come.
type turn struct {
	number atomic.Uint32 // odd while frames are handled
	begun  atomic.Int64  // clock when it came to the last frame
	age    atomic.Int64  // of the last frame
	steps  atomic.Uint32 // that the handler has done
}

// frame notes that a frame is about to be handled.
func (t *turn) frame(age time.Duration) {
	t.begun.Store(int64(clock()))
	t.age.Store(int64(age))
	if !t.underWay() {
		t.number.Add(1)
	}
}

// end notes that frames are waited for.
func (t *turn) end() { t.number.Add(1) }

func (t *turn) underWay() bool { return t.number.Load()%2 == 1 }

// goesOn reports whether frames are being handled, and not for suspiciously long.
func (t *turn) goesOn() bool {
	return t.underWay() && clock()-time.Duration(t.begun.Load()) < longestTurn
}

// behind reports whether the connection is: it handles the same frames as in the last round, or those that it has handled
// since then were old. seen is the turn of the last round.
func (t *turn) behind(seen uint32) bool {
	number := t.number.Load()
	if number%2 == 1 && clock()-time.Duration(t.begun.Load()) > longestTurn {
		return false
	}
	if number == seen {
		return number%2 == 1
	}
	return time.Duration(t.age.Load()) >= behindAfter
}

// receives reports whether the rest of a large frame is coming. What was sent behind it waits.
func (c *ServerConn) receives() bool {
	heard := c.in.heard.Load()
	more := heard != c.recent
	c.recent = heard
	return more && c.in.within.Load()
}

// reportProgress tells peers that this side works, as long as they wait for long.
func (s *Server) reportProgress() {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	var frame []byte
	last := clock()
	s.awake.Store(int64(last))
	for {
		select {
		case <-s.stopped:
			return
		case <-ticker.C:
		}
		now := clock()
		if now-last > workingFor {
			s.awake.Store(int64(now))
		}
		last = now
		frame = appendFrame(frame[:0], frameWorking, nil)
		stuck := s.isStuck()
		working := !stuck && s.cfg.Working != nil && s.cfg.Working()
		told := working
		s.each(func(c *ServerConn) {
			if steps := c.turn.steps.Load(); steps != c.steps {
				c.steps = steps
				c.turn.begun.Store(int64(now))
			}
			behind := c.turn.behind(c.seen) || c.receives()
			c.seen = c.turn.number.Load()
			if c.open && !stuck && (working || behind) {
				c.out.addUrgent(frame)
			}
			told = told || behind
		})
		s.behind.Store(told)
	}
}

// Behind reports whether some peer, or all, have just been told that this side works.
func (s *Server) Behind() bool { return s.behind.Load() }

// Awake returns for how long this process has run without having been stopped for a while. What came meanwhile, and waits, its
// peers know of: they were told.
func (s *Server) Awake() time.Duration { return clock() - time.Duration(s.awake.Load()) }

func (s *Server) isStuck() bool { return s.cfg.Stuck != nil && s.cfg.Stuck() }
