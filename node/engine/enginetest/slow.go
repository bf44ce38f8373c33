package enginetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/quolldb/quoll/node/engine"
)

// SlowEngine is an engine whose commits take as long as a test wants them to. It
// shows whether a reply leaves before what it depends on is durable (rule R2).
// Everything but Commit and Close goes straight to the engine within. It is safe
// for concurrent use as far as that engine is.
type SlowEngine struct {
	engine.Engine

	mu   sync.Mutex
	held []func(error)
	// failed is what every commit reports from now on.
	failed error
	// changed is closed, and replaced, when held grows.
	changed chan struct{}
}

// Slow wraps an engine and holds the callbacks of all commits.
func Slow(e engine.Engine) *SlowEngine {
	return &SlowEngine{Engine: e, changed: make(chan struct{})}
}

// Commit holds done until Release, Fail or Close. After Fail it calls done at once.
func (s *SlowEngine) Commit(done func(error)) {
	if err := s.hold(done); err != nil {
		done(err)
	}
}

func (s *SlowEngine) hold(done func(error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	s.held = append(s.held, done)
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// Held returns the number of commits that are held.
func (s *SlowEngine) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// AwaitHeld waits until n commits or more are held.
func (s *SlowEngine) AwaitHeld(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		held, changed := len(s.held), s.changed
		s.mu.Unlock()
		if held >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("enginetest: %d of %d commits held: %w", held, n, ctx.Err())
		}
	}
}

// Release passes the commits that are held to the engine, in their order, and
// returns their number. Later ones are held again.
func (s *SlowEngine) Release() int {
	held := s.take(nil)
	for _, done := range held {
		s.Engine.Commit(done)
	}
	return len(held)
}

// Fail makes the commits that are held, and all later ones, report err, and returns
// the number of the former. An error is final: there is no way back.
func (s *SlowEngine) Fail(err error) int {
	held := s.take(err)
	for _, done := range held {
		done(err)
	}
	return len(held)
}

// take empties held. Callbacks run without the lock: they may commit again.
func (s *SlowEngine) take(failed error) []func(error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held = nil
	if failed != nil {
		s.failed = failed
	}
	return held
}

// Close releases what is held and closes the engine.
func (s *SlowEngine) Close() error {
	s.Release()
	return s.Engine.Close()
}
