package node

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/ring/change"
)

// answerUsersTime bounds how long a proxy's client waits for the nodes that decide. It is below protocol.UsersTime.
const answerUsersTime = protocol.UsersTime - time.Second

// errNotProxy is that of who may not change users.
var errNotProxy = errors.New("node: only proxies change users")

// answerUsers proposes a change of users for a proxy, and returns what became of it.
func (n *Node) answerUsers(s *session, payload []byte) ([]byte, error) {
	if s.role != wire.RoleProxy {
		return nil, errNotProxy
	}
	var users change.Users
	if err := json.Unmarshal(payload, &users); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(n.life, answerUsersTime)
	defer cancel()
	version, err := n.decisions.proposeAnywhere(ctx, change.Entry{Users: &users})
	reply := protocol.UsersReply{Version: version}
	if err != nil {
		reply = protocol.UsersReply{
			Stale: errors.Is(err, change.ErrUsersStale), Refused: errors.Is(err, consensus.ErrRefused), Unknown: errors.Is(err, consensus.ErrUnknown), Reason: err.Error(),
		}
	}
	return json.Marshal(reply)
}
