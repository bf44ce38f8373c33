package node

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/engine"
)

// answerDurable answers a MethodDurable call. What digests show was staged before they were taken, so it is durable when the engine has synced; the reply leaves after a commit in any case.
func (n *Node) answerDurable(payload []byte) ([]byte, error) {
	keeps := n.opt.settings().Keeps
	if keeps == protocol.InMemory {
		return protocol.AppendDurable(nil, keeps, nil), nil
	}
	digests, err := n.repairs.AnswerDigests(payload)
	if err != nil {
		return nil, err
	}
	if s, ok := n.engine.(engine.Syncer); ok && keeps == protocol.OnDiskSoon {
		if err := s.Sync(); err != nil {
			n.replicas.StorageFailed(err)
			return nil, err
		}
	}
	return protocol.AppendDurable(nil, keeps, digests), nil
}
