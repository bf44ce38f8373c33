package config

import "github.com/spf13/pflag"

// Clients is how a node serves Redis clients by itself, without a proxy beside it: the settings are those of Proxy, of which it has some; the others are as in DefaultProxy.
type Clients struct {
	// Listen is where clients connect, NoListener for nowhere.
	Listen string
	// TLSListen and its files and rules are as those of Proxy.
	TLSListen                          string
	TLSCertFile, TLSKeyFile, TLSCaFile string
	TLSClientAuth, TLSMinVersion       string
	// Password is what clients must give, for the user "default". Load fills it from PasswordFile.
	Password     Secret
	PasswordFile string
	// AclFile has the users of clients. Empty: they are those of the cluster.
	AclFile string
	// MaxClients bounds the client connections.
	MaxClients int
	// ClusterEnabled makes the node one of a Redis Cluster's, to clients of such: a slot's master is its home. ClusterAnnounce is where they reach it. Load fills it: the port of Listen, or else of
	// TLSListen, on the host of AdvertisePeer.
	ClusterEnabled  bool
	ClusterAnnounce string
}

func defaultClients() Clients {
	p := DefaultProxy()
	return Clients{Listen: NoListener, TLSClientAuth: p.TLSClientAuth, TLSMinVersion: p.TLSMinVersion, MaxClients: p.MaxClients}
}

// bindClients declares the flags. Variables are often set for all processes of a machine: those of the ports have other names than a proxy's.
func (c *Clients) bindClients(fs *pflag.FlagSet) {
	fs.StringVar(&c.Listen, "listen", c.Listen, "`host:port` to serve Redis clients on, as a proxy does; none for no such port")
	rename(fs, "listen", "QUOLL_NODE_LISTEN")
	c.clientTLS().bind(fs)
	rename(fs, "tls-listen", "QUOLL_NODE_TLS_LISTEN")
	bindPassword(fs, &c.Password, &c.PasswordFile)
	fs.StringVar(&c.AclFile, "acl-file", c.AclFile, "`file` with the users of clients, as ACL files of Redis; those of the cluster are not used then")
	fs.IntVar(&c.MaxClients, "max-clients", c.MaxClients, "largest number of client connections")
	fs.BoolVar(&c.ClusterEnabled, "cluster-enabled", c.ClusterEnabled, "be one of the nodes of a Redis Cluster, to clients of such, which send a command to the home of its slot; the same on all nodes")
	fs.StringVar(&c.ClusterAnnounce, "cluster-announce", c.ClusterAnnounce, "`host:port`: with --cluster-enabled, where clients reach this node (default: the port of --listen at the host of --advertise-peer)")
}

// Serves reports whether there is a port for clients.
func (c *Clients) Serves() bool { return c.Listen != NoListener || c.TLSListen != "" }

// validateClients checks what there is, if clients are served: variables for all processes of a machine mean nothing to a node that serves none.
func (c *Clients) validateClients(f *Faults, insecure bool) {
	if !c.Serves() {
		return
	}
	guarded := insecure || c.AclFile != "" // as of a proxy
	if c.Listen != NoListener {
		f.listen("listen", c.Listen)
		f.protect("listen", c.Listen, "password", c.Password, guarded)
	}
	c.clientTLS().validate(f, c.Listen, c.Password, guarded)
	f.atLeast("max-clients", c.MaxClients, 1)
	if c.ClusterEnabled {
		f.dial("cluster-announce", c.ClusterAnnounce)
	}
}

func (c *Clients) clientTLS() clientTLS {
	return clientTLS{&c.TLSListen, &c.TLSCertFile, &c.TLSKeyFile, &c.TLSCaFile, &c.TLSClientAuth, &c.TLSMinVersion}
}

// completeClients fills what follows from the node's own settings.
func (c *Clients) completeClients(peers peerTLS, advertised string) {
	c.clientTLS().complete(peers)
	port := c.Listen
	if port == NoListener {
		port = c.TLSListen
	}
	if c.ClusterEnabled && c.ClusterAnnounce == "" && port != "" && portOf(port) != 0 {
		c.ClusterAnnounce = withPort(advertised, portOf(port))
	}
}

// Proxy returns the settings of the proxy that a node is to its clients. It meets this node at AdvertisePeer, and learns the others from it.
func (n *Node) Proxy() Proxy {
	c, p := n.Clients, DefaultProxy()
	p.Listen, p.TLSListen, p.TLSCertFile, p.TLSKeyFile, p.TLSCaFile = c.Listen, c.TLSListen, c.TLSCertFile, c.TLSKeyFile, c.TLSCaFile
	p.TLSClientAuth, p.TLSMinVersion, p.AclFile, p.MaxClients = c.TLSClientAuth, c.TLSMinVersion, c.AclFile, c.MaxClients
	p.Password, p.PasswordFile, p.Insecure = c.Password, c.PasswordFile, n.Insecure
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
