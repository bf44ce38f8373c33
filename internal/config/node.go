package config

import (
	"cmp"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// DefaultAdmin is where nodes and proxies serve the admin API unless told
// otherwise, and where `quoll ring` looks for it.
const DefaultAdmin = "127.0.0.1:7100"

// Node is what can be set about `quoll node`.
type Node struct {
	// Name is the node's name, in InitialCluster if there is one. Required.
	Name string
	// ClusterName keeps apart clusters that could reach each other.
	ClusterName string
	// Peer is where the node listens for proxies and other nodes (TCP).
	Peer string
	// AdvertisePeer is where others reach Peer. Load fills it: the address in
	// InitialCluster, else Peer; it stays empty when Peer is a port of the system's choice.
	AdvertisePeer string
	// Gossip is where the node listens for memberlist (TCP and UDP). Load fills it:
	// the host of Peer, the port after Peer's.
	Gossip string
	// AdvertiseGossip is where others reach Gossip. Load fills it: Gossip, with the
	// host of AdvertisePeer if Gossip is on all interfaces; empty when the port is 0.
	AdvertiseGossip string
	// Admin is where the admin API is served (HTTP).
	Admin string
	// Rack names what fails together with this node. Replicas of a slot go to
	// different racks where possible. May be empty.
	Rack string
	// Weight is the node's share of the slots relative to the others' weights, 1 to 1000.
	Weight int
	// Engine stores the records: Memory, Badger or Pebble.
	Engine string
	// Data is the directory in which an engine on disk keeps them; required with it.
	Data string
	// Fsync says when an engine on disk forces what is written to disk.
	Fsync Fsync
	// Cache is the memory that an engine on disk uses for records. Load fills it: a sixth of Memory.
	Cache Size
	// Memory bounds the memory of the process. Load fills it: three quarters of the machine's, or of the container's.
	Memory Size
	Eviction
	// Clients are served if there is a port for them. What else can be set about a proxy is as in DefaultProxy.
	Clients
	// ReplicaPort is beside them.
	ReplicaPort
	// MaxDisk bounds the files of an engine on disk, 0 for no bound: near it what makes the data grow is refused.
	MaxDisk Size
	// InitialCluster is "name=host:port,..." of every node, the same on all of them.
	InitialCluster string
	// Join are peer addresses, host:port, of nodes of a cluster that the node asks to join: the first that answers is asked. There is no
	// InitialCluster then, and Replicas is what the cluster says.
	Join []string
	// AutoJoin: it does not wait until an operator plans that it joins.
	AutoJoin bool
	// Replicas is the number of nodes that hold each key.
	Replicas int
	// Secret is shared by all nodes and proxies of the cluster; it guards the peer,
	// gossip and admin ports. Load fills it from SecretFile if that is given.
	Secret     Secret
	SecretFile string
	// AdminTokensFile has the tokens of those who may use the admin API beside those who have the secret: admin.Tokens. Empty for none.
	AdminTokensFile string
	// CertsDir is a directory with certificates, from which Load takes the files that are not given.
	CertsDir string
	// PeerTLS is PeerTLSOff, PeerTLSOptional or PeerTLSRequired. Load fills it: required if there are certificates.
	PeerTLS string
	// PeerTLSCertFile, PeerTLSKeyFile and PeerTLSCaFile are for TLS with other nodes and proxies.
	PeerTLSCertFile, PeerTLSKeyFile, PeerTLSCaFile string
	// AdminTLS: the admin API is served by HTTPS, with the same certificate.
	AdminTLS bool
	// GossipKeyFile has the keys that encrypt gossip. Empty: one that is derived from Secret.
	GossipKeyFile string
	// Insecure allows ports that other machines can reach without a secret.
	Insecure bool
	// OperationTimeout bounds how long the node works on one operation.
	OperationTimeout time.Duration
	// SlowTimeout bounds it when nodes say that they are behind with their work.
	SlowTimeout time.Duration
	// LuaTimeLimit bounds how long a script, or a function, runs. Load fills it: five seconds, or SlowTimeout if that is shorter.
	LuaTimeLimit time.Duration
	// MaxConnections bounds the peer connections.
	MaxConnections int
	// MaxBulk is the length in bytes that no command makes a value exceed.
	MaxBulk Size
	// MaxCollection is the same for a hash, list, set or sorted set, which may be longer than a value. Load fills it: MaxBulk.
	MaxCollection Size
	// MaxPending bounds the bytes of requests that are received but not answered. Load fills it: an eighth of Memory, 256 MiB at most.
	MaxPending Size
	// RepairRate bounds the bytes that the node has written again each second for replicas
	// that missed them; 0 pauses that.
	RepairRate Size
	LogLevel   slog.Level
	// LogFormat is "text" or "json".
	LogFormat string
}

// DefaultNode returns the defaults. A node also needs a Name, and an InitialCluster or whom to Join.
func DefaultNode() Node {
	return Node{
		ClusterName:      "quoll",
		Peer:             "127.0.0.1:7000",
		Admin:            DefaultAdmin,
		Weight:           1,
		Engine:           Memory,
		Eviction:         defaultEviction(),
		Clients:          defaultClients(NoListener),
		ReplicaPort:      ReplicaPort{ReplicaListen: NoListener},
		Replicas:         3,
		OperationTimeout: time.Second,
		SlowTimeout:      5 * time.Minute,
		MaxConnections:   1024,
		MaxBulk:          64 * MiB,
		RepairRate:       25 * MiB,
		LogFormat:        "text",
	}
}

// Bind implements Config.
func (n *Node) Bind(fs *pflag.FlagSet) {
	bindFile(fs)
	fs.StringVar(&n.Name, "name", n.Name, "`name` of this node, in --initial-cluster if that is given (required)")
	fs.StringVar(&n.ClusterName, "cluster-name", n.ClusterName, "`name` of the cluster; nodes and proxies of another one are refused")
	fs.StringVar(&n.Peer, "peer", n.Peer, "`host:port` to listen on for proxies and other nodes (TCP)")
	fs.StringVar(&n.AdvertisePeer, "advertise-peer", n.AdvertisePeer, "`host:port` at which others reach --peer (default: the address in --initial-cluster)")
	fs.StringVar(&n.Gossip, "gossip", n.Gossip, "`host:port` to listen on for gossip (TCP and UDP) (default: the host of --peer, the port after it)")
	fs.StringVar(&n.AdvertiseGossip, "advertise-gossip", n.AdvertiseGossip, "`host:port` at which others reach --gossip (default: the host of --advertise-peer if --gossip is on all interfaces)")
	fs.StringVar(&n.Admin, "admin", n.Admin, "`host:port` to serve the admin API and metrics on (HTTP)")
	rename(fs, "admin", "QUOLL_ADMIN_LISTEN") // QUOLL_ADMIN is whom to ask
	fs.StringVar(&n.Rack, "rack", n.Rack, "`name` of what fails together with this node (rack, zone); replicas go to different ones")
	fs.IntVar(&n.Weight, "weight", n.Weight, "share of the slots relative to the other nodes' weights, 1 to 1000")
	n.store().bind(fs, "on disk, `directory` with this node's records, made if it is not there (required)")
	bindMemory(fs, &n.Memory)
	n.bindEviction(fs)
	bindMaxDisk(fs, &n.MaxDisk)
	n.bindOwnClients(fs)
	fs.Var((*clusterValue)(&n.InitialCluster), "initial-cluster", "`name=host:port,...`: the peer address of every node, the same on all nodes (this or --join is required)")
	fs.Var(&listValue{list: &n.Join}, "join", "`host:port,...`: peer addresses of nodes of a running cluster, which this node asks to join")
	fs.BoolVar(&n.AutoJoin, "auto-join", n.AutoJoin, "with --join: become a member at once, instead of waiting for quoll ring plan join")
	fs.IntVar(&n.Replicas, "replicas", n.Replicas, "number of nodes that hold each key, the same on all nodes")
	bindSecret(fs, &n.Secret, &n.SecretFile)
	bindAdminTokens(fs, &n.AdminTokensFile)
	n.tls().bind(fs, "node.NAME.crt and node.NAME.key")
	fs.StringVar(&n.GossipKeyFile, "gossip-key-file", n.GossipKeyFile, "`file` with the keys of gossip, one a line in base64, of 32 bytes; the first encrypts, each decrypts; the word secret stands for the key that is derived from the secret (default: that one)")
	fs.BoolVar(&n.Insecure, "insecure", n.Insecure, "allow ports that other machines can reach without a secret")
	fs.DurationVar(&n.OperationTimeout, "operation-timeout", n.OperationTimeout, "longest time to work on one operation")
	fs.DurationVar(&n.SlowTimeout, "slow-timeout", n.SlowTimeout, "longest time for one command while nodes say that they are behind with their work")
	bindLuaTimeLimit(fs, &n.LuaTimeLimit)
	fs.IntVar(&n.MaxConnections, "max-connections", n.MaxConnections, "largest number of peer connections")
	fs.Var(&n.MaxBulk, "max-bulk", "largest value, the same as the proxies' largest argument")
	bindMaxCollection(fs, &n.MaxCollection)
	fs.Var(&n.MaxPending, "max-pending", "most bytes of requests that are received but not answered (default: an eighth of --memory, 256MiB at most)")
	fs.Var(&n.RepairRate, "repair-rate", "most bytes to write again each second for replicas that missed them; 0 only compares")
	bindLog(fs, &n.LogLevel, &n.LogFormat)
}

// Validate implements Config.
func (n *Node) Validate() error {
	var f Faults
	f.name("name", n.Name)
	f.name("cluster-name", n.ClusterName)
	f.listen("peer", n.Peer)
	if n.AdvertisePeer != "" {
		f.dial("advertise-peer", n.AdvertisePeer)
	}
	f.listen("gossip", n.Gossip)
	if n.AdvertiseGossip != "" {
		f.dial("advertise-gossip", n.AdvertiseGossip)
	}
	f.listen("admin", n.Admin)
	if n.Rack != "" {
		f.name("rack", n.Rack)
	}
	f.within("weight", n.Weight, 1, 1000)
	f.memory(n.Memory, leastMemory)
	n.store().validate(&f, n.Memory, 1)
	n.validateEviction(&f, n.Engine, n.DataMemory())
	f.maxDisk(n.MaxDisk, n.Engine)
	n.validateCluster(&f)
	n.validateOwnClients(&f)
	f.protect("peer", n.Peer, "secret", n.Secret, n.Insecure)
	f.protect("gossip", n.Gossip, "secret", n.Secret, n.Insecure)
	f.protect("admin", n.Admin, "secret", n.Secret, n.Insecure)
	f.timeouts(n.OperationTimeout, n.SlowTimeout)
	f.luaTimeLimit(n.LuaTimeLimit, n.SlowTimeout)
	n.tls().validate(&f, "node")
	if n.AdminTLS {
		f.needs("admin-tls", "true", "peer-tls-cert-file", n.PeerTLSCertFile)
	}
	f.atLeast("max-connections", n.MaxConnections, 1)
	f.between("max-bulk", n.MaxBulk, KiB, largestBulk)
	f.maxCollection(n.MaxCollection, n.MaxBulk, n.Engine, n.Maxmemory)
	f.between("max-pending", n.MaxPending, MiB, TiB)
	f.fits("max-pending", n.MaxPending, 1, n.Memory, 4)
	if n.RepairRate != 0 {
		f.between("repair-rate", n.RepairRate, 64*KiB, TiB)
	}
	f.format("log-format", n.LogFormat)
	return f.err()
}

func (n *Node) validateCluster(f *Faults) {
	f.replicas(n.Replicas)
	if n.AutoJoin && len(n.Join) == 0 {
		f.add("auto-join", "is for --join HOST:PORT: say which cluster to join")
	}
	if len(n.Join) > 0 {
		n.validateJoin(f)
		return
	}
	members, err := parseCluster(n.InitialCluster)
	if err != nil {
		f.add("initial-cluster", "%v", err)
		return
	}
	if n.Replicas > len(members) {
		f.add("replicas", "%d replicas need as many nodes, but --initial-cluster names %d", n.Replicas, len(members))
	}
	if n.Name != "" && addressOf(members, n.Name) == "" {
		f.add("initial-cluster", "does not name this node, %q", n.Name)
	}
}

// validateJoin checks what a node is told that joins a running cluster.
func (n *Node) validateJoin(f *Faults) {
	if n.InitialCluster != "" {
		f.add("join", "--initial-cluster is for nodes that form a cluster together, --join for one that comes to a cluster that is there: give one of the two")
	}
	if n.AdvertisePeer == "" {
		f.add("advertise-peer", "is required with --join if --peer has no port: where the others reach this node")
	}
	for _, address := range n.Join {
		f.dial("join", address)
		if address == n.AdvertisePeer {
			f.add("join", "%s is this node itself: give the peer address of a member", address)
		}
	}
}

// DataMemory is how much of Memory there is for data.
func (n *Node) DataMemory() Size { return dataMemory(n.Memory, n.MaxPending+n.ClientMemory(), 1) }

func (n *Node) store() store { return store{&n.Engine, &n.Data, &n.Fsync, &n.Cache} }

func (n *Node) tls() peerTLS {
	return peerTLS{&n.CertsDir, &n.PeerTLS, &n.PeerTLSCertFile, &n.PeerTLSKeyFile, &n.PeerTLSCaFile, &n.AdminTLS}
}

// complete implements Config.
func (n *Node) complete() {
	n.tls().complete("node", n.Name)
	if n.Memory == 0 {
		n.Memory = defaultMemory(os.DirFS("/"), leastMemory)
	}
	if n.MaxPending == 0 {
		n.MaxPending = defaultPending(n.Memory, 1)
	}
	n.MaxCollection = cmp.Or(n.MaxCollection, n.MaxBulk)
	n.LuaTimeLimit = cmp.Or(n.LuaTimeLimit, luaTimeLimit(n.SlowTimeout))
	n.store().complete(n.Memory, 1)
	n.completeEviction(n.Engine, n.DataMemory())
	if port := portOf(n.Peer); n.Gossip == "" && port < math.MaxUint16 {
		if port > 0 {
			port++
		}
		n.Gossip = withPort(n.Peer, port)
	}
	if n.AdvertisePeer == "" {
		members, _ := parseCluster(n.InitialCluster)
		n.AdvertisePeer = addressOf(members, n.Name)
	}
	if n.AdvertisePeer == "" && portOf(n.Peer) != 0 {
		n.AdvertisePeer = n.Peer
	}
	n.completeClients()
	if port := portOf(n.Gossip); n.AdvertiseGossip == "" && port != 0 {
		n.AdvertiseGossip = n.Gossip
		if isWildcard(n.Gossip) {
			n.AdvertiseGossip = withPort(n.AdvertisePeer, port)
		}
	}
}

func addressOf(members []member, name string) string {
	for _, member := range members {
		if member.name == name {
			return member.address
		}
	}
	return ""
}

func (n *Node) secretFiles() []secretFile {
	return []secretFile{{"password", &n.Password, n.PasswordFile}, {"secret", &n.Secret, n.SecretFile}}
}

// LogValue implements Config.
func (n Node) LogValue() slog.Value { return effective(&n) }
