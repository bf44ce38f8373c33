package change

import (
	"fmt"
	"slices"
	"strings"
)

// The limits of users: of the name and the rules of one in bytes, of all together, and of how many one entry changes.
const (
	MaxUserName  = 256
	MaxUserRules = 64 << 10
	MaxUsers     = 1 << 20
	maxChanged   = 1024
	// userCost is what a user takes beside its name and rules.
	userCost = 16
)

// User is somebody that clients of the cluster can log in as.
type User struct {
	Name string
	// Rules are words of ACL SETUSER that make the user, as package acl writes them: passwords are hashes. The document does not know what they mean.
	Rules string
	// Since is the version of the document in which the user was made. It tells the user from one of the same name that was deleted before.
	Since uint64
}

// UserRules are a user's name, and rules that it gets. They are bytes, for entries are JSON, and neither has to be UTF-8.
type UserRules struct {
	Name  []byte `json:"name"`
	Rules []byte `json:"rules"`
}

// Users changes users: it makes some, or gives them other rules, and deletes others.
type Users struct {
	// Seen is Document.UsersAt as it was when the change was made. If it is another one now, the change is refused: it may have been made of rules that hold no more.
	Seen   uint64      `json:"seen"`
	Set    []UserRules `json:"set,omitempty"`
	Delete [][]byte    `json:"delete,omitempty"`
}

func (c *Users) apply(e *edit) error {
	if c.Seen != e.UsersAt {
		return ErrUsersStale
	}
	users, err := c.To(e.Users, e.Version)
	if err != nil {
		return err
	}
	e.Users, e.UsersAt = users, e.Version
	e.note("%s", c.words())
	return nil
}

// To returns the users after the change, ordered by name; version is that of the document that they are in.
func (c *Users) To(users []User, version uint64) ([]User, error) {
	if len(c.Set)+len(c.Delete) == 0 || len(c.Set)+len(c.Delete) > maxChanged {
		return nil, fmt.Errorf("%w: %d users are changed, and %d deleted", ErrImpossible, len(c.Set), len(c.Delete))
	}
	next := slices.DeleteFunc(slices.Clone(users), func(u User) bool {
		return slices.ContainsFunc(c.Delete, func(name []byte) bool { return string(name) == u.Name })
	})
	for _, set := range c.Set {
		at, there := slices.BinarySearchFunc(next, string(set.Name), func(u User, name string) int { return strings.Compare(u.Name, name) })
		if there {
			next[at].Rules = string(set.Rules)
			continue
		}
		next = slices.Insert(next, at, User{Name: string(set.Name), Rules: string(set.Rules), Since: version})
	}
	return next, checkUsers(next, version)
}

// words says in the history what was changed. Rules have hashes of passwords, and are not shown.
func (c *Users) words() string {
	var what []string
	for _, set := range c.Set {
		what = append(what, "sets user "+string(set.Name))
	}
	for _, name := range c.Delete {
		what = append(what, "deletes user "+string(name))
	}
	return strings.ToValidUTF8(strings.Join(what, ", "), "?")
}

// checkUsers reports the first thing that is wrong with users.
func checkUsers(users []User, version uint64) error {
	size := 0
	for i, u := range users {
		size += len(u.Name) + len(u.Rules) + userCost
		switch {
		case i > 0 && u.Name <= users[i-1].Name:
			return fmt.Errorf("%w: user %q is behind user %q", ErrImpossible, u.Name, users[i-1].Name)
		case len(u.Name) > MaxUserName:
			return fmt.Errorf("%w: a name has %d bytes, and may have %d", ErrUserSize, len(u.Name), MaxUserName)
		case len(u.Rules) > MaxUserRules:
			return fmt.Errorf("%w: the rules of user %q have %d bytes, and may have %d", ErrUserSize, u.Name, len(u.Rules), MaxUserRules)
		case u.Since == 0 || u.Since > version:
			return fmt.Errorf("%w: user %q is of version %d", ErrImpossible, u.Name, u.Since)
		}
	}
	if size > MaxUsers {
		return fmt.Errorf("%w: all users together take %d bytes, and may take %d: delete some, or give them shorter rules", ErrUserSize, size, MaxUsers)
	}
	return nil
}

func (w *writer) users(users []User) {
	w.number(uint64(len(users)))
	for _, u := range users {
		w.number(u.Since)
		w.text(u.Name)
		w.text(u.Rules)
	}
}

func (r *reader) users() []User {
	return collect(r, MaxUsers/userCost, func() User {
		return User{Since: r.number(), Name: r.textOf(MaxUserName), Rules: r.textOf(MaxUserRules)}
	})
}
