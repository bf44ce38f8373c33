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
	// Admin is the address of the admin API: host:port or an http or https URL.
	Admin string
	// Secret is the cluster's, if it has one. Load fills it from SecretFile.
	Secret     Secret
	SecretFile string
}

// DefaultClient returns the defaults: a node or proxy on this machine.
func DefaultClient() Client { return Client{Admin: DefaultAdmin} }

// Bind implements Config.
func (c *Client) Bind(fs *pflag.FlagSet) {
	fs.StringVar(&c.Admin, "admin", c.Admin, "`host:port` of the admin API of a node or proxy; also QUOLL_ADMIN")
	fs.Var(secretValue{&c.Secret}, "secret", "`text`: the cluster's secret, if it has one (others on this machine can see it: better --secret-file)")
	fs.StringVar(&c.SecretFile, "secret-file", c.SecretFile, "`file` with the cluster's secret; also QUOLL_SECRET_FILE")
}

// Validate implements Config.
func (c *Client) Validate() error {
	var f Faults
	if strings.Contains(c.Admin, "://") {
		if u, err := url.Parse(c.Admin); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			f.add("admin", "%q is neither host:port nor an http or https URL", c.Admin)
		}
	} else {
		f.listen("admin", c.Admin)
		if checkListen(c.Admin) == nil && portOf(c.Admin) == 0 {
			f.add("admin", "%q has no port: the running process printed the one it uses at its start", c.Admin)
		}
	}
	return f.err()
}

func (c *Client) complete() {}

func (c *Client) secretFiles() []secretFile {
	return []secretFile{{"secret", &c.Secret, c.SecretFile}}
}

// LogValue implements Config.
func (c Client) LogValue() slog.Value { return effective(&c) }
