package config

import (
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/quolldb/quoll/internal/notify"
)

// Proxy is what can be set about `quoll proxy`.
type Proxy struct {
	Clients
	// CertsDir, PeerTLS and its files, and AdminTLS are as those of Node.
	CertsDir, PeerTLS                              string
	PeerTLSCertFile, PeerTLSKeyFile, PeerTLSCaFile string
	AdminTLS                                       bool
	// Nodes is the peer addresses of some nodes; the rest is learnt from them. Load
	// fills it from InitialCluster if only that is given.
	Nodes []string
	// Rack is where the proxy is, as nodes have theirs: reads are answered by replicas there. May be empty.
	Rack string
	// ClusterName is the cluster that the nodes must belong to.
	ClusterName string
	// InitialCluster is optional. If given, nodes that were started with another one
	// are refused.
	InitialCluster string
	// Admin is where the admin API is served (HTTP).
	Admin string
	// Secret is shared by all nodes and proxies; see Node.
	Secret     Secret
	SecretFile string
	// AdminTokensFile has the tokens of those who may use the admin API beside those who have the secret: admin.Tokens. Empty for none.
	AdminTokensFile string
	// Insecure allows ports that other machines can reach without password or secret.
	Insecure bool
	// OperationTimeout bounds how long a client waits for one command's answer.
	OperationTimeout time.Duration
	// SlowTimeout bounds it when nodes say that they are behind with their work.
	SlowTimeout time.Duration
	// MaxBulk bounds one argument, in bytes. Nodes have a bound of their own for values, which should be the same; the lower one holds.
	MaxBulk Size
	// MaxArgs bounds the arguments of one command.
	MaxArgs int
	// MaxInline bounds an inline command.
	MaxInline Size
	// ClientOutputLimit bounds the replies that wait for a client that does not read;
	// beyond it the client is disconnected. 0: nothing but ClientMemory does.
	ClientOutputLimit Size
	// ClientOutputSoftLimit bounds what is pushed to a client and waits for longer than ClientOutputSoftTime. 0: nothing does.
	ClientOutputSoftLimit Size
	ClientOutputSoftTime  time.Duration
	// ClientMemory bounds what all clients together make the proxy hold of half-sent commands and of replies that they do not
	// take; beyond it the one with the most is disconnected. Load fills it if it is 0.
	ClientMemory Size
	// Memory bounds the memory of the process. Load fills it: three quarters of the machine's, or of the container's.
	Memory Size
	// IdleTimeout disconnects clients that send nothing for as long. 0: never.
	IdleTimeout time.Duration
	// LoginTimeout disconnects clients that have not said by then who they are, where they have to. 0: never.
	LoginTimeout time.Duration
	// ClusterProxies are where clients of a Redis Cluster reach all proxies, with ClusterEnabled.
	ClusterProxies []string
	// NotifyKeyspaceEvents are the classes of events of keys that are published, as Redis has them in notify-keyspace-events.
	NotifyKeyspaceEvents string
	// TrackingTableMaxKeys is how many keys that clients keep the proxy remembers for CLIENT TRACKING.
	TrackingTableMaxKeys int
	// SlowlogLogSlowerThan is from how many microseconds on SLOWLOG keeps a command, below 0 for none, and SlowlogMaxLen how many it keeps.
	SlowlogLogSlowerThan int
	SlowlogMaxLen        int
	// LatencyMonitorThreshold is from how many milliseconds on a command is an event of LATENCY. 0: none is.
	LatencyMonitorThreshold int
	// LatencyTracking has INFO latencystats show how long commands took, by LatencyTrackingInfoPercentiles: numbers from 0 to 100, separated by spaces.
	LatencyTracking                bool
	LatencyTrackingInfoPercentiles string
	LogLevel                       slog.Level
	// LogFormat is "text" or "json".
	LogFormat string
}

// defaultListen is where Redis clients expect a server.
const defaultListen = "127.0.0.1:6379"

// DefaultProxy returns the defaults. A proxy also needs Nodes or an InitialCluster.
func DefaultProxy() Proxy {
	return Proxy{
		Clients:           defaultClients(defaultListen),
		ClusterName:       "quoll",
		Admin:             DefaultAdmin,
		OperationTimeout:  time.Second,
		SlowTimeout:       5 * time.Minute,
		MaxBulk:           64 * MiB,
		MaxArgs:           1 << 20,
		MaxInline:         64 * KiB,
		LoginTimeout:      10 * time.Second,
		ClientOutputLimit: 256 * MiB,
		LogFormat:         "text",
		// The rest is as in Redis.
		TrackingTableMaxKeys:           maxTrackingTable,
		SlowlogLogSlowerThan:           10000,
		SlowlogMaxLen:                  128,
		LatencyTracking:                true,
		LatencyTrackingInfoPercentiles: "50 99 99.9",
	}
}

// Bind implements Config.
func (p *Proxy) Bind(fs *pflag.FlagSet) {
	bindFile(fs)
	p.bindClients(fs, "the proxies are its masters", "where they have reached it")
	fs.Var(&listValue{list: &p.ClusterProxies}, "cluster-proxies", "`host:port,...`: with --cluster-enabled, where clients reach all proxies, the same for each; one that does not answer is left out")
	fs.Var(&listValue{list: &p.Nodes}, "nodes", "`host:port,...`: peer addresses of some nodes; the rest is learnt from them")
	fs.StringVar(&p.Rack, "rack", p.Rack, "`name` of the rack or zone where the proxy is, as nodes have theirs: values are read from replicas there")
	fs.StringVar(&p.ClusterName, "cluster-name", p.ClusterName, "`name` of the cluster that the nodes must belong to")
	fs.Var((*clusterValue)(&p.InitialCluster), "initial-cluster", "`name=host:port,...` as the nodes were given it; optional, refuses nodes that were given another one")
	fs.StringVar(&p.Admin, "admin", p.Admin, "`host:port` to serve the admin API and metrics on (HTTP)")
	rename(fs, "admin", "QUOLL_ADMIN_LISTEN") // QUOLL_ADMIN is whom to ask
	bindSecret(fs, &p.Secret, &p.SecretFile)
	bindAdminTokens(fs, &p.AdminTokensFile)
	p.tls().bind(fs, "proxy.NAME.crt and proxy.NAME.key, of which there is one")
	fs.BoolVar(&p.Insecure, "insecure", p.Insecure, "allow ports that other machines can reach without password or secret")
	fs.DurationVar(&p.OperationTimeout, "operation-timeout", p.OperationTimeout, "longest time that a client waits for one command's answer")
	fs.DurationVar(&p.SlowTimeout, "slow-timeout", p.SlowTimeout, "longest time for one command while nodes say that they are behind with their work")
	fs.Var(&p.MaxBulk, "max-bulk", "largest argument of a command")
	fs.IntVar(&p.MaxArgs, "max-args", p.MaxArgs, "most arguments of one command")
	fs.Var(&p.MaxInline, "max-inline", "largest inline command")
	fs.Var(&p.ClientOutputLimit, "client-output-limit", "disconnect a client that leaves more than this unread; 0 for no such limit")
	fs.Var(&p.ClientOutputSoftLimit, "client-output-soft-limit", "disconnect a client that leaves more than this of what is pushed to it unread for longer than --client-output-soft-time; 0 for no such limit")
	fs.DurationVar(&p.ClientOutputSoftTime, "client-output-soft-time", p.ClientOutputSoftTime, "how long a client may be beyond --client-output-soft-limit")
	bindMemory(fs, &p.Memory)
	fs.Var(&p.ClientMemory, "client-memory", "disconnect the client that takes most when half-sent commands and replies that are not taken are more than this (default: a sixth of --memory)")
	fs.DurationVar(&p.LoginTimeout, "login-timeout", p.LoginTimeout, "disconnect a client that has not authenticated itself after this long, where it has to; 0 for never")
	fs.DurationVar(&p.IdleTimeout, "idle-timeout", p.IdleTimeout, "disconnect a client that sends nothing for this long; 0 for never")
	fs.StringVar(&p.NotifyKeyspaceEvents, "notify-keyspace-events", p.NotifyKeyspaceEvents, "publish what happens to keys, by all nodes: `classes` as Redis has them, as AKE or Ex")
	p.bindLook(fs)
	bindLog(fs, &p.LogLevel, &p.LogFormat)
}

// Validate implements Config.
func (p *Proxy) Validate() error {
	var f Faults
	p.validateClients(&f, p.Insecure)
	p.tls().validate(&f, "proxy")
	if p.AdminTLS {
		f.needs("admin-tls", "true", "tls-cert-file", p.TLSCertFile)
	}
	p.validateNodes(&f)
	f.name("cluster-name", p.ClusterName)
	if p.Rack != "" {
		f.name("rack", p.Rack)
	}
	f.listen("admin", p.Admin)
	f.protect("admin", p.Admin, "secret", p.Secret, p.Insecure)
	f.timeouts(p.OperationTimeout, p.SlowTimeout)
	f.between("max-bulk", p.MaxBulk, KiB, largestBulk)
	// HELLO 3 AUTH user password SETNAME name has 7.
	f.atLeast("max-args", p.MaxArgs, 7)
	f.between("max-inline", p.MaxInline, KiB, 64*MiB)
	// A reply can be as large as the largest value.
	if p.ClientOutputLimit != 0 {
		f.between("client-output-limit", p.ClientOutputLimit, max(p.MaxBulk, MiB), TiB)
	}
	f.between("client-output-soft-limit", p.ClientOutputSoftLimit, 0, TiB)
	if p.ClientOutputSoftTime < 0 {
		f.add("client-output-soft-time", "%s is negative", p.ClientOutputSoftTime)
	}
	f.between("client-memory", p.ClientMemory, leastClientMemory(p.MaxBulk), TiB)
	f.memory(p.Memory, leastProxyMemory(p.MaxBulk))
	f.fits("client-memory", p.ClientMemory, 1, p.Memory, 2)
	p.validateCluster(&f)
	if p.LoginTimeout < 0 {
		f.add("login-timeout", "%s is negative: give 0 for never", p.LoginTimeout)
	}
	if p.IdleTimeout < 0 {
		f.add("idle-timeout", "%s is negative: give 0 for never", p.IdleTimeout)
	}
	if _, ok := notify.Parse(p.NotifyKeyspaceEvents); !ok {
		f.add("notify-keyspace-events", "%q has a letter that is no class of events: give some of %s", p.NotifyKeyspaceEvents, notify.Letters)
	}
	p.validateLook(&f)
	f.format("log-format", p.LogFormat)
	return f.err()
}

// validateCluster checks what clients of a Redis Cluster are told.
func (p *Proxy) validateCluster(f *Faults) {
	for _, address := range p.ClusterProxies {
		f.dial("cluster-proxies", address)
	}
	if !p.ClusterEnabled && (p.ClusterAnnounce != "" || len(p.ClusterProxies) > 0) {
		f.add("cluster-enabled", "cluster-announce and cluster-proxies mean nothing without it: give --cluster-enabled too, or neither")
	}
}

func (p *Proxy) validateNodes(f *Faults) {
	if p.InitialCluster != "" {
		if _, err := parseCluster(p.InitialCluster); err != nil {
			f.add("initial-cluster", "%v", err)
		}
	} else if len(p.Nodes) == 0 {
		f.add("nodes", "is required: the peer address of one node or more, e.g. 10.0.0.1:7000,10.0.0.2:7000")
	}
	for _, node := range p.Nodes {
		f.dial("nodes", node)
	}
}

// Exposed returns a port for clients that other machines can reach with nothing but what users have to say, empty if there is none, or somebody has said that they may.
func (p *Proxy) Exposed() string {
	switch {
	case p.Insecure:
	case p.Listen != NoListener && !isLoopback(p.Listen):
		return p.Listen
	case p.TLSListen != "" && p.TLSClientAuth != "required" && !isLoopback(p.TLSListen):
		return p.TLSListen
	}
	return ""
}

func (p *Proxy) tls() peerTLS {
	return peerTLS{&p.CertsDir, &p.PeerTLS, &p.PeerTLSCertFile, &p.PeerTLSKeyFile, &p.PeerTLSCaFile, &p.AdminTLS}
}

// complete implements Config.
func (p *Proxy) complete() {
	p.tls().complete("proxy", "")
	p.clientTLS().complete(p.tls())
	if p.Memory == 0 {
		p.Memory = defaultMemory(os.DirFS("/"), leastProxyMemory(p.MaxBulk))
	}
	if p.ClientMemory == 0 {
		p.ClientMemory = defaultClientMemory(p.Memory, p.MaxBulk)
	}
	if len(p.Nodes) > 0 {
		return
	}
	members, _ := parseCluster(p.InitialCluster)
	for _, member := range members {
		p.Nodes = append(p.Nodes, member.address)
	}
}

func (p *Proxy) secretFiles() []secretFile {
	return []secretFile{{"password", &p.Password, p.PasswordFile}, {"secret", &p.Secret, p.SecretFile}}
}

// LogValue implements Config.
func (p Proxy) LogValue() slog.Value { return effective(&p) }
