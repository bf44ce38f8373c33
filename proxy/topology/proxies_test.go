package topology

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/pipes"
	"github.com/quolldb/quoll/ring"
)

// TestEachSlotIsOneLivingProxys whatever the list, and whoever is dead.
func TestEachSlotIsOneLivingProxys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "proxies")
		var addresses []string
		dead := map[string]bool{}
		for i := range n {
			address := net.JoinHostPort("10.0.0."+strconv.Itoa(i), "6379")
			addresses = append(addresses, address)
			dead[address] = rapid.Bool().Draw(t, "dead")
		}
		self := "10.0.0." + strconv.Itoa(rapid.IntRange(0, n).Draw(t, "self")) + ":6379" // maybe none of the list
		members := layout(addresses, self, func(address string) bool { return !dead[address] })
		next, living := 0, 0
		for _, m := range members {
			require.Equal(t, m.Self || !dead[net.JoinHostPort(m.Host, strconv.Itoa(m.Port))], m.Alive)
			require.Len(t, m.ID, 40)
			if !m.Alive {
				require.Empty(t, m.Slots)
				continue
			}
			living++
			require.Equal(t, next, m.Slots[0].First)
			next = m.Slots[0].End
		}
		require.Equal(t, ring.Slots, next)
		for _, m := range members {
			if m.Alive {
				require.InDelta(t, ring.Slots/living, m.Slots[0].End-m.Slots[0].First, 1, "their shares are equal")
			}
		}
		require.Equal(t, 1, len(slices.DeleteFunc(members, func(m Member) bool { return !m.Self })))
	})
}

func TestOneProxyIsAtTheAddressThatTheClientUses(t *testing.T) {
	local := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 6380}
	members := New(Config{}).Members(local)
	require.Equal(t, []Member{{ID: idOf("10.1.2.3:6380"), Host: "10.1.2.3", Port: 6380, Self: true, Alive: true, Slots: []Slots{{End: ring.Slots}}}}, members)
	members = New(Config{Announce: "redis.example.com:6379"}).Members(local)
	require.Equal(t, "redis.example.com", members[0].Host)
}

// TestWhoDoesNotAnswerIsLeftOut: one that is gone, and one that takes connections and hangs; until they are back.
func TestWhoDoesNotAnswerIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		listener := pipes.Listen()
		gone := make(chan struct{})
		var served sync.WaitGroup
		served.Go(func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				served.Go(func() {
					defer conn.Close()
					_, _ = conn.Read(make([]byte, 10))
					if hangs.Load() {
						<-gone
						return
					}
					_, _ = conn.Write([]byte("-NOAUTH Authentication required.\r\n"))
				})
			}
		})
		const other, dead, self = "b:1", "c:1", "a:1"
		topology := New(Config{Announce: self, Proxies: []string{self, other, dead}, Dial: func(ctx context.Context, address string) (net.Conn, error) {
			if address == dead {
				return nil, net.ErrClosed
			}
			return listener.Dial(ctx, address)
		}})
		alive := func() (alive []string) {
			for _, m := range topology.Members(nil) {
				if m.Alive {
					alive = append(alive, m.Host+":"+strconv.Itoa(m.Port))
				}
			}
			return alive
		}
		require.Equal(t, []string{self, other, dead}, alive(), "nobody knows better yet")
		ctx, cancel := context.WithCancel(t.Context())
		served.Go(func() { topology.Watch(ctx) })
		settled := func() {
			synctest.Wait()
			for range misses + 1 {
				<-time.After(every + patience)
			}
			synctest.Wait()
		}
		settled()
		require.Equal(t, []string{self, other}, alive())
		hangs.Store(true)
		settled()
		require.Equal(t, []string{self}, alive())
		hangs.Store(false)
		settled()
		require.Equal(t, []string{self, other}, alive())
		cancel()
		close(gone)
		require.NoError(t, listener.Close())
		served.Wait()
	})
}
