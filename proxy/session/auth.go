package session

import (
	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// runAuth is AUTH [user] password, https://redis.io/commands/auth/.
func runAuth(s *Session, dst []byte, args [][]byte) []byte {
	user, password := []byte(acl.DefaultName), args[1]
	switch {
	case len(args) > 3:
		return route.AppendReply(dst, errSyntax)
	case len(args) == 3:
		user, password = args[1], args[2]
	case s.who.set.Default().NoPassword():
		return route.AppendReply(dst, errNoPassword)
	}
	if err := s.login(string(args[0]), user, password); err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

// login makes the session that of a user, for a command of that name. It takes the same time whatever the password. Who is wrong too often is not listened to for a moment.
func (s *Session) login(command string, name, password []byte) error {
	passwords := &s.service.stats.Passwords
	if !passwords.Allowed(s.conn.RemoteAddr()) {
		s.service.cfg.Logger.Warn("too many wrong passwords from one address: AUTH is refused there for a moment", "client", s.conn.RemoteAddr())
		return errTooManyPasswords
	}
	user := s.who.set.Get(name)
	if user == nil && s.who.set.provisional {
		if err := s.service.cluster.Loading(); err != nil {
			return err
		}
	}
	if user == nil || !user.Accepts(password) {
		passwords.Failed(s.conn.RemoteAddr())
		s.logDenial(acl.DeniedAuth, s.context(), []byte(command), string(name))
		return errWrongPass
	}
	s.become(user)
	s.who.loggedIn = true
	s.setAuthenticated(true)
	return nil
}

// setAuthenticated says whether the client may use commands, and with that how
// large they may be.
func (s *Session) setAuthenticated(yes bool) {
	s.who.authenticated = yes
	limits := s.service.cfg.Limits
	if !yes {
		limits = limits.BeforeAuthentication()
	}
	s.conn.SetLimits(limits)
	s.conn.Stranger(!yes)
}
