package certs

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Request is what a certificate is issued for.
type Request struct {
	Role Role
	Name string
	// Hosts are the names and IP addresses at which clients reach the owner.
	Hosts []string
	Valid time.Duration
	// Dir is where the files are written, made if it is not there. Empty: the CA's directory.
	Dir string
}

// FileOf returns how the files of a role's certificate are called, without their ends .crt and .key.
func FileOf(role Role, name string) string { return string(role) + "." + name }

// Issue makes a certificate and writes it and its key to files. It returns their paths. Errors wrap ErrExists where that applies.
func (a *Authority) Issue(r Request) (certFile, keyFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	uri, err := url.Parse(Identity{a.cluster, r.Role, r.Name}.String())
	if err != nil {
		return "", "", err
	}
	template := newTemplate(pkix.Name{Organization: []string{a.cluster}, CommonName: r.Name}, r.Valid)
	if template.NotAfter.After(a.cert.NotAfter) { // a certificate is worth nothing without its CA
		template.NotAfter = a.cert.NotAfter
	}
	template.URIs = []*url.URL{uri}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if r.Role != Client {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return "", "", err
	}
	dir := cmp.Or(r.Dir, a.dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", "", err
	}
	file := filepath.Join(dir, FileOf(r.Role, r.Name))
	certFile, keyFile = file+".crt", file+".key"
	return certFile, keyFile, writePair(certFile, keyFile, der, key)
}

// writePair writes a certificate and its key, unless one of them is there.
func writePair(certFile, keyFile string, der []byte, key *ecdsa.PrivateKey) error {
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for _, path := range []string{certFile, keyFile} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s; move it away if it is to be replaced", ErrExists, path)
		}
	}
	if err := writePEM(keyFile, "PRIVATE KEY", private, 0o600); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", der, 0o644)
}

func writePEM(path, kind string, der []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", ErrExists, path)
	}
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(file, &pem.Block{Type: kind, Bytes: der}), file.Sync(), file.Close())
}
