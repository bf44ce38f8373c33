package proxytest

import (
	"context"
	"strconv"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring/change"
)

// KeepInMemory makes the cluster one of nodes in memory, without a limit.
func (c *Cluster) KeepInMemory() *Cluster {
	c.usersMu.Lock()
	defer c.usersMu.Unlock()
	c.memory = memoryBy(eviction.DefaultSettings(), 0)
	return c
}

func memoryBy(s eviction.Settings, limit int64) admin.Memory {
	return admin.Memory{Limit: limit, Policy: s.Policy.String(), Samples: s.Samples, LogFactor: s.LogFactor, DecayTime: s.DecayTime}
}

// Memory implements route.Cluster.
func (c *Cluster) Memory(context.Context) (admin.Memory, error) {
	c.usersMu.Lock()
	defer c.usersMu.Unlock()
	return c.memory, nil
}

// SetParameters implements route.Cluster. UsersErr is what it answers, if that is set.
func (c *Cluster) SetParameters(_ context.Context, set []change.Parameter) error {
	c.usersMu.Lock()
	defer c.usersMu.Unlock()
	if c.UsersErr != nil {
		return c.UsersErr
	}
	policy, _ := eviction.ParsePolicy(c.memory.Policy)
	s, limit := eviction.Settings{Policy: policy, Samples: c.memory.Samples, LogFactor: c.memory.LogFactor, DecayTime: c.memory.DecayTime}, c.memory.Limit
	for _, p := range set {
		if p.Name == eviction.MaxMemory {
			limit, _ = strconv.ParseInt(p.Value, 10, 64)
		} else if err := s.Set(p.Name, p.Value); err != nil {
			return route.Refuse("ERR " + err.Error())
		}
	}
	c.memory = memoryBy(s, limit)
	return nil
}
