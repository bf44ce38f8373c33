package ring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// InitialMember is one entry of an initial cluster.
type InitialMember struct {
	Name string
	Peer string
}

// Initial is the list of members that a cluster starts with, sorted by name. Every
// node is given the same one, and compares it with its peers' before it talks
// about anything else.
type Initial []InitialMember

// ParseInitial reads an initial cluster as etcd writes it:
//
//	n1=10.0.0.1:7000,n2=10.0.0.2:7000,n3=10.0.0.3:7000
//
// The order does not matter and spaces around entries are ignored. The error
// names the faulty part and wraps ErrInvalid.
func ParseInitial(text string) (Initial, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("%w: the initial cluster is empty, want name=host:port,...", ErrInvalid)
	}
	var list Initial
	for part := range strings.SplitSeq(text, ",") {
		m, err := parseInitialMember(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		for _, other := range list {
			if other.Name == m.Name {
				return nil, fmt.Errorf("%w: the initial cluster names %q twice", ErrInvalid, m.Name)
			}
			if other.Peer == m.Peer {
				return nil, fmt.Errorf("%w: in the initial cluster %q and %q have the same address %s", ErrInvalid, other.Name, m.Name, m.Peer)
			}
		}
		if list = append(list, m); len(list) > MaxMembers {
			return nil, fmt.Errorf("%w: the initial cluster has more than %d members", ErrInvalid, MaxMembers)
		}
	}
	slices.SortFunc(list, func(a, b InitialMember) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

func parseInitialMember(part string) (InitialMember, error) {
	name, address, found := strings.Cut(part, "=")
	if !found {
		return InitialMember{}, fmt.Errorf("%w: %q in the initial cluster is not name=host:port", ErrInvalid, part)
	}
	if err := checkName(name); err != nil {
		return InitialMember{}, fmt.Errorf("%w: %q in the initial cluster: the name %w", ErrInvalid, part, err)
	}
	if err := checkAddress(address); err != nil {
		return InitialMember{}, fmt.Errorf("%w: %q in the initial cluster: the address %w", ErrInvalid, part, err)
	}
	return InitialMember{Name: name, Peer: address}, nil
}

// String writes the list as ParseInitial reads it, sorted by name.
func (in Initial) String() string {
	parts := make([]string, len(in))
	for i, m := range in {
		parts[i] = m.Name + "=" + m.Peer
	}
	return strings.Join(parts, ",")
}

// Cluster returns the cluster of epoch 1 that the list describes: every member
// with weight 1, no rack and generation 0, IDs by position. Validate it before use.
func (in Initial) Cluster(name string, replicas int) Cluster {
	c := Cluster{Name: name, Epoch: 1, Replicas: replicas, Members: make([]Member, len(in))}
	for i, m := range in {
		c.Members[i] = Member{ID: uint16(i + 1), Name: m.Name, Peer: m.Peer, Weight: 1}
	}
	return c
}

// Diff says in one line how the initial cluster "here" differs from that "there".
// It is empty if they are the same.
func Diff(here, there Initial) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	for len(here) > 0 || len(there) > 0 {
		switch {
		case len(there) == 0 || len(here) > 0 && here[0].Name < there[0].Name:
			add("%s is only here", here[0].Name)
			here = here[1:]
		case len(here) == 0 || there[0].Name < here[0].Name:
			add("%s is only there", there[0].Name)
			there = there[1:]
		default:
			if here[0].Peer != there[0].Peer {
				add("%s is at %s here but at %s there", here[0].Name, here[0].Peer, there[0].Peer)
			}
			here, there = here[1:], there[1:]
		}
	}
	return strings.Join(parts, "; ")
}
