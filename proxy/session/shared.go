package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/ring/change"
)

// Parameters of CONFIG that are not this proxy's but the whole cluster's: how much the nodes' data may take, and what goes when they take more. Those who decide on the ring decide what they
// are, as they do about users, and all nodes work by it.

// sharedParameters say, by name, how a value is kept, empty for: as each node was started.
var sharedParameters = map[string]func(value string) (kept string, err error){
	eviction.MaxMemory:        keptMemory,
	eviction.MaxMemoryPolicy:  keptPolicy,
	eviction.MaxMemorySamples: keptNumber(1, eviction.MostSamples),
	eviction.LfuLogFactor:     keptNumber(0, eviction.MostLFU),
	eviction.LfuDecayTime:     keptNumber(0, eviction.MostLFU),
}

func keptMemory(value string) (string, error) {
	n, ok := parseMemory(value)
	switch {
	case !ok:
		return "", errNotMemory
	case n == 0:
		return "", nil
	}
	return decimal(n), nil
}

// redisPolicies are the policies in the order in which Redis names them.
const redisPolicies = "volatile-lru, volatile-lfu, volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, noeviction"

func keptPolicy(value string) (string, error) {
	policy, err := eviction.ParsePolicy(value)
	if err != nil {
		return "", fmt.Errorf("argument(s) must be one of the following: %s", redisPolicies)
	}
	return policy.String(), nil
}

func keptNumber(least, most int64) func(string) (string, error) {
	return func(value string) (string, error) {
		n, err := parseNumber(value, least, most)
		return decimal(n), err
	}
}

// errNoneInMemory is that of a cluster whose nodes have no such limit.
var errNoneInMemory = errors.New("no node that answers keeps its data in memory: nodes on disk evict nothing, and --max-disk bounds what they take")

// ofNodes is a parameter that is the nodes'. Where none of them has it, it may be set to what it is.
func ofNodes(name string, get func(admin.Memory) string) parameter {
	return parameter{name, func(s *Session) string { return get(s.service.memory()) }, func(s *Session, value string) (func(), error) {
		kept, err := sharedParameters[name](value)
		switch {
		case err != nil:
			return nil, err
		case kept == "":
			kept = "0"
		}
		if m := s.service.memory(); !s.service.inMemory() && kept != get(m) {
			return nil, errNoneInMemory
		}
		return func() {}, nil
	}, ""}
}

// share has parameters set for the whole cluster. The error is a reply.
func (s *Service) share(ctx context.Context, set []change.Parameter) error {
	if len(set) == 0 || !s.inMemory() {
		return nil
	}
	defer s.nodes.forget()
	if slices.ContainsFunc(set, func(p change.Parameter) bool { return p.Name == eviction.MaxMemory }) {
		defer s.stats.memoryMayBeShort()
	}
	return s.cluster.SetParameters(ctx, set)
}

// shares returns how values of parameters are kept that are the whole cluster's. pairs has names and values, which have been checked.
func shares(pairs [][]byte) (set []change.Parameter) {
	for i := 0; i < len(pairs); i += 2 {
		name := strings.ToLower(string(pairs[i]))
		if keep := sharedParameters[name]; keep != nil {
			kept, _ := keep(string(pairs[i+1]))
			set = append(set, change.Parameter{Name: name, Value: kept})
		}
	}
	return set
}
