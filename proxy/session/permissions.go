package session

import (
	"bytes"
	"time"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// What users are refused.
var (
	errNoKey     = route.Refuse("NOPERM this user has no permissions to access one of the keys used as arguments")
	errNoChannel = route.Refuse("NOPERM this user has no permissions to access one of the channels used as arguments")
)

// denies answers a command that the user may not execute, and reports whether that is so.
func (s *Session) denies(cmd *command.Command, args [][]byte) bool {
	called := cmd.Called(args)
	switch {
	case called == nil:
		return s.deniesUnknown(cmd, args)
	case !called.Enough(len(args)):
		s.reject(cmd, args, wrongArity(called.Name))
		return true
	}
	denial := s.check(s.who.user, called, args, s.context())
	if denial == acl.Allowed {
		return false
	}
	s.reject(cmd, args, noPermission(denial, called))
	return true
}

// context is where a command comes from, for ACL LOG.
func (s *Session) context() string {
	if s.multi.open {
		return "multi"
	}
	return "toplevel"
}

// check returns whether a user may execute a command. A denial is kept for ACL LOG.
func (s *Session) check(user *acl.User, called *command.Command, args [][]byte, context string) acl.Denial {
	denial, at := user.Check(called, args)
	switch denial {
	case acl.Allowed:
	case acl.DeniedCommand:
		s.logDenial(denial, context, []byte(called.Name), user.Name)
	default:
		s.logDenial(denial, context, args[at], user.Name)
	}
	return denial
}

// deniesUnknown answers a subcommand that is not in the table of commands. What else a container knows nobody may use who may not do everything.
func (s *Session) deniesUnknown(cmd *command.Command, args [][]byte) bool {
	err := noPermission(acl.DeniedCommand, cmd)
	if c := containers[cmd.Op]; c != nil {
		if _, unknown := c.find(args); unknown != nil {
			err = unknown
		}
	}
	s.reject(cmd, args, err)
	return true
}

// noPermission is the error for a command that the user may not execute.
func noPermission(denial acl.Denial, called *command.Command) error {
	switch denial {
	case acl.DeniedKey:
		return errNoKey
	case acl.DeniedChannel:
		return errNoChannel
	}
	return route.Refuse("NOPERM this user has no permissions to run the '" + called.Name + "' command")
}

// logDenial keeps a denial for ACL LOG.
func (s *Session) logDenial(reason acl.Denial, context string, object []byte, user string) {
	now := time.Now()
	u := &s.service.users
	client := bytes.TrimSuffix(s.describe(nil, now, nil), []byte("\n"))
	u.logged.Lock()
	defer u.logged.Unlock()
	u.log.Add(acl.Entry{Reason: reason, Context: context, Object: string(object), User: user, At: now.UnixMilli(), Client: string(client)})
}

// logScript keeps for ACL LOG what scripts were denied.
func (s *Session) logScript(denials []command.Denial) {
	user := s.who.user
	if s.multi.as.user != nil {
		user = s.multi.as.user
	}
	for _, d := range denials {
		if reason := acl.Denial(d.Reason); reason <= acl.DeniedChannel {
			s.logDenial(reason, "lua", d.Object, user.Name)
		}
	}
}

// sortProblem says why the user may not use an option of SORT, nothing if it may.
func (s *Session) sortProblem(cmd *command.Command, args [][]byte) string {
	if !s.who.guarded {
		return ""
	}
	return acl.SortDenied(s.who.user, cmd, args)
}

// recheck denies commands of a transaction at EXEC: the user may have lost permissions since they were queued, or is another one then. They are answered with an error, and the others are
// executed. The error is one for EXEC itself.
func (s *Session) recheck() error {
	t := &s.multi
	if !s.who.guarded && !t.authenticates {
		return nil
	}
	user, denied := s.who.user, false
	for i := range t.queue {
		q := &t.queue[i]
		called := q.cmd.Called(q.asked)
		if called == nil {
			continue
		}
		if err := s.recheckOne(q, called, user); err != nil {
			q.op, q.made, q.run, denied = command.OpNone, nil, never(err), true
			q.all, q.refused = false, true
			continue
		}
		if t.authenticates && isScript(q.op) {
			if err := t.as.add(user); err != nil {
				return err
			}
		}
		user = s.foresee(q, user)
	}
	if denied {
		s.readmit()
	}
	return nil
}

// recheckOne says why a user may not execute a command that is queued, nil if it may.
func (s *Session) recheckOne(q *queued, called *command.Command, user *acl.User) error {
	if denial := s.check(user, called, q.asked, "multi"); denial != acl.Allowed {
		return changedSince(denial)
	}
	if problem := acl.SortDenied(user, q.cmd, q.asked); problem != "" {
		return route.Refuse(problem)
	}
	return nil
}

// readmit finds out again how the commands of a transaction are executed: some are only answered now.
func (s *Session) readmit() {
	t := &s.multi
	t.all, t.key, t.asks, t.writes, t.everywhere, t.scripts, t.pieces = nil, nil, false, false, "", false, false
	for i := range t.queue {
		_ = s.admit(&t.queue[i]) // which fewer do not contradict
	}
}

// changedSince is the error for a command that was queued when the user was allowed to execute it.
func changedSince(denial acl.Denial) error {
	reason := "no permission to execute the command or subcommand"
	switch denial {
	case acl.DeniedKey:
		reason = "no permission to touch the specified keys"
	case acl.DeniedChannel:
		reason = "no permission to access one of the channels used as arguments"
	}
	return route.Refuse("NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: " + reason)
}
