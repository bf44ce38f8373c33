package session

// audit logs what a client has changed for others, and who it is: users, and settings. What is logged has no passwords.
func (s *Session) audit(did string, what ...any) {
	s.service.cfg.Logger.Info("audit: a client's change", append([]any{"who", s.who.user.Name, "from", s.conn.RemoteAddr().String(), "did", did}, what...)...)
}
