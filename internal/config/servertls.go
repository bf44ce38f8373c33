package config

import "github.com/spf13/pflag"

// ServerTLS is what commands that are clients of Redis' protocol do about TLS with the servers that --addr names.
type ServerTLS struct {
	// TLS has them speak it; nothing else of this may be given without.
	TLS bool
	// TLSCaFile is the CA of the servers' certificates. Empty: those that the system trusts.
	TLSCaFile string
	// TLSCertFile and TLSKeyFile are what servers are shown if they ask for it.
	TLSCertFile, TLSKeyFile string
}

// bindTLS declares the flags. Their variables go with QUOLL_ADDR: QUOLL_TLS_CERT_FILE is that of a proxy, and not a client's.
func (s *ServerTLS) bindTLS(fs *pflag.FlagSet) {
	fs.BoolVar(&s.TLS, "tls", s.TLS, "speak TLS with them (--tls-listen of a proxy)")
	rename(fs, "tls", "QUOLL_ADDR_TLS")
	fs.StringVar(&s.TLSCaFile, "tls-ca-file", s.TLSCaFile, "`file` with the CA of their certificates (default: those that the system trusts)")
	rename(fs, "tls-ca-file", "QUOLL_ADDR_TLS_CA_FILE")
	fs.StringVar(&s.TLSCertFile, "tls-cert-file", s.TLSCertFile, "`file` with a certificate to show them")
	rename(fs, "tls-cert-file", "QUOLL_ADDR_TLS_CERT_FILE")
	fs.StringVar(&s.TLSKeyFile, "tls-key-file", s.TLSKeyFile, "`file` with its key")
	rename(fs, "tls-key-file", "QUOLL_ADDR_TLS_KEY_FILE")
}

// checkTLS looks at settings whose names begin with a prefix. Without what asks for TLS they would do nothing, and a password would go out plain.
func (s *ServerTLS) checkTLS(f *Faults, prefix, ask string) {
	for _, file := range []struct{ field, path string }{{"tls-ca-file", s.TLSCaFile}, {"tls-cert-file", s.TLSCertFile}, {"tls-key-file", s.TLSKeyFile}} {
		if !s.TLS && file.path != "" {
			f.add(prefix+file.field, "is for TLS, which is not asked for: give %s, too", ask)
			return
		}
	}
	f.together(prefix+"tls-cert-file", s.TLSCertFile, prefix+"tls-key-file", s.TLSKeyFile)
}
