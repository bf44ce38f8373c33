//go:build unix

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/certs"
)

// hostileCerts are certificates that somebody may have got hold of, by what the attacks call them.
type hostileCerts map[string]tls.Certificate

// steal takes certificates of a cluster, and makes others that are wrong in one way each.
func steal(t *testing.T, dir string) hostileCerts {
	stolen := hostileCerts{}
	take := func(who, cert, key string) {
		pair, err := tls.LoadX509KeyPair(cert, key)
		require.NoError(t, err)
		stolen[who] = pair
	}
	file := func(dir string, role certs.Role, name string) (cert, key string) {
		base := filepath.Join(dir, certs.FileOf(role, name))
		return base + ".crt", base + ".key"
	}
	issue := func(who string, r certs.Request) {
		ca, err := certs.OpenAuthority(dir)
		require.NoError(t, err)
		cert, key := cluster.Issue(t, ca, r)
		take(who, cert, key)
	}
	for who, role := range map[string]certs.Role{"alice": certs.Client, "p1": certs.Proxy, "b": certs.Node} {
		cert, key := file(dir, role, who)
		take(who, cert, key)
	}
	elsewhere := t.TempDir() // another CA, for a cluster of the same name with the same members
	cluster.MakeCerts(t, elsewhere, nil)
	for who, owner := range map[string]certs.Identity{"client of another CA": {Role: certs.Client, Name: "alice"}, "proxy of another CA": {Role: certs.Proxy, Name: "p1"}} {
		cert, key := file(elsewhere, owner.Role, owner.Name)
		take(who, cert, key)
	}
	issue("mallory", certs.Request{Role: certs.Client, Name: "mallory"})
	issue("client without a user", certs.Request{Role: certs.Client, Name: "nobody"})
	issue("expired client", certs.Request{Role: certs.Client, Name: "late", Valid: -time.Minute})
	issue("expired proxy", certs.Request{Role: certs.Proxy, Name: "late", Valid: -time.Minute})
	stolen["proxy of another cluster"] = certificateOf(t, dir, certs.Identity{Cluster: "other", Role: certs.Proxy, Name: "p1"})
	return stolen
}

// certificateOf makes a certificate by the CA of a directory for an identity of another cluster, which quoll cert does not make.
func certificateOf(t *testing.T, dir string, owner certs.Identity) tls.Certificate {
	ca, err := tls.LoadX509KeyPair(filepath.Join(dir, certs.CAFile), filepath.Join(dir, certs.CAKeyFile))
	require.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	require.NoError(t, err)
	uri, err := url.Parse(owner.String())
	require.NoError(t, err)
	template := &x509.Certificate{
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), URIs: []*url.URL{uri},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(crand.Reader, template, ca.Leaf, &key.PublicKey, ca.PrivateKey)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// config are the settings of an attacker, who does not care whom he attacks, with a certificate, none if it is empty. It is shown whatever the server asks for.
func (s hostileCerts) config(who string, latest uint16) *tls.Config {
	pair := s[who]
	return &tls.Config{
		InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: latest, CurvePreferences: []tls.CurveID{tls.X25519}, // which is cheap: the attacker is on the same machine
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil },
	}
}

// tlsPort is a port with TLS, and whose certificate lets in there.
type tlsPort struct{ name, address, owner string }

// secured are the ports with TLS.
func (h hostileTargets) secured() []tlsPort {
	return []tlsPort{{"clients", h.secure, "alice"}, {"peers", h.peer, "p1"}, {"admin", h.adminTLS, ""}}
}

// dial connects with the certificate that lets in. It returns nil if that fails.
func (s hostileCerts) dial(ctx context.Context, port tlsPort) net.Conn {
	conn := dialHostile(ctx, port.address)
	if conn == nil {
		return nil
	}
	secure := tls.Client(conn, s.config(port.owner, tls.VersionTLS13))
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if secure.HandshakeContext(ctx) != nil {
		conn.Close()
		return nil
	}
	_ = conn.SetDeadline(time.Time{})
	return secure
}
