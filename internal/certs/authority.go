package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The files of a directory that NewAuthority and Issue write.
const (
	CAFile    = "ca.crt"
	CAKeyFile = "ca.key"
)

// ErrExists says that a file is there, and is not overwritten.
var ErrExists = errors.New("certs: the file exists")

// Authority is a CA in a directory. It makes certificates for one cluster.
type Authority struct {
	dir     string
	cluster string
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
}

// NewAuthority makes a CA for a cluster, and writes its certificate and its key to a directory, which it makes if need be. Errors wrap ErrExists where that applies.
func NewAuthority(dir, cluster string, valid time.Duration) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := newTemplate(pkix.Name{Organization: []string{cluster}, CommonName: "Quoll CA of " + cluster}, valid)
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := writePair(filepath.Join(dir, CAFile), filepath.Join(dir, CAKeyFile), der, key); err != nil {
		return nil, err
	}
	return OpenAuthority(dir)
}

// OpenAuthority reads the CA of a directory. Errors wrap ErrFile.
func OpenAuthority(dir string) (*Authority, error) {
	cert, key := filepath.Join(dir, CAFile), filepath.Join(dir, CAKeyFile)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%w: the CA %s with its key %s: %w; quoll cert init makes one", ErrFile, cert, key, err)
	}
	private, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA || len(pair.Leaf.Subject.Organization) != 1 {
		return nil, fmt.Errorf("%w: %s is no CA that quoll cert init has made", ErrFile, cert)
	}
	return &Authority{dir, pair.Leaf.Subject.Organization[0], pair.Leaf, private}, nil
}

// Cluster is the name of the cluster that the CA is for.
func (a *Authority) Cluster() string { return a.cluster }

// newTemplate is what all certificates have in common.
func newTemplate(subject pkix.Name, valid time.Duration) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		Subject:   subject,
		NotBefore: now.Add(-5 * time.Minute), // clocks differ
		NotAfter:  now.Add(valid),
	}
}
