package config

import (
	"log/slog"
	"net/url"

	"github.com/spf13/pflag"
)

// Copied is what can be set about the ends of a copy: quoll import and quoll export.
type Copied struct {
	// Addr, Password, PasswordFile and ServerTLS are as those of Servers: the cluster.
	Addr         []string
	Password     Secret
	PasswordFile string
	ServerTLS
	// URL is the other end: redis://host:port/db, or rediss:// for TLS, and URLPassword its password, if it is not in the URL. Load fills it from URLPasswordFile.
	URL             string
	URLPassword     Secret
	URLPasswordFile string
	// URLTLS is about TLS with that end. Load sets its TLS by the URL.
	URLTLS ServerTLS

	way string // the flag that URL is given with: from or to
}

// DefaultCopied returns the defaults: a proxy on this machine, and an other end that is given with this flag: from or to.
func DefaultCopied(way string) Copied { return Copied{Addr: DefaultServers().Addr, way: way} }

// Bind implements Config.
func (c *Copied) Bind(fs *pflag.FlagSet) {
	fs.StringVar(&c.URL, c.way, c.URL, "`URL` of the Redis: redis://[user:password@]host:port[/db], rediss:// for TLS, or unix:///path?db=0")
	fs.StringVar(&c.URLPasswordFile, c.way+"-password-file", c.URLPasswordFile, "`file` with the password of the Redis: others on this machine can see one in the URL")
	fs.StringVar(&c.URLTLS.TLSCaFile, c.way+"-tls-ca-file", c.URLTLS.TLSCaFile, "`file` with the CA of the certificate of a rediss:// URL's Redis (default: those that the system trusts)")
	fs.StringVar(&c.URLTLS.TLSCertFile, c.way+"-tls-cert-file", c.URLTLS.TLSCertFile, "`file` with a certificate to show it")
	fs.StringVar(&c.URLTLS.TLSKeyFile, c.way+"-tls-key-file", c.URLTLS.TLSKeyFile, "`file` with its key")
	bindServers(fs, &c.Addr, &c.Password, &c.PasswordFile)
	c.bindTLS(fs)
}

// Validate implements Config.
func (c *Copied) Validate() error {
	var f Faults
	f.servers(c.Addr)
	c.checkTLS(&f, "", "--tls")
	c.URLTLS.checkTLS(&f, c.way+"-", "a URL that begins with rediss://")
	return f.err()
}

func (c *Copied) complete() {
	u, err := url.Parse(c.URL)
	c.URLTLS.TLS = err == nil && u.Scheme == "rediss"
}

func (c *Copied) secretFiles() []secretFile {
	return []secretFile{{"password", &c.Password, c.PasswordFile}, {c.way + "-password", &c.URLPassword, c.URLPasswordFile}}
}

// LogValue implements Config.
func (c Copied) LogValue() slog.Value { return effective(&c) }
