package front_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// piledUp is how many commands the clients of these tests send at once.
const piledUp = 50

// piled dials clients, each of which sends a command so often.
func piled(t *testing.T, addr, command string, n int) []*proxytest.Client {
	clients := make([]*proxytest.Client, n)
	for i := range clients {
		clients[i] = proxytest.Dial(t, addr)
		require.Equal(t, "+PONG\r\n", clients[i].Do("PING")) // what comes with the end of a handshake is served apart
	}
	for i := range clients {
		clients[i].Send(slices.Repeat([]string{command}, piledUp)...)
	}
	return clients
}

func requireAnswers(t *testing.T, clients []*proxytest.Client) {
	for _, c := range clients {
		for range piledUp {
			require.Equal(t, "$-1\r\n", c.Reply())
		}
	}
}

func requireNothingUnderWay(t *testing.T, server *proxy.Server) {
	eventually(t, server.NothingUnderWay, "what has been answered is counted")
}

// awaitFull waits until somebody waits for room.
func awaitFull(t *testing.T, server *proxy.Server) {
	eventually(t, server.Full, "nobody waits, however many operations are under way")
}

// However much clients send at once, the cluster is given so much at a time, and all is answered.
func TestOperationsUnderWay(t *testing.T) { proxytest.EachWay(t, testOperationsUnderWay) }

func testOperationsUnderWay(t *testing.T, w proxytest.Way) {
	cluster, release := proxytest.NewCluster(), make(chan struct{})
	var under, most atomic.Int64
	cluster.Before = func(b *route.Batch) {
		for n := under.Add(int64(len(b.Ops))); n > most.Load(); n = under.Load() {
			most.Store(n)
		}
		<-release
		under.Add(-int64(len(b.Ops)))
	}
	server, addr := serve(t, w, front.WithPatience(time.Hour), cluster)
	let := sync.OnceFunc(func() { close(release) })
	defer let()
	clients := piled(t, addr, "GET a", 3*front.GateOps/piledUp)
	awaitFull(t, server)
	eventually(t, func() bool { return most.Load() >= front.GateOps }, "the cluster is given less than it may be") // what is under way is on its way there
	let()
	requireAnswers(t, clients)
	require.Less(t, most.Load(), int64(front.GateOps+front.RoundOps+front.PartOps))
	requireNothingUnderWay(t, server)
}

// Operations that the cluster does not answer keep nobody else waiting for ever, though there are more of them than may
// be under way, and nobody at all as long as there are fewer.
func TestStuckOperations(t *testing.T) { proxytest.EachWay(t, testStuckOperations) }

func testStuckOperations(t *testing.T, w proxytest.Way) {
	for name, test := range map[string]struct {
		clients  int
		patience time.Duration
	}{
		"few":  {(front.GateOps - 1) / piledUp, time.Hour},
		"many": {3 * front.GateOps / piledUp, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, released := proxytest.NewCluster(), make(chan struct{})
			var stuck atomic.Int64
			cluster.Before = func(b *route.Batch) {
				if string(b.Ops[0].Req.Args[1]) == "stuck" {
					stuck.Add(int64(len(b.Ops)))
					<-released
				}
			}
			server, addr := serve(t, w, front.WithPatience(test.patience), cluster)
			release := sync.OnceFunc(func() { close(released) })
			defer release()
			clients := piled(t, addr, "GET stuck", test.clients)
			eventually(t, func() bool { return stuck.Load() == int64(test.clients*piledUp) }, "those that are stuck keep others like them waiting")
			require.Equal(t, "$-1\r\n", proxytest.Dial(t, addr).Do("GET fine"))
			release()
			requireAnswers(t, clients)
			requireNothingUnderWay(t, server)
		})
	}
}

// A server that ends does not wait for room.
func TestShutdownWhileFull(t *testing.T) { proxytest.EachWay(t, testShutdownWhileFull) }

func testShutdownWhileFull(t *testing.T, w proxytest.Way) {
	cluster, _, release := stuckCluster()
	server, addr := serve(t, w, front.WithPatience(time.Hour), cluster)
	defer release()
	piled(t, addr, "GET stuck", 2*front.GateOps/piledUp)
	awaitFull(t, server)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ended := make(chan error)
	go func() { ended <- server.Shutdown(ctx) }()
	<-server.Context().Done()
	release()
	require.ErrorIs(t, <-ended, context.Canceled)
}
