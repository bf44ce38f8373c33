package config

import "github.com/spf13/pflag"

// bindOwnClients declares the flags of a node's clients. Variables are often set for all processes of a machine: those of the ports have other names than a proxy's.
func (n *Node) bindOwnClients(fs *pflag.FlagSet) {
	n.bindClients(fs, "a command is sent to the home of its slot; the same on all nodes", "the port of --listen at the host of --advertise-peer")
	rename(fs, "listen", "QUOLL_NODE_LISTEN")
	rename(fs, "tls-listen", "QUOLL_NODE_TLS_LISTEN")
	n.bindReplica(fs)
}

// validateOwnClients checks what there is, if clients are served: variables for all processes of a machine mean nothing to a node that serves none.
func (n *Node) validateOwnClients(f *Faults) {
	n.validateReplica(f)
	if !n.Serves() {
		return
	}
	n.validateClients(f, n.Insecure)
	if n.ClusterEnabled && n.ClusterAnnounce == "" {
		f.add("cluster-announce", "is required with cluster-enabled, as --listen or --advertise-peer does not say where clients reach this node")
	}
}

// completeClients fills what follows from the node's own settings.
func (n *Node) completeClients() {
	n.clientTLS().complete(n.tls())
	if port := clientPort(n.Listen, n.TLSListen); n.ClusterEnabled && n.ClusterAnnounce == "" && port != 0 {
		n.ClusterAnnounce = withPort(n.AdvertisePeer, port)
	}
	n.completeReplica()
}

// clientPort returns the port of a listener for clients, or if there is none, of that with TLS; 0 for none, and for one that is not known yet.
func clientPort(plain, secure string) int {
	if plain == NoListener {
		return portOf(secure)
	}
	return portOf(plain)
}

// Proxy returns the settings of the proxy that a node is to its clients. It meets this node at AdvertisePeer, and learns the others from it.
func (n *Node) Proxy() Proxy {
	p := DefaultProxy()
	p.Clients, p.Insecure = n.Clients, n.Insecure
	p.PeerTLS, p.PeerTLSCertFile, p.PeerTLSKeyFile, p.PeerTLSCaFile = n.PeerTLS, n.PeerTLSCertFile, n.PeerTLSKeyFile, n.PeerTLSCaFile
	p.Rack, p.ClusterName, p.Nodes, p.Secret = n.Rack, n.ClusterName, []string{n.AdvertisePeer}, n.Secret
	p.MaxBulk, p.OperationTimeout, p.SlowTimeout = n.MaxBulk, n.OperationTimeout, n.SlowTimeout
	p.Memory, p.ClientMemory = n.Memory, n.ClientMemory()
	return p
}

// ClientMemory is the part of Memory for what clients make the node hold, 0 if it serves none.
func (n *Node) ClientMemory() Size {
	if !n.Serves() {
		return 0
	}
	return defaultClientMemory(n.Memory, n.MaxBulk)
}
