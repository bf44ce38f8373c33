package proxytest

import (
	"context"

	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring/change"
)

// ListenUsers implements route.Cluster.
func (c *Cluster) ListenUsers(hear func(route.Users)) {
	c.usersMu.Lock()
	defer c.usersMu.Unlock()
	c.hearUsers = append(c.hearUsers, hear)
	hear(c.users)
}

// ChangeUsers implements route.Cluster. UsersErr is what it answers, if that is set.
func (c *Cluster) ChangeUsers(_ context.Context, changed change.Users) error {
	c.usersMu.Lock()
	defer c.usersMu.Unlock()
	if c.UsersErr != nil {
		return c.UsersErr
	}
	if changed.Seen != c.users.At {
		return route.ErrUsersStale
	}
	list, err := changed.To(c.users.List, c.users.At+1)
	if err != nil {
		return route.Refuse("ERR " + err.Error())
	}
	c.users = route.Users{List: list, At: c.users.At + 1}
	for _, hear := range c.hearUsers {
		hear(c.users)
	}
	return nil
}
