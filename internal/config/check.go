package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// listen checks an address to listen on.
func (f *Faults) listen(field, address string) {
	if err := checkListen(address); err != nil {
		f.add(field, "%v", err)
	}
}

// dial checks an address that others are to be reached at.
func (f *Faults) dial(field, address string) {
	if err := checkDial(address); err != nil {
		f.add(field, "%v", err)
	}
}

// name checks the name of a node, cluster or rack.
func (f *Faults) name(field, name string) {
	if err := checkName(name); err != nil {
		f.add(field, "%v", err)
	}
}

// atLeast checks a number.
func (f *Faults) atLeast(field string, n, least int) {
	if n < least {
		f.add(field, "%d is too small: at least %d", n, least)
	}
}

// within checks a number that has two bounds.
func (f *Faults) within(field string, n, least, most int) {
	if n < least || n > most {
		f.add(field, "%d is out of range: from %d to %d", n, least, most)
	}
}

// replicas checks a number of replicas, which package ring bounds too.
func (f *Faults) replicas(n int) { f.within("replicas", n, 1, 7) }

// between checks a size.
func (f *Faults) between(field string, n, least, most Size) {
	if n < least || n > most {
		f.add(field, "%s is out of range: from %s to %s", n, least, most)
	}
}

// memory checks the bound of a process' memory.
func (f *Faults) memory(n, least Size) {
	if n < least || n > mostMemory {
		f.add("memory", "%s is out of range: from %s, which the process needs to work, to %s", n, least, mostMemory)
	}
}

// fits checks that parts of a process' memory, n bytes each, are not too much of it together.
func (f *Faults) fits(field string, n Size, parts int, memory Size, share int) {
	if most := memory / Size(share) / Size(max(parts, 1)); n > most && !f.has("memory") && !f.has(field) {
		f.add(field, "%s does not fit into --memory %s: at most %s; give less, or more --memory", n, memory, most/MiB*MiB)
	}
}

// largestBulk is the largest argument or value that can be set: it travels in one frame of the peer protocol.
const largestBulk = 100 * MiB

// timeouts checks the operation time-out, and the one for slow operations.
func (f *Faults) timeouts(operation, slow time.Duration) {
	f.timeout("operation-timeout", operation)
	f.timeout("slow-timeout", slow)
	if slow < operation {
		f.add("slow-timeout", "%s is shorter than the operation-timeout of %s", slow, operation)
	}
}

// timeout checks a time-out.
func (f *Faults) timeout(field string, d time.Duration) {
	if d < time.Millisecond || d > time.Hour {
		f.add(field, "%s is out of range: from 1ms to 1h", d)
	}
}

// format checks a log format.
func (f *Faults) format(field, format string) {
	if format != "text" && format != "json" {
		f.add(field, "%q is neither text nor json", format)
	}
}

// protect refuses to listen for other machines without a guard, unless that is
// what was asked for: Redis' protected mode.
func (f *Faults) protect(field, address, guard string, secret Secret, insecure bool) {
	if secret != "" || insecure || checkListen(address) != nil || isLoopback(address) {
		return
	}
	f.add(field, "other machines can reach %s and no %s is set: give --%[2]s-file (or --%[2]s), or --insecure if the network keeps strangers out, or listen on 127.0.0.1", address, guard)
}

var nameSyntax = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("a name is required")
	case !nameSyntax.MatchString(name):
		return fmt.Errorf("%q is not a name: up to 63 letters, digits, dots, dashes and underscores, a letter or digit first", name)
	}
	return nil
}

// checkListen checks host:port. The host may be empty (all interfaces), the port 0
// (the system chooses).
func checkListen(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not host:port", address)
	}
	if strings.ContainsFunc(host, func(r rune) bool {
		return strings.ContainsRune(",=/", r) || unicode.IsSpace(r) || r == unicode.ReplacementChar || !unicode.IsPrint(r)
	}) {
		return fmt.Errorf("%q has no valid host", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q has no port between 0 and 65535", address)
	}
	return nil
}

// checkDial checks host:port of something that can be reached.
func checkDial(address string) error {
	if err := checkListen(address); err != nil {
		return err
	}
	if isWildcard(address) {
		return fmt.Errorf("%q names no host that others can reach", address)
	}
	if portOf(address) == 0 {
		return fmt.Errorf("%q names no port that others can reach", address)
	}
	return nil
}

// isLoopback reports whether only this machine can reach the address. A host name
// other than localhost counts as reachable: what it means may change.
func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// isWildcard reports whether the address stands for all interfaces.
func isWildcard(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().IsUnspecified()
}

// portOf returns the port, 0 for an address without a valid one.
func portOf(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// withPort returns the address's host with another port.
func withPort(address string, port int) string {
	host, _, _ := net.SplitHostPort(address)
	return net.JoinHostPort(host, strconv.Itoa(port))
}
