package node

import (
	"errors"
	"log/slog"
	"strconv"

	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring/change"
)

// How much a node in memory may have of data, and which keys go when it has more, is what clients have set for the whole cluster (CONFIG SET, change.Parameters), and for what nobody has
// set, what the node was started with.

// limiter sets the limits of an engine. It is called by one goroutine at a time.
type limiter struct {
	engine engine.Evicting
	// settings and limit are what the node was started with, and room is the most that a limit can be, 0 for any.
	settings    eviction.Settings
	limit, room int64
	log         *slog.Logger
}

func newLimiter(e engine.Evicting, room int64, log *slog.Logger) *limiter {
	_, limit := e.Memory()
	return &limiter{engine: e, settings: *e.Eviction(), limit: limit, room: room, log: log}
}

// follow has the limits be those of a version of the ring. It reports whether they are others than before.
func (l *limiter) follow(doc *change.Document) (changed bool) {
	settings, limit := l.settings, l.limit
	for _, p := range doc.Parameters {
		var err error
		if p.Name == eviction.MaxMemory {
			limit, err = l.limitOf(p.Value)
		} else {
			err = settings.Set(p.Name, p.Value)
		}
		if err != nil && !errors.Is(err, eviction.ErrUnknown) { // what is not known is not this node's affair
			l.log.Error("a parameter that was set for the cluster is none that this node understands: it goes on with what it was started with. Nodes may be of different versions", "parameter", p.Name, "value", p.Value, "err", err)
		}
	}
	_, before := l.engine.Memory()
	if settings == *l.engine.Eviction() && limit == before {
		return false
	}
	l.engine.SetLimit(limit)
	if settings != *l.engine.Eviction() {
		l.engine.SetEviction(settings)
	}
	l.log.Info("how much the data may take, and what goes when they take more, has changed", "maxmemory", limit, "maxmemory-policy", settings.Policy, "maxmemory-samples", settings.Samples,
		"lfu-log-factor", settings.LogFactor, "lfu-decay-time", settings.DecayTime)
	return true
}

// limitOf returns the limit that clients have set, no more than there is room for.
func (l *limiter) limitOf(value string) (int64, error) {
	set, err := strconv.ParseInt(value, 10, 64)
	if err != nil || set <= 0 {
		return l.limit, eviction.ErrValue
	}
	if l.room > 0 && set > l.room {
		l.log.Warn("maxmemory was set to more than this node has room for, and is what --memory leaves for data", "set", set, "maxmemory", l.room)
		return l.room, nil
	}
	return set, nil
}
