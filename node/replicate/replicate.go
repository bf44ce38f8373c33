package replicate

import (
	"log/slog"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/node/transfer"
)

// Replicator hands what comes from other nodes to this node's replicas and homes. Any goroutine may use it.
type Replicator struct {
	host     *replica.Host
	metrics  *metrics.Node
	log      *slog.Logger
	incoming transfer.Room
}

// New returns a Replicator of a node's replicas.
func New(host *replica.Host, metrics *metrics.Node, log *slog.Logger) *Replicator {
	r := &Replicator{host: host, metrics: metrics, log: log}
	r.incoming.Limit, r.incoming.Full = maxIncoming, host.Space.Brimful
	return r
}

// Incoming bounds the large objects that are on their way.
func (r *Replicator) Incoming() *transfer.Room { return &r.incoming }
