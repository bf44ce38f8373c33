package ring

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
)

// The limits of a cluster.
const (
	MaxReplicas = 7
	MaxMembers  = 1000
	MaxWeight   = 1_000_000
	// MaxName is the length of a name (of a cluster, member or rack) in bytes.
	MaxName = 128
)

// ErrInvalid is what every error about a cluster's description wraps.
var ErrInvalid = errors.New("invalid cluster")

// Validate reports every fault of the cluster, joined, one line each. Each
// wraps ErrInvalid.
func (c Cluster) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...))
	}
	if c.Name != "" {
		if err := checkName(c.Name); err != nil {
			fault("cluster name %q %w", c.Name, err)
		}
	}
	if c.Epoch == 0 {
		fault("the epoch is 0, the first is 1")
	}
	if c.Replicas < 1 || c.Replicas > MaxReplicas {
		fault("%d replicas, want 1 to %d", c.Replicas, MaxReplicas)
	} else if c.Replicas > len(c.Members) {
		fault("%d replicas need as many members, there are %d", c.Replicas, len(c.Members))
	}
	if len(c.Members) > MaxMembers {
		fault("%d members, at most %d are possible", len(c.Members), MaxMembers)
	}
	for _, m := range c.Members {
		m.check(fault)
	}
	c.checkUnique(fault)
	return errors.Join(faults...)
}

func (m Member) check(fault func(format string, args ...any)) {
	if err := checkName(m.Name); err != nil {
		fault("member name %q %w", m.Name, err)
	}
	if m.ID == 0 {
		fault("member %q has ID 0, the first is 1", m.Name)
	}
	if m.Rack != "" {
		if err := checkName(m.Rack); err != nil {
			fault("member %q: rack %q %w", m.Name, m.Rack, err)
		}
	}
	if m.Weight < 1 || m.Weight > MaxWeight {
		fault("member %q has weight %d, want 1 to %d", m.Name, m.Weight, MaxWeight)
	}
	if err := checkAddress(m.Peer); err != nil {
		fault("member %q: peer address %q %w", m.Name, m.Peer, err)
	}
	if m.Gossip != "" {
		if err := checkAddress(m.Gossip); err != nil {
			fault("member %q: gossip address %q %w", m.Name, m.Gossip, err)
		}
	}
}

func (c Cluster) checkUnique(fault func(format string, args ...any)) {
	names := make(map[string]bool, len(c.Members))
	ids := make(map[uint16]string, len(c.Members))
	addresses := make(map[string]string, 2*len(c.Members))
	for _, m := range c.Members {
		if names[m.Name] {
			fault("two members have the name %q", m.Name)
		}
		names[m.Name] = true
		if other, taken := ids[m.ID]; taken {
			fault("members %q and %q have the same ID %d", other, m.Name, m.ID)
		}
		ids[m.ID] = m.Name
		for _, address := range []string{m.Peer, m.Gossip} {
			if other, taken := addresses[address]; taken && address != "" {
				fault("members %q and %q have the same address %s", other, m.Name, address)
			}
			addresses[address] = m.Name
		}
	}
}

// checkName returns what is wrong with a name, as the rest of a sentence. A name
// must survive in an initial cluster's text, in a URL and in a table.
func checkName(name string) error {
	if name == "" {
		return errors.New("is empty")
	}
	if len(name) > MaxName {
		return fmt.Errorf("is longer than %d bytes", MaxName)
	}
	for _, r := range name {
		switch {
		case strings.ContainsRune(",=/", r):
			return fmt.Errorf("contains %q", r)
		case r == ' ' || r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return errors.New("contains a space or an unprintable character")
		}
	}
	return nil
}

// checkAddress returns what is wrong with a host:port, as the rest of a sentence.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("is not host:port")
	}
	if host == "" {
		return errors.New("has no host")
	}
	if strings.ContainsFunc(host, func(r rune) bool {
		return strings.ContainsRune(",=/", r) || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}) {
		return errors.New("has an impossible host")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("has no port between 1 and 65535")
	}
	return nil
}
