package front

import (
	"context"
)

// Shutdown stops accepting, lets each connection finish and answer the batch that it
// is working on, closes the connections, and returns when every goroutine of the
// server has ended. When ctx ends first, connections are closed as they are and
// ctx's error is returned, still after the last goroutine: that takes one
// operation time-out and a half, also for what nodes are behind with.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closing.Store(true)
	for listener := range s.listeners {
		listener.Close()
	}
	for _, c := range s.conns {
		c.wake()
	}
	s.mu.Unlock()
	s.handshakes.endAll()

	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
		s.cancel()
		s.cluster.EndWaiting()
		s.closeAll()
		<-done
	}
	s.loop.close()
	s.cancel()
	return err
}

// fail makes Serve return an error: whoever serves is to know.
func (s *Server) fail(err error) {
	if !s.failure.CompareAndSwap(nil, &err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for listener := range s.listeners {
		listener.Close()
	}
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.HangUp()
	}
}
