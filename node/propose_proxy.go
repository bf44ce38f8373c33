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

// What clients change for the whole cluster, through proxies: users, and parameters of CONFIG.

// answerProxyTime bounds how long a proxy's client waits for the nodes that decide. It is below protocol.DecisionTime.
const answerProxyTime = protocol.DecisionTime - time.Second

// errNotProxy is that of who may not change them.
var errNotProxy = errors.New("node: only proxies change users and parameters")

// answerUsers proposes a change of users for a proxy, and returns what became of it.
func (n *Node) answerUsers(s *session, payload []byte) ([]byte, error) {
	var users change.Users
	return n.answerProxy(s, payload, &users, change.Entry{Users: &users})
}

// answerParameters proposes a change of parameters for a proxy, and returns what became of it.
func (n *Node) answerParameters(s *session, payload []byte) ([]byte, error) {
	var parameters change.Parameters
	return n.answerProxy(s, payload, &parameters, change.Entry{Parameters: &parameters})
}

// answerProxy proposes an entry, in which payload is to be read.
func (n *Node) answerProxy(s *session, payload []byte, into any, e change.Entry) ([]byte, error) {
	if s.role != wire.RoleProxy {
		return nil, errNotProxy
	}
	if err := json.Unmarshal(payload, into); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(n.life, answerProxyTime)
	defer cancel()
	version, err := n.decisions.proposeAnywhere(ctx, e)
	reply := protocol.DecisionReply{Version: version}
	if err != nil {
		reply = protocol.DecisionReply{
			Stale: errors.Is(err, change.ErrUsersStale) || errors.Is(err, change.ErrParametersStale), Nothing: errors.Is(err, change.ErrNothing),
			Refused: errors.Is(err, consensus.ErrRefused), Unknown: errors.Is(err, consensus.ErrUnknown), Reason: err.Error(),
		}
	}
	return json.Marshal(reply)
}
