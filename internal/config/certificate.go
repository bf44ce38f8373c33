package config

import (
	"net"
	"strings"
	"time"
)

// CheckCertificate returns Faults with what is wrong about a certificate that is to be made: for a cluster, an owner (empty for the CA itself), at hosts, valid for so long.
func CheckCertificate(cluster, owner string, hosts []string, valid time.Duration) error {
	var f Faults
	f.name("cluster-name", cluster)
	if owner != "" {
		f.name("NAME", owner)
	}
	for _, host := range hosts {
		if net.ParseIP(host) == nil && (host == "" || len(host) > 253 || strings.ContainsAny(host, ":/ ,=")) {
			f.add("hosts", "%q is neither an IP address nor a host name; give it without a port", host)
		}
	}
	if valid < time.Minute {
		f.add("valid", "%s is too short: at least 1m", valid)
	}
	return f.err()
}
