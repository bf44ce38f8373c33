package config

import "github.com/spf13/pflag"

// ReplicaPort is the second port of a node that serves clients, whose connections are READONLY from the start.
type ReplicaPort struct {
	// ReplicaListen and ReplicaTLSListen are where clients connect, as Listen and TLSListen of Clients.
	ReplicaListen, ReplicaTLSListen string
	// ReplicaAnnounce is where clients of a Redis Cluster reach it. Load fills it, with the port on the host of ClusterAnnounce.
	ReplicaAnnounce string
}

// bindReplica declares the flags of a node's replica port.
func (n *Node) bindReplica(fs *pflag.FlagSet) {
	fs.StringVar(&n.ReplicaListen, "replica-listen", n.ReplicaListen, "`host:port` to listen on for Redis clients that read from replicas; with --cluster-enabled the port is shown as a replica of another node; none for no such port")
	fs.StringVar(&n.ReplicaTLSListen, "replica-tls-listen", n.ReplicaTLSListen, "`host:port`: the same with TLS, as --tls-listen")
	fs.StringVar(&n.ReplicaAnnounce, "replica-announce", n.ReplicaAnnounce, "`host:port` where clients reach it (default: its port at the host of --cluster-announce)")
}

// hasReplica reports whether there is a replica port.
func (n *Node) hasReplica() bool { return n.ReplicaListen != NoListener || n.ReplicaTLSListen != "" }

// ServesReplicas reports whether clients of a Redis Cluster are shown a replica port.
func (n *Node) ServesReplicas() bool { return n.Serves() && n.ClusterEnabled && n.hasReplica() }

// validateReplica checks a replica port. It is guarded as the other ports are.
func (n *Node) validateReplica(f *Faults) {
	if !n.hasReplica() {
		if n.ReplicaAnnounce != "" {
			f.add("replica-announce", "means nothing without --replica-listen or --replica-tls-listen")
		}
		return
	}
	if !n.Serves() || !n.ClusterEnabled {
		f.add("replica-listen", "a replica port is for clients of a Redis Cluster, beside the port where the node is a master: give --listen (or --tls-listen) and --cluster-enabled, too")
	}
	guarded := n.Insecure || n.AclFile != "" // as in validateClients
	if n.ReplicaListen != NoListener {
		f.clientPort("replica-listen", n.ReplicaListen, n.Password, guarded)
	}
	if n.ReplicaTLSListen != "" {
		f.securePort("replica-tls-listen", n.ReplicaTLSListen, n.clientTLS(), n.Password, guarded)
	}
	if n.ReplicaAnnounce != "" {
		f.dial("replica-announce", n.ReplicaAnnounce)
	} else if n.ServesReplicas() {
		f.add("replica-announce", "is required, as --replica-listen does not say where clients reach it")
	}
}

// completeReplica fills where clients reach the replica port.
func (n *Node) completeReplica() {
	if port := clientPort(n.ReplicaListen, n.ReplicaTLSListen); n.ServesReplicas() && n.ReplicaAnnounce == "" && n.ClusterAnnounce != "" && port != 0 {
		n.ReplicaAnnounce = withPort(n.ClusterAnnounce, port)
	}
}

// ExposedReplica is for the replica port what Proxy.Exposed is for the others.
func (n *Node) ExposedReplica() string {
	p := Proxy{Clients: Clients{Listen: n.ReplicaListen, TLSListen: n.ReplicaTLSListen, TLSClientAuth: n.TLSClientAuth}, Insecure: n.Insecure}
	return p.Exposed()
}
