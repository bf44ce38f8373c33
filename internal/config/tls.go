package config

import (
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// The values of PeerTLS.
const (
	PeerTLSOff      = "off"
	PeerTLSOptional = "optional"
	PeerTLSRequired = "required"
)

// NoListener is what Proxy.Listen is for TLS only.
const NoListener = "none"

// CommonNameUser is what Proxy.TLSAuthClientsUser is where certificates say who their clients are.
const CommonNameUser = "CN"

// peerTLS points at the settings of TLS between nodes and proxies.
type peerTLS struct {
	dir, mode, cert, key, ca *string
	admin                    *bool
}

func (p peerTLS) bind(fs *pflag.FlagSet, files string) {
	fs.StringVar(p.dir, "certs-dir", *p.dir, "`directory` with certificates as quoll cert makes them: stands for the settings of files that are not given: ca.crt, "+files)
	fs.StringVar(p.mode, "peer-tls", *p.mode, "TLS between nodes and proxies: `off`, required, or optional, which does without where the other side does: for the change from one to the other (default: required if there are certificates, else off)")
	fs.StringVar(p.cert, "peer-tls-cert-file", *p.cert, "`file` with the certificate for TLS between nodes and proxies, which names cluster, role and node")
	fs.StringVar(p.key, "peer-tls-key-file", *p.key, "`file` with its key")
	fs.StringVar(p.ca, "peer-tls-ca-file", *p.ca, "`file` with the CA of all of them; it may have two, while one follows the other")
	fs.BoolVar(p.admin, "admin-tls", *p.admin, "serve the admin API by HTTPS")
}

// complete takes from the directory what is not given: the files of a role, and of a name if it is known.
func (p peerTLS) complete(role, name string) {
	if *p.dir != "" {
		fallBack(p.ca, filepath.Join(*p.dir, "ca.crt"))
		if base := ownIn(*p.dir, role, name); *p.cert == "" && *p.key == "" && base != "" {
			*p.cert, *p.key = base+".crt", base+".key"
		}
	}
	if *p.mode == "" {
		*p.mode = PeerTLSOff
		if *p.cert != "" {
			*p.mode = PeerTLSRequired
		}
	}
}

// ownIn returns a certificate's path in a directory, without its end. If there is not one of the role it is empty.
func ownIn(dir, role, name string) string {
	if name != "" {
		return filepath.Join(dir, role+"."+name)
	}
	found, _ := filepath.Glob(filepath.Join(dir, role+".*.crt")) // the pattern is one
	if len(found) != 1 {
		return ""
	}
	return strings.TrimSuffix(found[0], ".crt")
}

func fallBack(setting *string, value string) {
	if *setting == "" {
		*setting = value
	}
}

func (p peerTLS) validate(f *Faults, role string) {
	if *p.dir != "" && *p.cert == "" {
		f.add("certs-dir", "%s has not one certificate %s.NAME.crt: give --peer-tls-cert-file and --peer-tls-key-file", *p.dir, role)
		return
	}
	f.oneOf("peer-tls", *p.mode, PeerTLSOff, PeerTLSOptional, PeerTLSRequired)
	f.together("peer-tls-cert-file", *p.cert, "peer-tls-key-file", *p.key)
	if *p.mode != PeerTLSOff {
		f.needs("peer-tls", *p.mode, "peer-tls-cert-file", *p.cert)
		f.needs("peer-tls", *p.mode, "peer-tls-ca-file", *p.ca)
	}
}

// clientTLS points at the settings of TLS for Redis clients.
type clientTLS struct{ listen, cert, key, ca, auth, least *string }

func (c clientTLS) bind(fs *pflag.FlagSet) {
	fs.StringVar(c.listen, "tls-listen", *c.listen, "`host:port` to listen on for Redis clients with TLS, beside --listen")
	fs.StringVar(c.cert, "tls-cert-file", *c.cert, "`file` with the certificate that clients are shown")
	fs.StringVar(c.key, "tls-key-file", *c.key, "`file` with its key")
	fs.StringVar(c.ca, "tls-ca-file", *c.ca, "`file` with the CA of clients' certificates; it may have two, while one follows the other")
	fs.StringVar(c.auth, "tls-client-auth", *c.auth, "whether clients with TLS show a certificate: `off`, optional or required")
	fs.StringVar(c.least, "tls-min-version", *c.least, "lowest `version` of TLS for clients: 1.2 or 1.3")
}

// complete takes from the settings of peers what is not given.
func (c clientTLS) complete(p peerTLS) {
	if *c.cert == "" && *c.key == "" {
		*c.cert, *c.key = *p.cert, *p.key
	}
	if *p.dir != "" {
		fallBack(c.ca, *p.ca)
	}
}

// validate checks them beside what guards the plain port.
func (c clientTLS) validate(f *Faults, plain string, password Secret, insecure bool) {
	f.together("tls-cert-file", *c.cert, "tls-key-file", *c.key)
	f.oneOf("tls-client-auth", *c.auth, "off", "optional", "required")
	f.oneOf("tls-min-version", *c.least, "1.2", "1.3")
	if *c.auth != "off" {
		f.needs("tls-client-auth", *c.auth, "tls-ca-file", *c.ca)
	}
	if *c.listen == "" {
		if plain == NoListener {
			f.add("listen", "is none, and there is no --tls-listen: give one of them")
		}
		return
	}
	f.securePort("tls-listen", *c.listen, c, password, insecure)
}

// clientPort checks a port for clients, and what guards it.
func (f *Faults) clientPort(name, address string, password Secret, guarded bool) {
	f.listen(name, address)
	f.protect(name, address, "password", password, guarded)
}

// securePort is clientPort for one with TLS: it needs a certificate, and those that clients have to show guard it, too.
func (f *Faults) securePort(name, address string, c clientTLS, password Secret, guarded bool) {
	f.listen(name, address)
	f.needs(name, address, "tls-cert-file", *c.cert)
	if *c.auth != "required" {
		f.protect(name, address, "password", password, guarded)
	}
}

// oneOf checks a setting that has some values.
func (f *Faults) oneOf(field, value string, values ...string) {
	for _, v := range values {
		if v == value {
			return
		}
	}
	f.add(field, "%q is none of %s", value, strings.Join(values, ", "))
}

// needs checks that a setting comes with another one.
func (f *Faults) needs(field, value, other, is string) {
	if is == "" {
		f.add(field, "%s needs --%s, too", value, other)
	}
}

// together checks that two settings are given, or none of them.
func (f *Faults) together(a, isA, b, isB string) {
	if (isA == "") != (isB == "") {
		f.add(a, "and --%s belong together: give both, or none", b)
	}
}
