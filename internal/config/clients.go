package config

import "github.com/spf13/pflag"

// Clients is where and how Redis clients are served: by a proxy, by the one that is in dev, or by a node without a proxy beside it.
type Clients struct {
	// Listen is where they connect, NoListener for TLS only. A node, too, serves none then.
	Listen string
	// TLSListen is where they connect with TLS. Empty: nowhere.
	TLSListen string
	// TLSCertFile and TLSKeyFile are what they are shown, TLSCaFile the CA of their own certificates. Load takes those of PeerTLS if there are no others.
	TLSCertFile, TLSKeyFile, TLSCaFile string
	// TLSClientAuth is off, optional or required, TLSMinVersion 1.2 or 1.3.
	TLSClientAuth, TLSMinVersion string
	// TLSAuthClientsUser is CommonNameUser if a client with a certificate is the user whose name is the certificate's common name, else off.
	TLSAuthClientsUser string
	// Password is what they must give, for the user "default". Load fills it from PasswordFile if that is given. Empty: none is asked for.
	Password     Secret
	PasswordFile string
	// AclFile has their users, as ACL files of Redis. Empty: they are those of the cluster.
	AclFile string
	// MaxClients bounds their connections.
	MaxClients int
	// ClusterEnabled makes the process one of the masters of a Redis Cluster, to clients of such. ClusterAnnounce is where they reach it: a proxy by default where each has reached it, a node, as
	// Load fills it, at the port of Listen, or else of TLSListen, on the host of AdvertisePeer.
	ClusterEnabled  bool
	ClusterAnnounce string
}

func defaultClients(listen string) Clients {
	return Clients{Listen: listen, TLSClientAuth: "off", TLSMinVersion: "1.2", TLSAuthClientsUser: "off", MaxClients: 10000}
}

// bindClients declares the flags. What it means to be one of a Redis Cluster, and where clients reach it if nothing is said, is told by who serves them.
func (c *Clients) bindClients(fs *pflag.FlagSet, master, reached string) {
	fs.StringVar(&c.Listen, "listen", c.Listen, "`host:port` to listen on for Redis clients without TLS; none for no such port")
	c.clientTLS().bind(fs)
	fs.StringVar(&c.TLSAuthClientsUser, "tls-auth-clients-user", c.TLSAuthClientsUser, "whether a client is the user that its certificate names, without a password: `off`, or CN, by the common name")
	bindPassword(fs, &c.Password, &c.PasswordFile)
	fs.StringVar(&c.AclFile, "acl-file", c.AclFile, "`file` with the users of clients, as ACL files of Redis; those of the cluster are not used then")
	fs.IntVar(&c.MaxClients, "max-clients", c.MaxClients, "largest number of client connections")
	fs.BoolVar(&c.ClusterEnabled, "cluster-enabled", c.ClusterEnabled, "be one of the masters of a Redis Cluster, to clients of such: "+master)
	fs.StringVar(&c.ClusterAnnounce, "cluster-announce", c.ClusterAnnounce, "`host:port`: with --cluster-enabled, where clients reach it (default: "+reached+")")
}

// Serves reports whether there is a port for clients.
func (c *Clients) Serves() bool { return c.Listen != NoListener || c.TLSListen != "" }

// validateClients checks what clients are served by.
func (c *Clients) validateClients(f *Faults, insecure bool) {
	guarded := insecure || c.AclFile != "" // what the file says is seen when it is read: see Proxy.Exposed
	if c.Listen != NoListener {
		f.clientPort("listen", c.Listen, c.Password, guarded)
	}
	c.clientTLS().validate(f, c.Listen, c.Password, guarded)
	f.oneOf("tls-auth-clients-user", c.TLSAuthClientsUser, "off", CommonNameUser)
	if c.TLSAuthClientsUser == CommonNameUser && (c.TLSListen == "" || c.TLSClientAuth == "off") {
		f.add("tls-auth-clients-user", "CN is for clients that show certificates: give --tls-listen, and --tls-client-auth optional or required")
	}
	f.atLeast("max-clients", c.MaxClients, 1)
	if c.ClusterAnnounce != "" {
		f.dial("cluster-announce", c.ClusterAnnounce)
	}
}

func (c *Clients) clientTLS() clientTLS {
	return clientTLS{&c.TLSListen, &c.TLSCertFile, &c.TLSKeyFile, &c.TLSCaFile, &c.TLSClientAuth, &c.TLSMinVersion}
}
