package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrFile says that a file cannot be read, or has not what it is for.
var ErrFile = errors.New("certs: file")

// Files are the files of one purpose, in PEM. Cert and Key belong together; without both there is no certificate. Without CA nobody else's
// certificate is verified with it. CA may have several certificates, of which each is enough: two generations, while one follows the other.
type Files struct{ Cert, Key, CA string }

// contents are the bytes of Files.
type contents struct{ cert, key, ca []byte }

func (f Files) read() (c contents, err error) {
	for _, file := range []struct {
		path string
		into *[]byte
	}{{f.Cert, &c.cert}, {f.Key, &c.key}, {f.CA, &c.ca}} { // in the same order each time: what is wrong twice is known by it
		if file.path == "" {
			continue
		}
		if *file.into, err = os.ReadFile(file.path); err != nil {
			return c, fmt.Errorf("%w: %w", ErrFile, err)
		}
	}
	return c, nil
}

func (c contents) equal(other contents) bool {
	return bytes.Equal(c.cert, other.cert) && bytes.Equal(c.key, other.key) && bytes.Equal(c.ca, other.ca)
}

// material is what Files say.
type material struct {
	contents
	pair  *tls.Certificate // nil if there is none
	roots *x509.CertPool   // nil if there is no CA
	cas   []*x509.Certificate
}

// parse makes sense of the contents of files, of which only the names are used.
func (f Files) parse(c contents) (*material, error) {
	m := &material{contents: c}
	if f.Cert != "" || f.Key != "" {
		pair, err := tls.X509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, fmt.Errorf("%w: %s and %s: %w", ErrFile, f.Cert, f.Key, err)
		}
		m.pair = &pair
	}
	if f.CA == "" {
		return m, nil
	}
	m.roots = x509.NewCertPool()
	for rest := c.ca; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		ca, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFile, f.CA, err)
		}
		m.cas = append(m.cas, ca)
		m.roots.AddCert(ca)
	}
	if len(m.cas) == 0 {
		return nil, fmt.Errorf("%w: %s has no certificate in PEM", ErrFile, f.CA)
	}
	return m, nil
}

// leaf is the certificate, nil if there is none.
func (m *material) leaf() *x509.Certificate {
	if m.pair == nil {
		return nil
	}
	return m.pair.Leaf
}

// lastCA is the certificate of the CA file that expires last, nil if there is none: what the others do does not matter while it is valid.
func (m *material) lastCA() (last *x509.Certificate) {
	for _, ca := range m.cas {
		if last == nil || ca.NotAfter.After(last.NotAfter) {
			last = ca
		}
	}
	return last
}

// warnBefore is how long before its end a certificate is due: 30 days, or a third of its life if that is shorter, since many are
// issued for some days only.
func warnBefore(cert *x509.Certificate) time.Duration {
	return min(30*24*time.Hour, cert.NotAfter.Sub(cert.NotBefore)/3)
}
