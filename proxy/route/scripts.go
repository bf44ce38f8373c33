package route

import (
	"context"
	"encoding/json"

	"github.com/quolldb/quoll/internal/protocol"
)

// Scripts implements Cluster.
func (c *Coordinator) Scripts(ctx context.Context, q protocol.ScriptsRequest) (running []protocol.RunningScript, silent int) {
	view := c.ring.Load()
	if view == nil {
		return nil, 0
	}
	payload, _ := json.Marshal(q) // of two booleans
	said := askAll(ctx, c, view, protocol.MethodScripts, func(uint64) []byte { return payload }, func(reply []byte) (some []protocol.RunningScript, err error) {
		return some, json.Unmarshal(reply, &some)
	})
	for _, some := range said.answers {
		if some == nil {
			silent++
			continue
		}
		running = append(running, *some...)
	}
	return running, silent
}
