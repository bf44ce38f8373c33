//go:build faults

package node

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// What homes and replicas say to each other may arrive twice and in any order (package
// register), unlike the requests of proxies.
func init() { wire.RepeatableFrames(protocol.FrameReplicate, protocol.FrameReplicateReply) }
