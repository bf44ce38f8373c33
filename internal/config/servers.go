package config

import (
	"log/slog"
	"net"

	"github.com/spf13/pflag"
)

// Servers is what can be set about the commands that are clients of Redis' protocol only: quoll bench.
type Servers struct {
	// Addr are host:port of proxies, or of any servers of that protocol.
	Addr []string
	// Password is what they want, if they do. Load fills it from PasswordFile.
	Password     Secret
	PasswordFile string
	ServerTLS
}

// DefaultServers returns the defaults: a proxy on this machine.
func DefaultServers() Servers { return Servers{Addr: []string{"127.0.0.1:6379"}} }

// Bind implements Config.
func (s *Servers) Bind(fs *pflag.FlagSet) {
	bindServers(fs, &s.Addr, &s.Password, &s.PasswordFile)
	s.bindTLS(fs)
}

func bindServers(fs *pflag.FlagSet, addr *[]string, password *Secret, file *string) {
	fs.Var(&listValue{list: addr}, "addr", "`host:port` of proxies of one cluster, or of servers, separated by commas; also QUOLL_ADDR")
	fs.Var(secretValue{password}, "password", "`text`: the password that they want, if they do (others on this machine can see it: better --password-file)")
	fs.StringVar(file, "password-file", *file, "`file` with the password; also QUOLL_PASSWORD_FILE")
}

// Validate implements Config.
func (s *Servers) Validate() error {
	var f Faults
	f.servers(s.Addr)
	s.checkTLS(&f, "", "--tls")
	return f.err()
}

// servers checks what addr is.
func (f *Faults) servers(addr []string) {
	if len(addr) == 0 {
		f.add("addr", "give at least one host:port")
	}
	for _, address := range addr {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			f.add("addr", "%q is not host:port", address)
		}
	}
}

func (s *Servers) complete() {}

func (s *Servers) secretFiles() []secretFile {
	return []secretFile{{"password", &s.Password, s.PasswordFile}}
}

// LogValue implements Config.
func (s Servers) LogValue() slog.Value { return effective(&s) }
