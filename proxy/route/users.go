package route

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/wire"
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

// errNoDecider is returned when no node can be asked.
var errNoDecider = Refuse("CLUSTERDOWN no node can be asked to change users; nothing was done, and the users that there are can be used on. Try again, and see 'quoll ring status' if it stays so")

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
	reply, err := c.proposeUsers(ctx, users)
	switch {
	case err != nil:
		return err
	case reply.Stale:
		return ErrUsersStale
	case reply.Refused:
		return Refuse("ERR the users were not changed: " + reply.Reason)
	case reply.Unknown:
		return &ReplyError{Outcome: answer.Unknown, Text: "UNKNOWN the change of users was proposed, and nobody can tell what became of it: look at ACL LIST when a majority of the nodes that decide is there again (quoll ring status). " + reply.Reason}
	case reply.Version == 0:
		return Refuse("ERR the users were not changed; those that there are can be used on. A majority of the nodes that decide has to be there (quoll ring status). " + reply.Reason)
	}
	ctx, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	clock.Await(ctx, func() bool {
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

// proposeUsers has some node propose a change, the next one if one cannot be asked.
func (c *Coordinator) proposeUsers(ctx context.Context, users change.Users) (reply protocol.UsersReply, err error) {
	view := c.ring.Load()
	if view == nil {
		return reply, ErrNotReady
	}
	payload, err := json.Marshal(users)
	if err != nil {
		return reply, err
	}
	ctx, cancel := context.WithTimeout(ctx, protocol.UsersTime)
	defer cancel()
	err = errNoDecider
	for _, l := range view.nodes {
		if !l.up.Load() {
			continue
		}
		payload, asked := l.caller.Call(ctx, protocol.MethodUsers, payload)
		switch {
		case asked == nil:
			return reply, json.Unmarshal(payload, &reply)
		case errors.Is(asked, protocol.ErrCall), errors.Is(asked, wire.ErrDown): // it has done nothing
			err = Refuse(fmt.Sprintf("ERR the users were not changed: node %s: %s", l.address, asked))
		default:
			return protocol.UsersReply{Unknown: true, Reason: asked.Error()}, nil
		}
	}
	return reply, err
}
