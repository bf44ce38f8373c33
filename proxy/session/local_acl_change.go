package session

import (
	"slices"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// maxACLLog is how many entries ACL LOG may be made to keep.
const maxACLLog = 16384

var (
	errUserName    = route.Refuse("ERR Usernames can't contain spaces or null characters")
	errDefaultUser = route.Refuse("ERR The 'default' user cannot be removed")
	errNoACLFile   = route.Refuse("ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE " +
		"(assuming you have a Redis configuration file set) in order to store users in the Redis configuration.")
	errACLSave = route.Refuse("ERR There was an error trying to save the ACLs. Please check the server logs for more information")
)

// aclSetUser is ACL SETUSER user [rule ...].
func aclSetUser(s *Session, dst []byte, args [][]byte) []byte {
	name := string(args[2])
	if !acl.ValidName(name) {
		return route.AppendReply(dst, errUserName)
	}
	rules := make([]string, 0, len(args)-3)
	for _, arg := range args[3:] {
		rules = append(rules, string(arg))
	}
	err := s.changeUsers(func(now *acl.Users) (e userEdit, err error) {
		before := now.Get(args[2])
		user := before
		if user == nil {
			user = acl.New(name)
		}
		if user, err = user.With(rules); err != nil {
			return e, route.Refuse("ERR " + err.Error())
		}
		// The default user may be that of this proxy only, until somebody sets it.
		if before == nil || before.Stored() != user.Stored() || name == acl.DefaultName {
			e.set = []*acl.User{user}
		}
		return e, nil
	})
	if err == nil {
		s.audit("ACL SETUSER", "user", name)
	}
	return s.appendChanged(dst, err, []byte(resp.OK))
}

// aclDelUser is ACL DELUSER user [user ...].
func aclDelUser(s *Session, dst []byte, args [][]byte) []byte {
	var names []string
	for _, arg := range args[2:] {
		if string(arg) == acl.DefaultName {
			return route.AppendReply(dst, errDefaultUser)
		}
		names = append(names, string(arg))
	}
	deleted := 0
	err := s.changeUsers(func(now *acl.Users) (e userEdit, err error) {
		for _, name := range names {
			if now.Get([]byte(name)) != nil && !slices.Contains(e.delete, name) {
				e.delete = append(e.delete, name)
			}
		}
		deleted = len(e.delete)
		return e, nil
	})
	if err == nil && deleted > 0 {
		s.audit("ACL DELUSER", "users", names)
	}
	return s.appendChanged(dst, err, resp.AppendInt(nil, int64(deleted)))
}

// aclLoad is ACL LOAD: all of the file, or nothing if some of it is wrong. As in Redis clients of all users but the default one are disconnected.
func aclLoad(s *Session, dst []byte, _ [][]byte) []byte {
	file := s.service.cfg.UserFile
	if file == nil {
		return route.AppendReply(dst, errNoACLFile)
	}
	text, err := file.Read()
	if err != nil {
		return route.AppendReply(dst, route.Refuse("ERR "+err.Error()))
	}
	loaded, err := acl.ParseFile(file.Path, text, acl.NewDefault(s.service.cfg.Password))
	if err != nil {
		return route.AppendReply(dst, route.Refuse("ERR "+err.Error()))
	}
	u := &s.service.users
	s.info.changing.Store(true)
	u.changing.Lock()
	for _, user := range loaded.List() {
		if user.Name != acl.DefaultName {
			u.lives++
			user.Life = u.lives
		}
	}
	s.service.publishUsers(&userSet{Users: loaded})
	u.changing.Unlock()
	s.audit("ACL LOAD", "file", file.Path)
	return s.appendChanged(dst, nil, []byte(resp.OK))
}

// aclSave is ACL SAVE.
func aclSave(s *Session, dst []byte, _ [][]byte) []byte {
	file := s.service.cfg.UserFile
	if file == nil {
		return route.AppendReply(dst, errNoACLFile)
	}
	s.service.users.changing.Lock()
	defer s.service.users.changing.Unlock()
	if err := file.Write(acl.FormatFile(s.users())); err != nil {
		s.service.cfg.Logger.Error("the ACL file was not written: ACL SAVE has failed, and the file is as it was", "file", file.Path, "err", err)
		return route.AppendReply(dst, errACLSave)
	}
	s.audit("ACL SAVE", "file", file.Path)
	return append(dst, resp.OK...)
}

// changeUsers is Service.changeUsers for a client, which is answered even if it is none of the users any more.
func (s *Session) changeUsers(edit func(now *acl.Users) (userEdit, error)) error {
	s.info.changing.Store(true)
	return s.service.changeUsers(s.conn.Server().Context(), edit)
}

// appendChanged appends the reply to a change of users. A client that is none of them any more is disconnected behind it.
func (s *Session) appendChanged(dst []byte, err error, reply []byte) []byte {
	s.info.changing.Store(false)
	if s.users().Of(s.who.user) == nil {
		s.conn.Quit()
	}
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, reply...)
}
