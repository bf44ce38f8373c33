package guesses

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func at(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }

// wrong lets an address be wrong as fast as it can for a while, and returns how often it was listened to.
func wrong(g *Guesses, from net.Addr, d time.Duration) (tries int) {
	for end := time.Now().Add(d); !time.Now().After(end); time.Sleep(time.Millisecond) {
		if g.Allowed(from) {
			tries++
			g.Failed(from)
		}
	}
	return tries
}

// exhaust is wrong as often at once as it is listened to.
func exhaust(g *Guesses, from net.Addr) (tries int) {
	for ; g.Allowed(from); tries++ {
		g.Failed(from)
	}
	return tries
}

func TestGuessingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Guesses
		tries := wrong(&g, at("10.0.0.1"), 10*time.Second)
		require.InDelta(t, Burst+10*time.Second/Every, tries, 2)
		require.EqualValues(t, tries, g.Wrong.Load())
		require.EqualValues(t, 10_001-tries, g.Refused.Load())
		exhaust(&g, at("10.0.0.1"))
		require.False(t, g.Allowed(at("::ffff:10.0.0.1")), "the same one")
		require.True(t, g.Allowed(at("10.0.0.2")), "somebody else")
		time.Sleep(Every)
		require.True(t, g.Allowed(at("10.0.0.1")))
		time.Sleep(Burst * Every)
		require.Equal(t, Burst, exhaust(&g, at("10.0.0.1")), "all is forgiven")
	})
}

func TestWhatOneCustomerHasIsOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Guesses
		exhaust(&g, at("2001:db8:1:2::1"))
		require.False(t, g.Allowed(at("2001:db8:1:2:ffff::7")))
		require.True(t, g.Allowed(at("2001:db8:1:3::1")))
	})
}

func TestAddressesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Guesses
		for i := range 2 * maxAddresses {
			g.Failed(at(net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)).String()))
		}
		require.LessOrEqual(t, len(g.until), maxAddresses+1)
		require.True(t, g.Allowed(at("10.0.0.1")))
		require.False(t, g.Allowed(at("192.0.2.1")), "what there is no room for is one")
		time.Sleep(time.Hour)
		g.Failed(at("192.0.2.1"))
		require.LessOrEqual(t, len(g.until), 2)
	})
}
