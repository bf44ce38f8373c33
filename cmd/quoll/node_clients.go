package main

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node"
)

// A node that serves clients has a proxy in its process, which reaches the node without a socket. To clients it is like any other proxy, and so it is to the other nodes.

// listenNodeClients opens the ports for clients, if the node serves any.
func listenNodeClients(cfg *config.Node) (clientListeners, error) {
	if !cfg.Serves() {
		return clientListeners{}, nil
	}
	l, err := listenClients(cfg.Listen, cfg.TLSListen)
	if err != nil || !cfg.ServesReplicas() {
		return l, err
	}
	replica, err := listenClients(cfg.ReplicaListen, cfg.ReplicaTLSListen)
	l.replica, l.replicaSecure = replica.plain, replica.secure
	if err != nil {
		l.close()
	}
	return l, err
}

// announced is where clients of a Redis Cluster reach the node, empty if it is none of such a cluster.
func announced(cfg *config.Node) string {
	if !cfg.Serves() || !cfg.ClusterEnabled {
		return ""
	}
	return cfg.ClusterAnnounce
}

// announcedReplica is where they reach its replica port, empty if it has none.
func announcedReplica(cfg *config.Node) string {
	if !cfg.ServesReplicas() {
		return ""
	}
	return cfg.ReplicaAnnounce
}

// serveNodeClients starts the proxy in a node's process, nil if it serves no clients. It closes the listeners.
func serveNodeClients(cfg *config.Node, listeners clientListeners, secure *security, dial peerDialer, failed failures, s *store, log *slog.Logger) (*proxyParts, error) {
	if !cfg.Serves() {
		return nil, nil
	}
	around := surroundings{dial: dial, keptFiles: s.keptFiles() + cfg.MaxConnections, node: announced(cfg), replica: announcedReplica(cfg), exposed: cfg.ExposedReplica(), own: cfg.AdvertisePeer}
	return startProxy(listeners, secure, cfg.Proxy(), around, failed, log.With("component", "proxy", "node", cfg.Name))
}

// servingNode is a node and its proxy, nil for none, to the admin API.
type servingNode struct {
	*node.Node
	proxy *proxyParts
}

// Ready implements admin.Backend: clients can be served, too, if they are to be.
func (s servingNode) Ready(ctx context.Context) error {
	if err := s.Node.Ready(ctx); err != nil || s.proxy == nil {
		return err
	}
	return s.proxy.coordinator.Ready(ctx)
}

// String is where clients connect, "none" for nowhere.
func (l clientListeners) String() string {
	if l.plain == nil && l.secure == nil {
		return config.NoListener
	}
	return cmp.Or(l.addr().String(), l.secureAddr())
}
