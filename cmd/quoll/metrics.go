package main

import (
	"log/slog"
	"net/http"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/front"
)

// serveMetrics returns what serves /metrics of a process with these nodes and, if
// it is not nil, this proxy.
func serveMetrics(log *slog.Logger, s *security, p *proxyParts, nodes map[string]*node.Node) http.Handler {
	registry := metrics.New(thisBuild().Version, thisBuild().Commit)
	registry.RegisterCertificates(s.certificates)
	for name, n := range nodes {
		n.Metrics.Register(registry, name, register.EventNames(), n.State)
	}
	if p != nil {
		p.metrics().Register(registry)
	}
	return registry.Handler(log)
}

// certificates are those that the process uses.
func (s *security) certificates() (list []metrics.Certificate) {
	for _, e := range s.expiries() {
		use := e.Use
		if e.CA {
			use += "_ca"
		}
		list = append(list, metrics.Certificate{Use: use, Expires: e.At, Failed: e.Failed})
	}
	return list
}

// metrics shows the numbers of the proxy's two halves.
func (p *proxyParts) metrics() metrics.Proxy {
	clients, sessions, coordinator := p.server.Stats(), p.server.Sessions(), p.coordinator.Stats()
	return metrics.Proxy{
		Clients:  clients.Clients.Load,
		Accepted: clients.Accepted.Load, Rejected: clients.Rejected.Load,
		SlowReaders: clients.SlowReaders.Load, OutputExceeded: clients.OutputExceeded.Load, ProtocolErrors: sessions.ProtocolErrors.Load, Panics: clients.Panics.Load, Evicted: clients.Evicted.Load, TurnedOut: clients.TurnedOut.Load,
		HandshakesFailed: clients.HandshakesFailed.Load, HandshakesStalled: clients.HandshakesStalled.Load,
		WrongPasswords: sessions.Passwords.Wrong.Load, ThrottledPasswords: sessions.Passwords.Refused.Load,
		Commands: func(emit func(name string, calls, failed uint64)) {
			for _, c := range command.Supported() {
				calls, failed := sessions.Total(c)
				emit(c.Name, calls, failed)
			}
			calls, failed := sessions.Total(nil)
			emit("unsupported", calls, failed)
		},
		Errors:      sessions.Errors,
		QuorumReads: coordinator.QuorumReads.Load, HomeReads: coordinator.HomeReads.Load, NearestReads: coordinator.NearestReads.Load, Retries: coordinator.Retries.Load, Slow: coordinator.Slow.Load,
		BatchSize: distribution(&clients.BatchOps), BatchTime: distribution(&clients.BatchTime),
		BytesOut: clients.BytesOut.Load,
		OwnRack:  coordinator.OwnRack.Load, OtherRacks: coordinator.OtherRacks.Load,
		Links: func() []metrics.Link {
			var links []metrics.Link
			for _, l := range p.coordinator.Links() {
				links = append(links, metrics.Link(l))
			}
			return links
		},
	}
}

func distribution(h *front.Histogram) func() metrics.Distribution {
	return func() metrics.Distribution {
		count, sum, upTo := h.Snapshot()
		return metrics.Distribution{Count: count, Sum: sum, UpTo: upTo}
	}
}
