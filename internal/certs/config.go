package certs

import (
	"crypto/tls"
)

// ClientAuth says whether clients show certificates.
type ClientAuth string

// What may be asked of clients. Certificates that are shown are verified with the CA, but for ClientAuthOff, with which none is asked for.
const (
	ClientAuthOff      ClientAuth = "off"
	ClientAuthOptional ClientAuth = "optional"
	ClientAuthRequired ClientAuth = "required"
)

func (a ClientAuth) tls() tls.ClientAuthType {
	switch a {
	case ClientAuthOptional:
		return tls.VerifyClientCertIfGiven
	case ClientAuthRequired:
		return tls.RequireAndVerifyClientCert
	}
	return tls.NoClientCert
}

// serverConfig is the configuration of connections that begin while some material is in force. It is the same for all of them, so that
// sessions can be resumed.
type serverConfig struct {
	from   *material
	config *tls.Config
}

// Server returns settings for a listener, with the store's certificate, which there has to be. least is a version of crypto/tls.
func (s *Store) Server(auth ClientAuth, least uint16) *tls.Config {
	return s.serving(func(m *material) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{*m.pair}, ClientCAs: m.roots, ClientAuth: auth.tls(), MinVersion: least, DynamicRecordSizingDisabled: true}
	})
}

// serving returns settings that are made anew when something else is in force. A store serves one listener's settings.
func (s *Store) serving(build func(m *material) *tls.Config) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			m := s.current.Load()
			if made := s.server.Load(); made != nil && made.from == m {
				return made.config, nil
			}
			made := &serverConfig{m, build(m)}
			s.server.Store(made)
			return made.config, nil
		},
	}
}

// Client returns settings for one connection to a server whose certificate must be by the CA, or, without one, by one that the system trusts, and for this name or address.
// The store's certificate, if it has one, is shown to servers that ask for it.
func (s *Store) Client(server string) *tls.Config {
	m := s.current.Load()
	config := &tls.Config{ServerName: server, RootCAs: m.roots, MinVersion: tls.VersionTLS12}
	if m.pair != nil {
		config.Certificates = []tls.Certificate{*m.pair}
	}
	return config
}
