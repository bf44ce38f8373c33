package session

import "github.com/quolldb/quoll/internal/acl"

// userState is who a client is.
type userState struct {
	set  *userSet  // in which user is
	user *acl.User // who may be deleted meanwhile: see followUsers
	// guarded: the user may not do everything, so that each command is checked.
	guarded bool
	// authenticated: the client may use commands.
	authenticated bool
	// loggedIn: the client has said itself who it is.
	loggedIn bool
	rules    []byte // of the user, as they are sent with scripts; nil until they are needed
}

// beginUser makes the session that of the user whom the client's certificate names, or else of the default user, as a new connection is.
func (s *Session) beginUser() {
	s.who = userState{set: s.service.users.now.Load()}
	s.takeUser()
}

// takeUser is beginUser with the users that are known.
func (s *Session) takeUser() {
	if user := s.certified(); user != nil {
		s.become(user)
		s.setAuthenticated(true)
		return
	}
	s.become(s.who.set.Default())
	s.setAuthenticated(s.who.user.Open())
}

// certified is the user whom the client's certificate names, nil if there is none who may log in.
func (s *Session) certified() *acl.User {
	name := s.certificate()
	if name == "" {
		return nil
	}
	user := s.who.set.Get([]byte(name))
	if user == nil || !user.Enabled() {
		return nil
	}
	return user
}

// certificate is the name in the client's certificate, if such names count.
func (s *Session) certificate() string {
	if !s.service.cfg.CertificateUsers {
		return ""
	}
	return s.conn.CommonName()
}

// unknown is the refusal of a client that has not logged in: the user of its certificate may not be known yet.
func (s *Session) unknown(refusal error) error {
	if s.who.set.provisional && s.certificate() != "" {
		return s.notReady()
	}
	return refusal
}

// become has the commands from now on be those of a user.
func (s *Session) become(user *acl.User) {
	s.who.user, s.who.guarded, s.who.rules = user, !user.Unrestricted(), nil
	s.info.user.Store(user)
}

// followUsers takes the users that there are now. A client whose user is gone executes nothing more.
func (s *Session) followUsers() {
	before := s.who.set
	s.who.set = s.service.users.now.Load()
	user := s.who.set.Of(s.who.user)
	switch {
	case user == nil:
		s.become(acl.New(s.who.user.Name)) // it may do nothing
		s.setAuthenticated(false)
		s.conn.Break()
	case before.provisional && !s.who.loggedIn && s.certified() != nil:
		s.takeUser() // nobody knew the user of the certificate
	case before.provisional && user.Stored() != s.who.user.Stored():
		// Nobody knew who the default user is when the client connected, or gave its password.
		s.become(user)
		s.setAuthenticated(user.Open())
	default:
		s.become(user)
	}
}

// mayUseCommands reports whether the client may use commands. As in Redis one that has not given a password may once the default user needs none.
func (s *Session) mayUseCommands() bool {
	if !s.who.authenticated && s.who.set.Default().Open() {
		s.setAuthenticated(true)
	}
	return s.who.authenticated
}

// scriptRules are the rules that nodes hold the scripts of the client to, nil if it may do everything.
func (s *Session) scriptRules() []byte {
	if s.who.guarded && s.who.rules == nil {
		s.who.rules = []byte(s.who.user.Stored())
	}
	return s.who.rules
}
