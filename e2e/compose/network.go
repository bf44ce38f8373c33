//go:build linux

package compose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// traffic is what is wrong with a service's place in the network data. It belongs to the place, not to the
// process: the network of a container that is started again is whole, until apply breaks it again.
type traffic struct {
	lost map[string]float64 // by the sender's address: the share of what arrives from it that is lost
	rate string             // of what it sends, as tc writes it; empty: as fast as can be
}

// apply makes the network of the running container what it should be. What is lost is so at its receiver.
func (w *traffic) apply(s *Service) {
	s.cluster.t.Helper()
	pid := s.pid()
	if pid == 0 {
		return
	}
	s.enter(pid, w.rules(), "iptables-restore")
	link := s.dataInterface(pid)
	if w.rate != "" {
		s.enter(pid, "", "tc", "qdisc", "replace", "dev", link, "root", "tbf", "rate", w.rate, "burst", "32kbit", "latency", "400ms")
	} else if strings.Contains(s.enter(pid, "", "tc", "qdisc", "show", "dev", link), "tbf") {
		s.enter(pid, "", "tc", "qdisc", "del", "dev", link, "root")
	}
}

// rules is the filter table, for iptables-restore.
func (w *traffic) rules() string {
	var text strings.Builder
	text.WriteString("*filter\n:INPUT ACCEPT [0:0]\n")
	for _, sender := range slices.Sorted(maps.Keys(w.lost)) {
		some := ""
		if w.lost[sender] < 1 {
			some = fmt.Sprintf(" -m statistic --mode random --probability %.4f", w.lost[sender])
		}
		fmt.Fprintf(&text, "-A INPUT -s %s%s -j DROP\n", sender, some)
	}
	text.WriteString("COMMIT\n")
	return text.String()
}

// enter runs a program in the network of a process.
func (s *Service) enter(pid int, input string, command ...string) string {
	s.cluster.t.Helper()
	out, err := run(input, "nsenter", append([]string{"-t", fmt.Sprint(pid), "-n"}, command...)...)
	s.cluster.must(err)
	return out
}

// dataInterface is what the network data is called in the container.
func (s *Service) dataInterface(pid int) string {
	s.cluster.t.Helper()
	fields := strings.Fields(s.enter(pid, "", "ip", "-o", "-4", "addr", "show", "to", s.Data))
	require.Greater(s.cluster.t, len(fields), 1, "%s has no interface with %s", s.Name, s.Data)
	return fields[1]
}

// lose sets which share of what arrives from some senders is lost.
func (s *Service) lose(share float64, senders ...*Service) {
	if s.traffic.lost == nil {
		s.traffic.lost = map[string]float64{}
	}
	for _, sender := range senders {
		if sender != s {
			s.traffic.lost[sender.Data] = share
		}
	}
	s.traffic.apply(s)
}

// Cut loses all that one service sends to another. What the other one answers arrives, as long as there is
// anything to answer.
func (c *Cluster) Cut(from, to *Service) {
	c.t.Helper()
	to.lose(1, from)
}

// Part cuts every link between two groups, in both directions.
func (c *Cluster) Part(left, right []*Service) {
	c.t.Helper()
	for _, s := range left {
		s.lose(1, right...)
	}
	for _, s := range right {
		s.lose(1, left...)
	}
}

// Isolate cuts a service off from all the others, at once: it neither hears them nor is heard. This machine
// still reaches it.
func (c *Cluster) Isolate(s *Service) {
	c.t.Helper()
	s.lose(1, c.Services()...) // nothing is acknowledged from here on, so that little goes through the other way
	for _, other := range c.Services() {
		if other != s {
			other.lose(1, s)
		}
	}
}

// Drop loses a share, between 0 and 1, of the packets that a service sends and gets.
func (c *Cluster) Drop(s *Service, share float64) {
	c.t.Helper()
	s.lose(share, c.Services()...)
	for _, other := range c.Services() {
		if other != s {
			other.lose(share, s)
		}
	}
}

// Join ends whatever packets are lost between a service and any other. Between those, it stays.
func (c *Cluster) Join(s *Service) {
	c.t.Helper()
	s.traffic.lost = nil
	s.traffic.apply(s)
	for _, other := range c.Services() {
		if _, lost := other.traffic.lost[s.Data]; lost {
			delete(other.traffic.lost, s.Data)
			other.traffic.apply(other)
		}
	}
}

// Throttle limits what a service sends to its peers, to a rate as tc(8) writes it, such as
// "1mbit". An empty one ends that.
func (c *Cluster) Throttle(s *Service, rate string) {
	c.t.Helper()
	s.traffic.rate = rate
	s.traffic.apply(s)
}

// Heal ends whatever is wrong with the network, of all services: those that do not run too, for when they
// are started again.
func (c *Cluster) Heal() {
	c.t.Helper()
	for _, s := range c.Services() {
		if broken := len(s.traffic.lost) > 0 || s.traffic.rate != ""; broken {
			s.traffic = traffic{}
			s.traffic.apply(s)
		}
	}
}
