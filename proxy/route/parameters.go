package route

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

const (
	// parametersTries is how often a change is made again because there was another one, and parametersPause how long it is waited each time until this proxy has heard of that.
	parametersTries, parametersPause = 20, 100 * time.Millisecond
	// inForceTime is how long a change of parameters waits for the nodes that can be reached to work by it.
	inForceTime = time.Second
)

var errParametersBusy = Refuse("ERR the parameters of the cluster were changed by others all the time; nothing was done. Try again")

// SetParameters implements Cluster.
func (c *Coordinator) SetParameters(ctx context.Context, set []change.Parameter) error {
	for range parametersTries {
		seen := c.parameters.Load()
		d := &decision{method: protocol.MethodParameters, change: change.Parameters{Seen: seen, Set: set}, of: "parameters of the cluster", look: "CONFIG GET"}
		reply, err := c.propose(ctx, d)
		if err != nil {
			return err
		}
		if !reply.Stale {
			if err = d.judge(reply); err == nil {
				c.awaitForce(ctx, reply.Version)
			}
			return err
		}
		awaitFor(ctx, parametersPause, func() bool { return c.parameters.Load() != seen })
	}
	return errParametersBusy
}

// awaitForce waits until this proxy knows a version, and all nodes that can be reached work by it.
func (c *Coordinator) awaitForce(ctx context.Context, version uint64) {
	awaitFor(ctx, learnTime, func() bool { return c.parameters.Load() >= version })
	awaitFor(ctx, inForceTime, func() bool {
		for _, l := range c.ring.Load().nodes {
			if l.up.Load() && l.version.Load() < version {
				return false
			}
		}
		return true
	})
}

// awaitFor waits until something is so, no longer than so.
func awaitFor(ctx context.Context, most time.Duration, is func() bool) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	clock.Await(ctx, is)
}
