package route

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// Users are those of the cluster, as a version of the ring has them.
type Users struct {
	List []change.User
	// At is the version in which they changed last, 0 if they never did.
	At uint64
}

// ErrUsersStale is returned by ChangeUsers when the users have changed meanwhile.
var ErrUsersStale = errors.New("proxy: the users have changed meanwhile")

// learnTime is how long a change of users waits until this proxy has heard of it.
const learnTime = 2 * time.Second

// usersHeard are the users as this proxy knows them, and who is told.
type usersHeard struct {
	mu   sync.Mutex
	now  *Users // nil until the ring is known
	hear func(Users)
}

// ListenUsers implements Cluster.
func (c *Coordinator) ListenUsers(hear func(Users)) {
	c.users.mu.Lock()
	defer c.users.mu.Unlock()
	c.users.hear = hear
	if c.users.now != nil {
		hear(*c.users.now)
	}
}

// learnUsers takes the users of a document that was learned, and says so if they are others.
func (c *Coordinator) learnUsers(doc *change.Document) {
	c.users.mu.Lock()
	defer c.users.mu.Unlock()
	first := c.users.now == nil || c.users.now.At != doc.UsersAt
	c.users.now = &Users{List: doc.Users, At: doc.UsersAt}
	if first && c.users.hear != nil {
		c.users.hear(*c.users.now)
	}
}

// ChangeUsers implements Cluster.
func (c *Coordinator) ChangeUsers(ctx context.Context, users change.Users) error {
	d := &decision{method: protocol.MethodUsers, change: users, of: "users", look: "ACL LIST"}
	reply, err := c.propose(ctx, d)
	if err == nil && reply.Stale {
		return ErrUsersStale
	}
	if err == nil {
		err = d.judge(reply)
	}
	if err != nil {
		return err
	}
	awaitFor(ctx, learnTime, func() bool {
		view := c.ring.Load()
		return view != nil && view.table.Version() >= reply.Version && c.usersAt() >= reply.Version
	})
	return nil
}

func (c *Coordinator) usersAt() uint64 {
	c.users.mu.Lock()
	defer c.users.mu.Unlock()
	if c.users.now == nil {
		return 0
	}
	return c.users.now.At
}
