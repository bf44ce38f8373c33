package acl

import (
	"slices"
	"strings"
)

// Users are all users, one of each name, among them the default one. They do not change: With and Without return others.
type Users struct {
	byName map[string]*User
	list   []*User // by name
}

// NewUsers returns users, of whom one is the default one.
func NewUsers(list ...*User) *Users {
	all := &Users{byName: make(map[string]*User, len(list)), list: slices.Clone(list)}
	slices.SortFunc(all.list, func(a, b *User) int { return strings.Compare(a.Name, b.Name) })
	for _, u := range list {
		all.byName[u.Name] = u
	}
	return all
}

// Get returns the user of that name, nil if there is none.
func (all *Users) Get(name []byte) *User { return all.byName[string(name)] }

// Default returns the user that every connection begins with.
func (all *Users) Default() *User { return all.byName[DefaultName] }

// List returns the users, ordered by name. The slice must not be changed.
func (all *Users) List() []*User { return all.list }

// With returns the users with one more, or with one instead of that of its name.
func (all *Users) With(u *User) *Users {
	list := slices.DeleteFunc(slices.Clone(all.list), func(other *User) bool { return other.Name == u.Name })
	return NewUsers(append(list, u)...)
}

// Without returns the users without some of them, and how many of these there were.
func (all *Users) Without(names []string) (rest *Users, removed int) {
	list := slices.DeleteFunc(slices.Clone(all.list), func(u *User) bool { return slices.Contains(names, u.Name) })
	return NewUsers(list...), len(all.list) - len(list)
}

// Of returns who a user of before is now: of the same name and life, nil if that is gone.
func (all *Users) Of(before *User) *User {
	if u := all.byName[before.Name]; u != nil && u.Life == before.Life {
		return u
	}
	return nil
}
