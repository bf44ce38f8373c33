package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
)

// Peers is how the processes of a cluster meet: each shows a certificate by the CA that names the cluster, the role and the name of its owner. What host it
// is on does not matter, so that a node can move.
type Peers struct {
	store   *Store
	cluster string
	server  *tls.Config
}

// NewPeers returns how the owner of a certificate meets others of the cluster. The store has a certificate and a CA. The error wraps ErrIdentity if the certificate is not
// for that cluster, this role, and, unless it is empty, this name.
func NewPeers(store *Store, want Identity) (*Peers, error) {
	p := &Peers{store: store, cluster: want.Cluster}
	store.fits = func(m *material) error { return want.owns(m, store.files.Cert) }
	if err := store.fits(store.current.Load()); err != nil {
		return nil, err
	}
	p.server = store.serving(func(m *material) *tls.Config {
		// Sessions are not resumed: a peer is to show its certificate each time.
		return &tls.Config{
			Certificates: []tls.Certificate{*m.pair}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
			DynamicRecordSizingDisabled: true,
			VerifyConnection:            func(state tls.ConnectionState) error { return p.verify(m, state, x509.ExtKeyUsageClientAuth) },
		}
	})
	return p, nil
}

// owns says why a certificate, of this file, is not that of an owner, whose name may be any if it is empty.
func (i Identity) owns(m *material, file string) error {
	if m.pair == nil || m.roots == nil {
		return fmt.Errorf("%w: peers need a certificate, its key, and a CA", ErrFile)
	}
	own, err := IdentityOf(m.leaf())
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case own.Cluster != i.Cluster || own.Role != i.Role || i.Name != "" && own.Name != i.Name:
		return fmt.Errorf("%w: %s is for %s, and this is %s", ErrIdentity, file, own, i)
	}
	return nil
}

// Server returns settings for who accepts peers.
func (p *Peers) Server() *tls.Config { return p.server }

// Client returns settings for one connection to a peer.
func (p *Peers) Client() *tls.Config {
	m := p.store.current.Load()
	return &tls.Config{
		Certificates: []tls.Certificate{*m.pair}, MinVersion: tls.VersionTLS13, DynamicRecordSizingDisabled: true,
		InsecureSkipVerify: true, // instead of the host it is the identity that counts: verify
		VerifyConnection:   func(state tls.ConnectionState) error { return p.verify(m, state, x509.ExtKeyUsageServerAuth) },
	}
}

// verify says why the other side is no part of the cluster.
func (p *Peers) verify(m *material, state tls.ConnectionState, usage x509.ExtKeyUsage) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("certs: the peer shows no certificate")
	}
	between := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	leaf := state.PeerCertificates[0]
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: m.roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
		return fmt.Errorf("certs: the peer's certificate: %w", err)
	}
	identity, err := IdentityOf(leaf)
	if err == nil && identity.Cluster != p.cluster {
		err = fmt.Errorf("%w: that of the peer is for %s, and this cluster is %s", ErrIdentity, identity, p.cluster)
	}
	return err
}

// Identity returns who the other side of a connection is, whose handshake has been verified by these settings.
func (p *Peers) Identity(state tls.ConnectionState) (Identity, error) {
	if len(state.PeerCertificates) == 0 {
		return Identity{}, fmt.Errorf("%w: the peer shows no certificate", ErrIdentity)
	}
	return IdentityOf(state.PeerCertificates[0])
}
