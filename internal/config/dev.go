package config

import (
	"log/slog"
	"time"

	"github.com/spf13/pflag"
)

// Dev is what can be set about `quoll dev`. What is not here is as in DefaultNode
// and DefaultProxy.
type Dev struct {
	// Listen is where Redis clients connect.
	Listen string
	// Nodes is the number of nodes, 1 to 64.
	Nodes int
	// Replicas is the number of nodes that hold each key.
	Replicas int
	// Engine stores the records: Memory or Badger.
	Engine string
	// Data is the directory in which Badger keeps them, in a directory for each node;
	// required with it.
	Data string
	// Fsync says when Badger forces what is written to disk.
	Fsync Fsync
	// Cache is the memory that Badger uses for the records of each node. Load fills it: an
	// eighth of the machine's memory for all of them.
	Cache Size
	// Admin is where the admin API is served (HTTP).
	Admin string
	// Password is what clients must give; see Proxy.
	Password     Secret
	PasswordFile string
	// Secret guards the admin port; the nodes' ports are on loopback.
	Secret     Secret
	SecretFile string
	// Insecure allows ports that other machines can reach without password or secret.
	Insecure bool
	// OperationTimeout bounds how long a client waits for one command's answer.
	OperationTimeout time.Duration
	LogLevel         slog.Level
}

// DefaultDev returns the defaults, which are all that is needed. The log shows
// warnings only: the terminal is the user's.
func DefaultDev() Dev {
	return Dev{
		Listen:           "127.0.0.1:6379",
		Nodes:            3,
		Replicas:         3,
		Engine:           Memory,
		Admin:            "127.0.0.1:0",
		OperationTimeout: time.Second,
		LogLevel:         slog.LevelWarn,
	}
}

// Bind implements Config.
func (d *Dev) Bind(fs *pflag.FlagSet) {
	bindFile(fs)
	fs.StringVar(&d.Listen, "listen", d.Listen, "`host:port` to listen on for Redis clients")
	fs.IntVar(&d.Nodes, "nodes", d.Nodes, "number of nodes, 1 to 64")
	fs.IntVar(&d.Replicas, "replicas", d.Replicas, "number of nodes that hold each key")
	d.store().bind(fs, "with badger, `directory` with the records of all nodes, made if it is not there (required)")
	fs.StringVar(&d.Admin, "admin", d.Admin, "`host:port` to serve the admin API and metrics on (HTTP); port 0 for any free one")
	bindPassword(fs, &d.Password, &d.PasswordFile)
	bindSecret(fs, &d.Secret, &d.SecretFile)
	fs.BoolVar(&d.Insecure, "insecure", d.Insecure, "allow ports that other machines can reach without password or secret")
	fs.DurationVar(&d.OperationTimeout, "operation-timeout", d.OperationTimeout, "longest time that a client waits for one command's answer")
	bindLogLevel(fs, &d.LogLevel)
}

// Validate implements Config.
func (d *Dev) Validate() error {
	var f Faults
	f.listen("listen", d.Listen)
	f.protect("listen", d.Listen, "password", d.Password, d.Insecure)
	if d.Nodes < 1 || d.Nodes > 64 {
		f.add("nodes", "%d is out of range: from 1 to 64", d.Nodes)
	}
	f.replicas(d.Replicas)
	if d.Replicas > d.Nodes {
		f.add("replicas", "%d replicas need as many nodes, but there are %d: give --replicas %[2]d or more --nodes", d.Replicas, d.Nodes)
	}
	d.store().validate(&f)
	f.listen("admin", d.Admin)
	f.protect("admin", d.Admin, "secret", d.Secret, d.Insecure)
	f.timeout("operation-timeout", d.OperationTimeout)
	return f.err()
}

// complete implements Config.
func (d *Dev) complete() { d.store().complete(d.Nodes) }

func (d *Dev) store() store { return store{&d.Engine, &d.Data, &d.Fsync, &d.Cache} }

func (d *Dev) secretFiles() []secretFile {
	return []secretFile{{"password", &d.Password, d.PasswordFile}, {"secret", &d.Secret, d.SecretFile}}
}

// LogValue implements Config.
func (d Dev) LogValue() slog.Value { return effective(&d) }
