package admin

import (
	"fmt"
	"time"
)

// warnCertificates says which nodes' certificates are to be replaced.
func (s Status) warnCertificates() (warnings []string) {
	for _, n := range s.Nodes {
		if n.CertificateDue && n.CertificateExpires != nil {
			warnings = append(warnings, fmt.Sprintf("the certificate of node %s expires at %s: replace its file", n.Name, n.CertificateExpires.UTC().Format(time.RFC3339)))
		}
	}
	return warnings
}
