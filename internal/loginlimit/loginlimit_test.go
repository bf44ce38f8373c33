package loginlimit

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func at(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }

// wrong lets an address be wrong as fast as it can for a while, and returns how often it was listened to.
func wrong(l *Limiter, from net.Addr, d time.Duration) (tries int) {
	for end := time.Now().Add(d); !time.Now().After(end); time.Sleep(time.Millisecond) {
		if l.Allowed(from) {
			tries++
			l.Failed(from)
		}
	}
	return tries
}

// exhaust is wrong as often at once as it is listened to.
func exhaust(l *Limiter, from net.Addr) (tries int) {
	for ; l.Allowed(from); tries++ {
		l.Failed(from)
	}
	return tries
}

func TestGuessingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		tries := wrong(&l, at("10.0.0.1"), 10*time.Second)
		require.InDelta(t, Burst+10*time.Second/Every, tries, 2)
		require.EqualValues(t, tries, l.Wrong.Load())
		require.EqualValues(t, 10_001-tries, l.Refused.Load())
		exhaust(&l, at("10.0.0.1"))
		require.False(t, l.Allowed(at("::ffff:10.0.0.1")), "the same one")
		require.True(t, l.Allowed(at("10.0.0.2")), "somebody else")
		time.Sleep(Every)
		require.True(t, l.Allowed(at("10.0.0.1")))
		time.Sleep(Burst * Every)
		require.Equal(t, Burst, exhaust(&l, at("10.0.0.1")), "all is forgiven")
	})
}

func TestWhatOneCustomerHasIsOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		exhaust(&l, at("2001:db8:1:2::1"))
		require.False(t, l.Allowed(at("2001:db8:1:2:ffff::7")))
		require.True(t, l.Allowed(at("2001:db8:1:3::1")))
	})
}

func TestAddressesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Limiter
		for i := range 2 * maxAddresses {
			l.Failed(at(net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)).String()))
		}
		require.LessOrEqual(t, len(l.until), maxAddresses+1)
		require.True(t, l.Allowed(at("10.0.0.1")))
		require.False(t, l.Allowed(at("192.0.2.1")), "what there is no room for is one")
		time.Sleep(time.Hour)
		l.Failed(at("192.0.2.1"))
		require.LessOrEqual(t, len(l.until), 2)
	})
}
