package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
)

// The ports that tests use lie below those that the system gives to outgoing
// connections: a node that is down for a while finds its port free when it comes back.
const (
	firstPort = 12000
	ports     = 18000
)

var nextPort atomic.Uint32

func init() { nextPort.Store(rand.Uint32N(ports)) }

// FreeAddress returns an address of 127.0.0.1 that nobody listens on, by TCP or UDP,
// and that no other call in this process returned.
func FreeAddress(t testing.TB) string {
	for range ports {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+nextPort.Add(1)%ports)
		tcp, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		udp, err := net.ListenPacket("udp", address)
		_ = tcp.Close()
		if err == nil {
			_ = udp.Close()
			return address
		}
	}
	t.Fatal("cluster: no free port")
	return ""
}
