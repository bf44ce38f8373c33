// Package gossip says which members of a cluster are alive, by the SWIM protocol of
// hashicorp/memberlist, of which it is the only home. It says nothing about who owns
// which slots: a member that is suspect or dead keeps its slots, and coming back it
// finds them.
//
// Two things are added to memberlist. Dead members are remembered, with the time of
// death, where memberlist forgets them after a while. And a rejoin loop keeps calling
// the known members that are not alive, for ever: memberlist gossips to the dead
// only for GossipToTheDeadTime (30 s on LAN settings), so that two halves of a
// longer partition would never find each other again.
package gossip

import (
	"context"
	"crypto/aes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"
)

// MaxMeta is the largest metadata of a member, in bytes.
const MaxMeta = memberlist.MetaMaxSize

// KeySize is the length of a secret key in bytes (AES-256).
const KeySize = 2 * aes.BlockSize

var (
	// ErrConfig is wrapped by errors that a different Config would avoid.
	ErrConfig = errors.New("gossip configuration")
	// ErrAddressInUse is wrapped by Start's error if another process has the address.
	ErrAddressInUse = errors.New("gossip address in use")
)

// Profile is a set of timings.
type Profile uint8

const (
	// LAN is for members in one data centre: a dead member is suspected after about a
	// second and declared dead after about five more.
	LAN Profile = iota
	// Local is for members on one machine: shorter time-outs for round trips and
	// fewer retransmissions.
	Local
)

// Config says how a member takes part in the gossip.
type Config struct {
	// Name is the member's name, unique in the cluster.
	Name string
	// Cluster, if not empty, keeps clusters apart: members of another one are not
	// talked to, even if they are reached at an address once used by this one. At
	// most 255 bytes.
	Cluster string
	// Bind is the host:port to listen on, TCP and UDP. Port 0 takes a free one, an empty
	// host all interfaces.
	Bind string
	// Network, if not nil, is what the gossip goes over: then Bind and Advertise mean nothing.
	Network *Network
	// Advertise is the host:port that the others are told. If empty, it is the address
	// bound to, or the first private address of the machine if that is all of them.
	Advertise string
	// Meta is passed on to the others as it is, at most MaxMeta bytes. SetMeta changes it.
	Meta []byte
	// Heard, if not nil, is told of a member's metadata when the member comes, this one too, and when they change. It must not block, nor call Gossip.
	Heard func(member string, meta []byte)
	// Keys, of KeySize bytes each, encrypt and authenticate the gossip: the first one encrypts, and what is encrypted by any of them is read. Without one
	// anybody who reaches the port can forge it. SetKeys changes them.
	Keys [][]byte
	// Known returns the gossip addresses (host:port) of the members to call while they
	// are not alive. It is called from another goroutine and must not block. It may
	// include the member's own address. Members seen before are called in any case,
	// where they were last seen.
	Known func() []string
	// RejoinInterval is the time between two rounds of calls, 2 s if zero.
	RejoinInterval time.Duration
	// Profile chooses the timings of failure detection.
	Profile Profile
	// Logger gets changes of state at Info, memberlist's own warnings and errors at Warn
	// and the rest of its log at Debug. slog.Default() if nil.
	Logger *slog.Logger

	// tune lets tests shorten timings.
	tune func(*memberlist.Config)
}

func (c *Config) check() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("%w: the member has no name", ErrConfig)
	case len(c.Cluster) > memberlist.LabelMaxSize:
		return fmt.Errorf("%w: the cluster name has %d bytes, at most %d are possible", ErrConfig, len(c.Cluster), memberlist.LabelMaxSize)
	case len(c.Meta) > MaxMeta:
		return fmt.Errorf("%w: metadata of %d bytes, at most %d are possible", ErrConfig, len(c.Meta), MaxMeta)
	case c.RejoinInterval < 0:
		return fmt.Errorf("%w: the rejoin interval %v is negative", ErrConfig, c.RejoinInterval)
	}
	return checkKeys(c.Keys)
}

// memberlist translates the configuration. It looks up host names.
func (c *Config) memberlist() (*memberlist.Config, error) {
	m := memberlist.DefaultLANConfig()
	if c.Profile == Local {
		m = memberlist.DefaultLocalConfig()
	}
	var err error
	if c.Network != nil {
		c.Bind = c.Network.Streams.Addr().String()
	}
	if m.BindAddr, m.BindPort, err = resolve(context.Background(), c.Bind); err != nil {
		return nil, fmt.Errorf("%w: gossip bind address %q: %w", ErrConfig, c.Bind, err)
	}
	m.AdvertiseAddr, m.AdvertisePort = "", m.BindPort
	if c.Advertise != "" {
		if m.AdvertiseAddr, m.AdvertisePort, err = resolve(context.Background(), c.Advertise); err != nil {
			return nil, fmt.Errorf("%w: gossip advertise address %q: %w", ErrConfig, c.Advertise, err)
		}
	}
	m.Name = c.Name
	m.Label = c.Cluster
	if len(c.Keys) > 0 {
		if m.Keyring, err = memberlist.NewKeyring(c.Keys, c.Keys[0]); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	// What is sent is small, and memberlist makes a compressor of more than 64 KiB anew for each message.
	m.EnableCompression = false
	// A member that comes back at another address is the same member: let it have its
	// name as soon as it is dead.
	m.DeadNodeReclaimTime = time.Nanosecond
	return m, nil
}

// resolve turns host:port into an IP address and a port. memberlist is never given
// a host name: it would take an unknown one for "all interfaces".
func resolve(ctx context.Context, address string) (string, int, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, errors.New("it is not host:port")
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not a port", service)
	}
	if host == "" {
		return "0.0.0.0", int(port), nil
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.String(), int(port), nil
	}
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return "", 0, fmt.Errorf("the host name %q cannot be resolved: %w", host, err)
	}
	for _, ip := range ips { // prefer IPv4, as memberlist does
		if ip4 := ip.To4(); ip4 != nil {
			return ip4.String(), int(port), nil
		}
	}
	return ips[0].String(), int(port), nil
}
