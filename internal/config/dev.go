package config

import (
	"cmp"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// Dev is what can be set about `quoll dev`. What is not here is as in DefaultNode
// and DefaultProxy.
type Dev struct {
	// Clients has a Listen that is not NoListener.
	Clients
	// Nodes is the number of nodes, 1 to 64.
	Nodes int
	// Replicas is the number of nodes that hold each key.
	Replicas int
	// Engine stores the records: Memory, Badger or Pebble.
	Engine string
	// Data is the directory in which an engine on disk keeps them, in a directory for each node;
	// required with it.
	Data string
	// Fsync says when an engine on disk forces what is written to disk.
	Fsync Fsync
	// Cache is the memory that an engine on disk uses for records of each node. Load fills it: a sixth of Memory for all of them.
	Cache Size
	// Memory bounds the memory of the process: all nodes and the proxy. Load fills it: three quarters of the machine's, or of the container's.
	Memory Size
	// Eviction is that of each node.
	Eviction
	// MaxDisk bounds the files of each node on disk; see Node.
	MaxDisk Size
	// Admin is where the admin API is served (HTTP).
	Admin string
	// Secret guards the admin port; the nodes' ports are on loopback.
	Secret     Secret
	SecretFile string
	// Insecure allows ports that other machines can reach without password or secret.
	Insecure bool
	// MaxBulk bounds one argument, and a value, in bytes.
	MaxBulk Size
	// MaxCollection bounds a hash, list, set or sorted set, which may be longer than a value. Load fills it: MaxBulk.
	MaxCollection Size
	// OperationTimeout bounds how long a client waits for one command's answer.
	OperationTimeout time.Duration
	// SlowTimeout bounds it when nodes say that they are behind with their work.
	SlowTimeout time.Duration
	// LuaTimeLimit bounds how long a script, or a function, runs. Load fills it: five seconds, or SlowTimeout if that is shorter.
	LuaTimeLimit time.Duration
	LogLevel     slog.Level
}

// DefaultDev returns the defaults, which are all that is needed. The log shows
// warnings only: the terminal is the user's.
func DefaultDev() Dev {
	return Dev{
		Clients:          defaultClients(defaultListen),
		Nodes:            3,
		Replicas:         3,
		Engine:           Memory,
		Eviction:         defaultEviction(),
		Admin:            "127.0.0.1:0",
		MaxBulk:          64 * MiB,
		OperationTimeout: time.Second,
		SlowTimeout:      5 * time.Minute,
		LogLevel:         slog.LevelWarn,
	}
}

// Bind implements Config.
func (d *Dev) Bind(fs *pflag.FlagSet) {
	bindFile(fs)
	d.bindClients(fs, "the only one", "where they have reached it")
	fs.IntVar(&d.Nodes, "nodes", d.Nodes, "number of nodes, 1 to 64")
	rename(fs, "nodes", "QUOLL_DEV_NODES") // QUOLL_NODES are addresses
	fs.IntVar(&d.Replicas, "replicas", d.Replicas, "number of nodes that hold each key")
	d.store().bind(fs, "on disk, `directory` with the records of all nodes, made if it is not there (required)")
	bindMemory(fs, &d.Memory)
	d.bindEviction(fs)
	bindMaxDisk(fs, &d.MaxDisk)
	fs.StringVar(&d.Admin, "admin", d.Admin, "`host:port` to serve the admin API and metrics on (HTTP); port 0 for any free one")
	rename(fs, "admin", "QUOLL_ADMIN_LISTEN") // QUOLL_ADMIN is whom to ask
	bindSecret(fs, &d.Secret, &d.SecretFile)
	fs.BoolVar(&d.Insecure, "insecure", d.Insecure, "allow ports that other machines can reach without password or secret")
	fs.Var(&d.MaxBulk, "max-bulk", "largest argument of a command, and largest value")
	bindMaxCollection(fs, &d.MaxCollection)
	fs.DurationVar(&d.OperationTimeout, "operation-timeout", d.OperationTimeout, "longest time that a client waits for one command's answer")
	fs.DurationVar(&d.SlowTimeout, "slow-timeout", d.SlowTimeout, "longest time for one command while nodes say that they are behind with their work")
	bindLuaTimeLimit(fs, &d.LuaTimeLimit)
	bindLogLevel(fs, &d.LogLevel)
}

// Validate implements Config.
func (d *Dev) Validate() error {
	var f Faults
	if d.Listen == NoListener {
		f.add("listen", "is none, but it is where dev says that clients connect: give a host:port, beside --tls-listen if you like")
	}
	d.validateClients(&f, d.Insecure)
	f.within("nodes", d.Nodes, 1, 64)
	f.replicas(d.Replicas)
	if d.Replicas > d.Nodes {
		f.add("replicas", "%d replicas need as many nodes, but there are %d: give --replicas %[2]d or more --nodes", d.Replicas, d.Nodes)
	}
	f.memory(d.Memory, d.leastMemory())
	d.store().validate(&f, d.Memory, d.Nodes)
	d.validateEviction(&f, d.Engine, d.DataMemory())
	f.maxDisk(d.MaxDisk, d.Engine)
	f.listen("admin", d.Admin)
	f.protect("admin", d.Admin, "secret", d.Secret, d.Insecure)
	f.between("max-bulk", d.MaxBulk, KiB, largestBulk)
	f.maxCollection(d.MaxCollection, d.MaxBulk, d.Engine, d.Maxmemory)
	f.timeouts(d.OperationTimeout, d.SlowTimeout)
	f.luaTimeLimit(d.LuaTimeLimit, d.SlowTimeout)
	return f.err()
}

// complete implements Config.
func (d *Dev) complete() {
	if d.Memory == 0 {
		d.Memory = defaultMemory(os.DirFS("/"), d.leastMemory())
	}
	d.MaxCollection = cmp.Or(d.MaxCollection, d.MaxBulk)
	d.LuaTimeLimit = cmp.Or(d.LuaTimeLimit, luaTimeLimit(d.SlowTimeout))
	d.store().complete(d.Memory, d.Nodes)
	d.completeEviction(d.Engine, d.DataMemory())
}

// leastMemory is what the proxy needs, and the nodes.
func (d *Dev) leastMemory() Size {
	return leastProxyMemory(d.MaxBulk) + 2*leastCache*Size(max(1, d.Nodes))
}

// Proxy returns the settings of the proxy, but for the cluster that it is part of.
func (d *Dev) Proxy() Proxy {
	p := DefaultProxy()
	p.Clients, p.Insecure = d.Clients, d.Insecure
	p.MaxBulk, p.OperationTimeout, p.SlowTimeout = d.MaxBulk, d.OperationTimeout, d.SlowTimeout
	p.Memory, p.ClientMemory = d.Memory, d.ClientMemory()
	return p
}

// ClientMemory is the part of Memory for what clients make the proxy hold.
func (d *Dev) ClientMemory() Size { return defaultClientMemory(d.Memory, d.MaxBulk) }

// MaxPending is the part of Memory for requests that one of the nodes has not answered.
func (d *Dev) MaxPending() Size { return defaultPending(d.Memory, d.Nodes) }

// DataMemory is how much of Memory each of the nodes has for its data.
func (d *Dev) DataMemory() Size {
	return dataMemory(d.Memory, d.ClientMemory()+Size(d.Nodes)*d.MaxPending(), d.Nodes)
}

func (d *Dev) store() store { return store{&d.Engine, &d.Data, &d.Fsync, &d.Cache} }

func (d *Dev) secretFiles() []secretFile {
	return []secretFile{{"password", &d.Password, d.PasswordFile}, {"secret", &d.Secret, d.SecretFile}}
}

// LogValue implements Config.
func (d Dev) LogValue() slog.Value { return effective(&d) }
