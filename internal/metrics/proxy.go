package metrics

import "github.com/prometheus/client_golang/prometheus"

// MaxOps is the number of commands that a Proxy can count.
const MaxOps = 256

// Proxy counts what a proxy does. The zero Proxy is ready.
type Proxy struct {
	// Clients is the number of connected clients.
	Clients Gauge
	// Connections counts accepted connections, Rejected those beyond the limit, and
	// Evicted clients that were disconnected because they did not read.
	Connections, Rejected, Evicted Counter

	// Commands counts the commands received, indexed by command.Op.
	Commands [MaxOps]Counter

	// Error replies by kind: definitely without effect and not the client's fault,
	// outcome unknown, all others (wrong type, syntax).
	NoEffect, Unknown, Errors Counter

	// Reads by who answered: a quorum at one version, or the home.
	QuorumReads, HomeReads Counter

	// Retries counts operations that were sent again, to another replica.
	Retries Counter

	// BatchSize counts the commands of each batch that one read of a client's socket
	// delivered, and BatchLatency how long it took to answer it.
	BatchSize, BatchLatency Histogram

	// Traffic with clients.
	BytesIn, BytesOut Counter
}

// Link is the state of the proxy's link to a node.
type Link struct {
	Node string
	Up   bool
}

// Register shows the proxy. commands are the names of Commands, by index; those
// without a name are left out, and so are commands that nobody used. links is called at
// every scrape, maybe from several goroutines at once.
func (p *Proxy) Register(r *Registry, commands []string, links func() []Link) {
	c := &collector{}
	c.value(prometheus.GaugeValue, "quoll_proxy_connected_clients", "Connected clients.",
		func() float64 { return float64(p.Clients.Value()) })
	c.counter("quoll_proxy_connections_total", "Client connections accepted.", &p.Connections)
	c.counter("quoll_proxy_rejected_connections_total", "Client connections refused because of the limit.", &p.Rejected)
	c.counter("quoll_proxy_evicted_clients_total", "Clients disconnected because they did not read.", &p.Evicted)
	c.used("quoll_proxy_commands_total", "Commands received.", "command", named(p.Commands[:], commands))
	c.counters("quoll_proxy_command_errors_total", "Commands answered with an error, by kind.", "kind",
		kind{"no_effect", &p.NoEffect}, kind{"unknown", &p.Unknown}, kind{"error", &p.Errors})
	c.counters("quoll_proxy_reads_total", "Reads, by who answered.", "by",
		kind{"quorum", &p.QuorumReads}, kind{"home", &p.HomeReads})
	c.counter("quoll_proxy_retries_total", "Operations sent again to another replica.", &p.Retries)
	c.histogram("quoll_proxy_batch_commands", "Commands in a batch.", &p.BatchSize, 1)
	c.histogram("quoll_proxy_batch_duration_seconds", "Time to answer a batch.", &p.BatchLatency, 1e-6)
	c.counter("quoll_proxy_received_bytes_total", "Bytes received from clients.", &p.BytesIn)
	c.counter("quoll_proxy_sent_bytes_total", "Bytes sent to clients.", &p.BytesOut)
	c.values(prometheus.GaugeValue, "quoll_proxy_link_up", "1 if the link to the node is up.", "node", func(emit emit) {
		for _, link := range links() {
			emit(truth(link.Up), link.Node)
		}
	})
	r.prometheus.MustRegister(c)
}

// used shows Counters as counters does, without those that are zero: a hundred
// commands that nobody uses are noise.
func (c *collector) used(name, help, label string, kinds []kind) {
	c.values(prometheus.CounterValue, name, help, label, func(emit emit) {
		for _, k := range kinds {
			if n := k.counter.Value(); n > 0 {
				emit(float64(n), k.value)
			}
		}
	})
}
