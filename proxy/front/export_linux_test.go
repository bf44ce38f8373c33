package front

// StopPoller makes waiting for clients fail from now on.
func (s *Server) StopPoller() { s.loop.poller.stop() }
