//go:build linux

package compose

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// freeSubnets returns networks of 254 addresses each in which this machine has no address: Docker's other
// networks, whose bridges have one, are not among them.
func freeSubnets(n int) ([]netip.Prefix, error) {
	var taken []netip.Prefix
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("compose: the addresses of this machine: %w", err)
	}
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			taken = append(taken, prefix)
		}
	}
	var free []netip.Prefix
	for range 1000 {
		candidate := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(100 + rand.IntN(100)), byte(rand.IntN(256)), 0}), 24)
		if overlaps(candidate, taken) {
			continue
		}
		free, taken = append(free, candidate), append(taken, candidate)
		if len(free) == n {
			return free, nil
		}
	}
	return nil, errors.New("compose: no free subnet between 10.100.0.0 and 10.199.255.0: remove networks that nobody uses (docker network prune)")
}

func overlaps(candidate netip.Prefix, taken []netip.Prefix) bool {
	for _, t := range taken {
		if t.Overlaps(candidate) {
			return true
		}
	}
	return false
}

// host returns the address of a number in a subnet of 254 addresses.
func host(subnet netip.Prefix, number byte) string {
	bytes := subnet.Addr().As4()
	bytes[3] = number
	return netip.AddrFrom4(bytes).String()
}
