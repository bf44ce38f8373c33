package certs

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

// Role is what the owner of a certificate is.
type Role string

// The roles.
const (
	Node   Role = "node"
	Proxy  Role = "proxy"
	Client Role = "client"
)

// Identity is whose certificate it is. A certificate has it as a URI among its subject alternative names: urn:quoll:CLUSTER:ROLE:NAME.
type Identity struct {
	Cluster string
	Role    Role
	Name    string
}

const urn = "urn:quoll:"

// ErrIdentity says that a certificate does not say which part of a cluster it is for, or is for another one.
var ErrIdentity = errors.New("certs: identity of a certificate")

// String returns the URI that stands in the certificate.
func (i Identity) String() string { return urn + i.Cluster + ":" + string(i.Role) + ":" + i.Name }

// IdentityOf returns the identity in a certificate. Nothing about the certificate has been verified. Errors wrap ErrIdentity.
func IdentityOf(cert *x509.Certificate) (Identity, error) {
	var found []Identity
	for _, uri := range cert.URIs {
		text, ok := strings.CutPrefix(uri.String(), urn)
		if !ok {
			continue
		}
		parts := strings.Split(text, ":")
		if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
			return Identity{}, fmt.Errorf("%w: its URI %q is not %sCLUSTER:ROLE:NAME", ErrIdentity, uri, urn)
		}
		found = append(found, Identity{parts[0], Role(parts[1]), parts[2]})
	}
	if len(found) != 1 {
		return Identity{}, fmt.Errorf("%w: the certificate of %q has %d URIs %sCLUSTER:ROLE:NAME, and needs one: issue it with quoll cert, or with that as a URI among its subject alternative names",
			ErrIdentity, cert.Subject.CommonName, len(found), urn)
	}
	return found[0], nil
}
