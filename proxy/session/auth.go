package session

import (
	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// runAuth is AUTH [user] password, https://redis.io/commands/auth/.
func runAuth(s *Session, dst []byte, args [][]byte) []byte {
	user, password, err := s.credentials(args)
	if err == nil {
		err = s.login(string(args[0]), user, password)
	}
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

// credentials are those of AUTH.
func (s *Session) credentials(args [][]byte) (user, password []byte, err error) {
	switch {
	case len(args) > 3:
		return nil, nil, errSyntax
	case len(args) == 3:
		return args[1], args[2], nil
	case s.who.set.Default().NoPassword():
		return nil, nil, errNoPassword
	}
	return []byte(acl.DefaultName), args[1], nil
}

// login makes the session that of a user, for a command of that name.
func (s *Session) login(command string, name, password []byte) error {
	var l login
	if t := &s.multi; len(t.logins) > 0 { // EXEC had to know before
		l, t.logins = t.logins[0], t.logins[1:]
	} else {
		l = s.accept(command, name, password)
	}
	if l.err != nil {
		return l.err
	}
	s.become(l.user)
	s.who.loggedIn = true
	s.setAuthenticated(true)
	return nil
}

// accept decides on a login. It takes the same time whatever the password. Who is wrong too often is not listened to for a moment.
func (s *Session) accept(command string, name, password []byte) login {
	passwords := &s.service.stats.Passwords
	if !passwords.Allowed(s.conn.RemoteAddr()) {
		s.service.cfg.Logger.Warn("too many wrong passwords from one address: AUTH is refused there for a moment", "client", s.conn.RemoteAddr())
		return login{err: errTooManyPasswords}
	}
	user := s.who.set.Get(name)
	if user == nil && s.who.set.provisional {
		return login{err: s.notReady()}
	}
	if user == nil || !user.Accepts(password) {
		passwords.Failed(s.conn.RemoteAddr())
		s.logDenial(acl.DeniedAuth, s.context(), []byte(command), string(name))
		return login{err: errWrongPass}
	}
	return login{user: user}
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
