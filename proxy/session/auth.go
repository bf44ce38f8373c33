package session

import (
	"crypto/sha256"
	"crypto/subtle"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// runAuth is AUTH [user] password, https://redis.io/commands/auth/.
func runAuth(s *Session, dst []byte, args [][]byte) []byte {
	user, password := []byte(defaultUser), args[1]
	switch {
	case len(args) > 3:
		return route.AppendReply(dst, errSyntax)
	case len(args) == 3:
		user, password = args[1], args[2]
	case s.service.cfg.Password == "":
		return route.AppendReply(dst, errNoPassword)
	}
	if err := s.login(user, password); err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

// login authenticates the session. Without a configured password any will do, as
// for a Redis user with "nopass". The comparison takes the same time whatever the
// password. Who is wrong too often is not listened to for a moment.
func (s *Session) login(user, password []byte) error {
	passwords := &s.service.stats.Passwords
	if !passwords.Allowed(s.conn.RemoteAddr()) {
		s.service.cfg.Logger.Warn("too many wrong passwords from one address: AUTH is refused there for a moment", "client", s.conn.RemoteAddr())
		return errTooManyPasswords
	}
	given, want := sha256.Sum256(password), sha256.Sum256([]byte(s.service.cfg.Password))
	same := subtle.ConstantTimeCompare(given[:], want[:]) == 1
	if string(user) != defaultUser || !same && s.service.cfg.Password != "" {
		passwords.Failed(s.conn.RemoteAddr())
		return errWrongPass
	}
	s.setAuthenticated(true)
	return nil
}

// setAuthenticated says whether the client may use commands, and with that how
// large they may be.
func (s *Session) setAuthenticated(yes bool) {
	s.authenticated = yes
	limits := s.service.cfg.Limits
	if !yes {
		limits = limits.BeforeAuthentication()
	}
	s.conn.SetLimits(limits)
	s.conn.Stranger(!yes)
}
