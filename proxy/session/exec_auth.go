package session

import (
	"bytes"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// AUTH, and HELLO with it, within a transaction: what is queued behind it is executed as the new user. As the commands on keys are executed first, all at once, it has to be known before that
// what each login comes to. When its turn comes, it comes to the same.

// login is what a login comes to.
type login struct {
	user *acl.User
	err  error // a reply: the client stays who it was
}

// authenticates reports whether a command may make the client another user.
func authenticates(op command.Op) bool { return op == command.OpAuth || op == command.OpHello }

// foresee finds out what the logins of a command come to, and returns who the client is behind it.
func (s *Session) foresee(q *queued, user *acl.User) *acl.User {
	try := func(name, password []byte) error {
		l := s.accept(string(q.asked[0]), name, password)
		if q.logins = append(q.logins, l); l.err == nil {
			user = l.user
		}
		return l.err
	}
	switch q.cmd.Op {
	case command.OpAuth:
		if name, password, err := s.credentials(q.asked); err == nil {
			_ = try(name, password)
		}
	case command.OpHello:
		if len(q.asked) < 2 {
			break
		}
		if _, err := parseProtocol(q.asked[1]); err == nil {
			_ = helloOptions(q.asked[2:], try, checkName)
		}
	}
	return user
}

// scriptsAs are the rules to which the scripts of a transaction are held that logs in, and the user whose they are.
type scriptsAs struct {
	user  *acl.User // nil as long as there is no script
	rules []byte
}

// add takes a script of a user. All have to be held to the same rules, which are told to the node once.
func (a *scriptsAs) add(user *acl.User) error {
	var rules []byte
	if !user.Unrestricted() {
		rules = []byte(user.Stored())
	}
	if a.user != nil && !bytes.Equal(rules, a.rules) {
		return errScriptsOfSeveral
	}
	a.user, a.rules = user, rules
	return nil
}

var errScriptsOfSeveral = route.Refuse("ERR Quoll does not execute scripts of users with different rules in one transaction: send one for each user. Nothing was done")
