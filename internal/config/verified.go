package config

import (
	"log/slog"

	"github.com/spf13/pflag"
)

// Verified is what can be set about quoll verify: the servers that it is a client of, and the nodes by which it changes their ring.
type Verified struct {
	// Addr, Password, PasswordFile and ServerTLS are as those of Servers.
	Addr         []string
	Password     Secret
	PasswordFile string
	ServerTLS
	// Churn are addresses of admin APIs of nodes, as Client.Admin: by them the ring is changed all the time. None: it is left alone.
	Churn []string
	// Secret is the cluster's, if it has one. Load fills it from SecretFile.
	Secret     Secret
	SecretFile string
}

// DefaultVerified returns the defaults: a proxy on this machine, whose cluster's ring is left alone.
func DefaultVerified() Verified { return Verified{Addr: DefaultServers().Addr} }

// Bind implements Config.
func (v *Verified) Bind(fs *pflag.FlagSet) {
	bindServers(fs, &v.Addr, &v.Password, &v.PasswordFile)
	v.bindTLS(fs)
	fs.Var(&listValue{list: &v.Churn}, "churn", "change the ring all the time, by the admin APIs at these `host:port`s of nodes: those that wait to join come in, members leave while more than three are left, weights and racks change, plans are turned around")
	fs.Var(secretValue{&v.Secret}, "secret", "`text`: the cluster's secret, if it has one, for --churn (others on this machine can see it: better --secret-file)")
	fs.StringVar(&v.SecretFile, "secret-file", v.SecretFile, "`file` with the cluster's secret; also QUOLL_SECRET_FILE")
}

// Validate implements Config.
func (v *Verified) Validate() error {
	var f Faults
	f.servers(v.Addr)
	v.checkTLS(&f, "", "--tls")
	for _, address := range v.Churn {
		f.adminAddress("churn", address)
	}
	return f.err()
}

func (v *Verified) complete() {}

func (v *Verified) secretFiles() []secretFile {
	return []secretFile{{"password", &v.Password, v.PasswordFile}, {"secret", &v.Secret, v.SecretFile}}
}

// LogValue implements Config.
func (v Verified) LogValue() slog.Value { return effective(&v) }
