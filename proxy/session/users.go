package session

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring/change"
)

// Who the users are: those of the ACL file, if the proxy has one, else those of the cluster. In both cases a set of them never changes: whoever changes users makes another set. Each session looks, before each
// command, whether there is one, and follows it.

// UserFile is an ACL file.
type UserFile struct {
	// Path is its name, for errors.
	Path string
	// Users are those that it had when the proxy began.
	Users *acl.Users
	// Read returns its text, and Write replaces it, all or nothing.
	Read  func() (string, error)
	Write func(text string) error
}

// userSet are the users at some moment.
type userSet struct {
	*acl.Users
	// provisional: the cluster has not been asked yet, and there is the default user only, as the proxy was started.
	provisional bool
}

// users are those that clients can log in as. Any goroutine may use them.
type users struct {
	now    atomic.Pointer[userSet]
	server atomic.Pointer[front.Server] // whose clients they are; nil while there was none

	// changing is held by whoever changes the users of a file: one after the other.
	changing sync.Mutex
	lives    uint64 // that were given out

	// heard guards what the cluster has said last.
	heard sync.Mutex
	of    route.Users
	known map[string]knownUser

	logged sync.Mutex
	log    acl.Log
}

// knownUser is a user of the cluster, and what it was made of.
type knownUser struct {
	change.User
	made *acl.User
}

// startUsers begins with the users of the file, or with the default user until those of the cluster are known.
func (s *Service) startUsers() {
	u := &s.users
	u.log.SetLength(acl.DefaultLogLength)
	if file := s.cfg.UserFile; file != nil {
		u.now.Store(&userSet{Users: file.Users})
		return
	}
	u.now.Store(&userSet{Users: acl.NewUsers(acl.NewDefault(s.cfg.Password)), provisional: true})
	s.cluster.ListenUsers(s.hearUsers)
}

// hearUsers takes the users that the cluster has now.
func (s *Service) hearUsers(of route.Users) {
	u := &s.users
	u.heard.Lock()
	defer u.heard.Unlock()
	list, known := []*acl.User{}, make(map[string]knownUser, len(of.List))
	for _, stored := range of.List {
		k := u.known[stored.Name]
		if k.made == nil || k.User != stored {
			k = knownUser{stored, s.makeUser(stored)}
		}
		known[stored.Name] = k
		list = append(list, k.made)
	}
	_, has := known[acl.DefaultName]
	if _, had := u.known[acl.DefaultName]; has && !had && s.cfg.Password != "" {
		s.cfg.Logger.Info("the cluster has a default user of its own: the password that this proxy was started with is not asked for")
	}
	if !has {
		list = append(list, acl.NewDefault(s.cfg.Password))
	}
	u.of, u.known = of, known
	s.publishUsers(&userSet{Users: acl.NewUsers(list...)})
}

// makeUser makes a user of the cluster. One whose rules this version of Quoll does not understand may do nothing.
func (s *Service) makeUser(stored change.User) *acl.User {
	user := acl.New(stored.Name)
	if stored.Name != acl.DefaultName {
		user.Life = stored.Since
	}
	made, err := user.With(strings.Split(stored.Rules, " "))
	if err != nil {
		s.cfg.Logger.Error("a user of the cluster has rules that this proxy does not understand, and may do nothing here: proxies may be of different versions", "user", stored.Name, "err", err)
		return user
	}
	return made
}

// publishUsers makes users known to all sessions. Clients whose user is gone, and those who listen to what their user may not hear of any more, are disconnected.
func (s *Service) publishUsers(next *userSet) {
	before := s.users.now.Swap(next)
	server := s.users.server.Load()
	if server == nil {
		return
	}
	lost := map[*acl.User]*acl.User{} // who loses channels, and who they are now
	for _, user := range before.List() {
		if now := next.Of(user); now != nil && now != user && user.LosesChannels(now) {
			lost[user] = now
		}
	}
	for _, c := range server.Conns() {
		client, ok := c.Session().(*Session)
		if user := client.info.user.Load(); ok && next.Of(user) == nil && !client.info.changing.Load() {
			c.HangUp()
		}
	}
	if len(lost) > 0 {
		s.subscribers.endForbidden(func(client *Session) *acl.User { return lost[client.info.user.Load()] })
	}
}

// endForbidden disconnects clients that subscribe to what their user, which is looked up, may not hear of. Those of whom it is nil stay.
func (t *subscribers) endForbidden(user func(*Session) *acl.User) {
	for _, client := range t.forbidden(user) {
		client.conn.HangUp()
	}
}

func (t *subscribers) forbidden(user func(*Session) *acl.User) (list []*Session) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for kind, names := range t.by {
		for name, clients := range names {
			for client := range clients {
				if u := user(client); u != nil && !u.PermitsChannel([]byte(name), protocol.InterestKind(kind) == protocol.OfPattern) {
					list = append(list, client)
				}
			}
		}
	}
	return list
}

// logLength is how many entries ACL LOG keeps.
func (u *users) logLength() int {
	u.logged.Lock()
	defer u.logged.Unlock()
	return u.log.Length()
}

func (u *users) setLogLength(most int) {
	u.logged.Lock()
	defer u.logged.Unlock()
	u.log.SetLength(most)
}

// userEdit is a change of users: who is set, and who is deleted.
type userEdit struct {
	set    []*acl.User
	delete []string
}

// usersTries is how often a change is made again because the users have changed meanwhile.
const usersTries = 20

// changeUsers makes a change of the users that there are, for this proxy if they are of its file, else for the cluster. edit may be called several times. The error is a reply.
func (s *Service) changeUsers(ctx context.Context, edit func(now *acl.Users) (userEdit, error)) error {
	if s.cfg.UserFile != nil {
		return s.changeOwnUsers(edit)
	}
	for range usersTries {
		s.users.heard.Lock()
		seen, now := s.users.of.At, s.users.now.Load()
		s.users.heard.Unlock()
		if now.provisional {
			return cmp.Or(s.cluster.Loading(), error(route.ErrNotReady))
		}
		e, err := edit(now.Users)
		if err != nil || len(e.set)+len(e.delete) == 0 {
			return err
		}
		wanted := change.Users{Seen: seen}
		for _, u := range e.set {
			wanted.Set = append(wanted.Set, change.UserRules{Name: []byte(u.Name), Rules: []byte(u.Stored())})
		}
		for _, name := range e.delete {
			wanted.Delete = append(wanted.Delete, []byte(name))
		}
		if err = s.cluster.ChangeUsers(ctx, wanted); !errors.Is(err, route.ErrUsersStale) {
			return err
		}
		time.Sleep(usersPause) // until this proxy has heard what has changed
	}
	return errUsersBusy
}

const usersPause = 50 * time.Millisecond

var errUsersBusy = route.Refuse("ERR the users were changed by others all the time; nothing was done. Try again")

// changeOwnUsers is changeUsers of users of a file. As in Redis that stays as it is until ACL SAVE.
func (s *Service) changeOwnUsers(edit func(now *acl.Users) (userEdit, error)) error {
	u := &s.users
	u.changing.Lock()
	defer u.changing.Unlock()
	all := u.now.Load().Users
	e, err := edit(all)
	if err != nil {
		return err
	}
	next, _ := all.Without(e.delete)
	for _, user := range e.set {
		if all.Get([]byte(user.Name)) == nil {
			u.lives++
			user.Life = u.lives
		}
		next = next.With(user)
	}
	s.publishUsers(&userSet{Users: next})
	return nil
}
