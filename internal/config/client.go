package config

import (
	"log/slog"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
)

// Client is what can be set about the commands that ask a running process: `quoll
// ring` and `quoll health`.
type Client struct {
	// Admin are addresses of admin APIs, each host:port or an http or https URL. The first that answers is asked.
	Admin []string
	// Secret is the cluster's, if it has one. Load fills it from SecretFile.
	Secret     Secret
	SecretFile string
	// TLSCaFile is the CA of admin APIs that are served by HTTPS; an address without http or https is asked by HTTPS then. Empty: those that the system trusts.
	TLSCaFile string
	// TLSCertFile and TLSKeyFile are what they are shown if they ask for it.
	TLSCertFile, TLSKeyFile string
}

// DefaultClient returns the defaults: a node or proxy on this machine.
func DefaultClient() Client { return Client{Admin: []string{DefaultAdmin}} }

// Bind implements Config.
func (c *Client) Bind(fs *pflag.FlagSet) {
	fs.Var(&listValue{list: &c.Admin}, "admin", "`host:port` of the admin API of a node or proxy, or several, separated by commas: the first that answers is asked; also QUOLL_ADMIN")
	fs.Var(secretValue{&c.Secret}, "secret", "`text`: the cluster's secret, if it has one, or a token of its --admin-tokens-file (others on this machine can see it: better --secret-file)")
	fs.StringVar(&c.SecretFile, "secret-file", c.SecretFile, "`file` with the cluster's secret, or with a token; also QUOLL_SECRET_FILE")
	fs.StringVar(&c.TLSCaFile, "tls-ca-file", c.TLSCaFile, "`file` with the CA of admin APIs that are served by HTTPS (--admin-tls there)")
	rename(fs, "tls-ca-file", "QUOLL_ADMIN_TLS_CA_FILE") // QUOLL_TLS_CA_FILE is that of a proxy's clients
	fs.StringVar(&c.TLSCertFile, "tls-cert-file", c.TLSCertFile, "`file` with a certificate to show them")
	rename(fs, "tls-cert-file", "QUOLL_ADMIN_TLS_CERT_FILE")
	fs.StringVar(&c.TLSKeyFile, "tls-key-file", c.TLSKeyFile, "`file` with its key")
	rename(fs, "tls-key-file", "QUOLL_ADMIN_TLS_KEY_FILE")
}

// Validate implements Config.
func (c *Client) Validate() error {
	var f Faults
	if len(c.Admin) == 0 {
		f.add("admin", "give at least one host:port")
	}
	for _, address := range c.Admin {
		f.adminAddress("admin", address)
	}
	f.together("tls-cert-file", c.TLSCertFile, "tls-key-file", c.TLSKeyFile)
	return f.err()
}

// adminAddress checks where an admin API is asked.
func (f *Faults) adminAddress(field, address string) {
	if strings.Contains(address, "://") {
		if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			f.add(field, "%q is neither host:port nor an http or https URL", address)
		}
		return
	}
	f.listen(field, address)
	if checkListen(address) == nil && portOf(address) == 0 {
		f.add(field, "%q has no port: the running process printed the one it uses at its start", address)
	}
}

func (c *Client) complete() {}

func (c *Client) secretFiles() []secretFile {
	return []secretFile{{"secret", &c.Secret, c.SecretFile}}
}

// LogValue implements Config.
func (c Client) LogValue() slog.Value { return effective(&c) }
