package metrics

import "github.com/prometheus/client_golang/prometheus"

// Proxy is where the numbers of a proxy come from: functions that are called at
// every scrape, maybe from several goroutines at once. All of them are required. The
// proxy counts by itself, since INFO shows the same numbers to clients.
type Proxy struct {
	// Clients is the number of connected clients.
	Clients func() int64
	// Accepted counts client connections, Rejected those beyond the limit. SlowReaders, OutputExceeded,
	// ProtocolErrors, Panics, Evicted and TurnedOut count those that the proxy closed for it.
	Accepted, Rejected, SlowReaders, OutputExceeded, ProtocolErrors, Panics, Evicted, TurnedOut func() uint64
	// HandshakesFailed counts handshakes of TLS that did not succeed, HandshakesStalled those that took too long.
	HandshakesFailed, HandshakesStalled func() uint64
	// WrongPasswords counts those that clients gave, ThrottledPasswords those that were not looked at since their address had been wrong
	// too often.
	WrongPasswords, ThrottledPasswords func() uint64

	// Commands calls emit for every command with the number of calls, and how many of
	// them were answered with an error.
	Commands func(emit func(name string, calls, failed uint64))
	// Errors is the number of error replies by their first word: UNKNOWN is the one
	// that leaves the outcome open.
	Errors func() map[string]uint64

	// QuorumReads were answered by a majority at one version, HomeReads by a home, NearestReads by one replica to clients that are READONLY.
	// Retries are operations that were sent again, to another replica.
	QuorumReads, HomeReads, NearestReads, Retries func() uint64
	// Slow are operations that took longer than the operation time-out, since a node was behind.
	Slow func() uint64

	// BatchSize is the number of operations that one read of a client's socket made,
	// BatchTime the microseconds that the nodes took for them.
	BatchSize, BatchTime func() Distribution

	// BytesOut are sent to clients.
	BytesOut func() uint64
	// OwnRack and OtherRacks return how many bytes were sent to nodes and received from them, by whether they are in the proxy's rack.
	OwnRack, OtherRacks func() (sent, received uint64)

	// Links are the proxy's links to the nodes.
	Links func() []Link
}

// Distribution is a histogram: the number of observations, their sum, and how many
// were at most each bound.
type Distribution struct {
	Count, Sum uint64
	UpTo       map[float64]uint64
}

// Link is the state of the proxy's link to a node.
type Link struct {
	Node string
	Up   bool
}

// Register shows the proxy. Commands that nobody used are left out.
func (p Proxy) Register(r *Registry) {
	c := &collector{}
	c.value(prometheus.GaugeValue, "quoll_proxy_connected_clients", "Connected clients.",
		func() float64 { return float64(p.Clients()) })
	c.count("quoll_proxy_connections_total", "Client connections accepted.", p.Accepted)
	c.count("quoll_proxy_rejected_connections_total", "Client connections refused because of the limit.", p.Rejected)
	c.values(prometheus.CounterValue, "quoll_proxy_closed_connections_total", "Client connections that the proxy closed, by reason.", "reason",
		func(emit emit) {
			emit(float64(p.SlowReaders()), "slow_reader")
			emit(float64(p.OutputExceeded()), "output_limit")
			emit(float64(p.ProtocolErrors()), "protocol_error")
			emit(float64(p.Panics()), "panic")
			emit(float64(p.Evicted()), "memory")
			emit(float64(p.TurnedOut()), "login")
		})
	c.count("quoll_proxy_failed_tls_handshakes_total", "TLS handshakes with clients that did not succeed.", p.HandshakesFailed)
	c.count("quoll_proxy_stalled_tls_handshakes_total", "TLS handshakes with clients that took too long.", p.HandshakesStalled)
	c.values(prometheus.CounterValue, "quoll_proxy_refused_passwords_total", "Passwords that were refused: wrong ones, and those not looked at for too many wrong ones from their address.", "reason",
		func(emit emit) {
			emit(float64(p.WrongPasswords()), "wrong")
			emit(float64(p.ThrottledPasswords()), "too_many")
		})
	c.commands(p)
	c.values(prometheus.CounterValue, "quoll_proxy_error_replies_total", "Error replies, by their first word.", "word", func(emit emit) {
		for word, n := range p.Errors() {
			emit(float64(n), word)
		}
	})
	c.values(prometheus.CounterValue, "quoll_proxy_reads_total", "Reads, by who answered.", "by", func(emit emit) {
		emit(float64(p.QuorumReads()), "quorum")
		emit(float64(p.HomeReads()), "home")
		emit(float64(p.NearestReads()), "nearest")
	})
	c.count("quoll_proxy_retries_total", "Operations sent again, to another replica.", p.Retries)
	c.count("quoll_proxy_slow_operations_total", "Operations that took longer than the operation time-out, since a node was behind.", p.Slow)
	c.distribution("quoll_proxy_batch_operations", "Operations in a batch.", p.BatchSize, 1)
	c.distribution("quoll_proxy_batch_duration_seconds", "Time that the nodes took for a batch.", p.BatchTime, 1e-6)
	c.count("quoll_proxy_sent_bytes_total", "Bytes sent to clients.", p.BytesOut)
	c.values(prometheus.CounterValue, "quoll_proxy_rack_sent_bytes_total", "Bytes sent to nodes, by whether they are in the proxy's rack.", "rack", p.racks(func(sent, _ uint64) uint64 { return sent }))
	c.values(prometheus.CounterValue, "quoll_proxy_rack_received_bytes_total", "Bytes received from nodes, by whether they are in the proxy's rack.", "rack", p.racks(func(_, received uint64) uint64 { return received }))
	c.values(prometheus.GaugeValue, "quoll_proxy_link_up", "1 if the link to the node is up.", "node", func(emit emit) {
		for _, link := range p.Links() {
			emit(truth(link.Up), link.Node)
		}
	})
	r.prometheus.MustRegister(c)
}

// racks reads one of two numbers, by rack.
func (p Proxy) racks(which func(sent, received uint64) uint64) func(emit) {
	return func(emit emit) {
		emit(float64(which(p.OwnRack())), "own")
		emit(float64(which(p.OtherRacks())), "other")
	}
}

// commands shows the calls of every command that was used: a hundred commands that
// nobody uses are noise.
func (c *collector) commands(p Proxy) {
	calls := c.describe("quoll_proxy_commands_total", "Commands received.", "command")
	failed := c.describe("quoll_proxy_failed_commands_total", "Commands answered with an error.", "command")
	c.collect = append(c.collect, func(ch chan<- prometheus.Metric) {
		p.Commands(func(name string, n, bad uint64) {
			if n+bad > 0 {
				ch <- prometheus.MustNewConstMetric(calls, prometheus.CounterValue, float64(n), name)
				ch <- prometheus.MustNewConstMetric(failed, prometheus.CounterValue, float64(bad), name)
			}
		})
	})
}
