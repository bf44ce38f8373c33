//go:build unix

package libraries

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"github.com/valkey-io/valkey-go"

	"github.com/quolldb/quoll/e2e/cluster"
)

func TestMain(m *testing.M) {
	goredis.SetLogger(quiet{})
	os.Exit(cluster.Main(m))
}

// quiet drops what go-redis logs of connections that break, which tests break on purpose.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// forever is how long a client would keep what it caches.
const forever = time.Hour

// startDev starts a cluster in one process and returns the port of its proxy.
func startDev(t *testing.T) string {
	address := cluster.FreeAddress(t)
	dev := cluster.NewProcess(t, "dev", "dev", "--listen", address, "--operation-timeout", "10s")
	dev.Start()
	dev.AwaitLog("Quoll runs: ")
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	return port
}

// TestBasics has every library connect, write, read, send a pipeline, transactions, of which one is refused since its keys are in several slots, and find many keys.
func TestBasics(t *testing.T) {
	port := startDev(t)
	const many = 20_000
	writer := dialGoRedis(goredis.Options{})(t, port)
	for i := 0; i < many; i += 1000 {
		require.NoError(t, writer.pipe(numbered("many:"+strconv.Itoa(i)+":", 1000)...))
	}
	eachLibrary(t, func(t *testing.T, l library) {
		c, key := l.dial(t, port), strings.NewReplacer(" ", "-", "`", "").Replace(l.name)
		require.NoError(t, c.set(key, "value"))
		value, err := c.get(key)
		require.NoError(t, err)
		require.Equal(t, "value", value)
		require.Error(t, c.incr(key), "it is no number")
		require.NoError(t, c.incr(key+":alone"))
		counters := numbered(key+":n", 50)
		require.NoError(t, c.pipe(counters...))

		err = c.tx(counters...)
		require.Error(t, err, "keys of several slots")
		t.Log(err)
		require.NoError(t, c.incr(key+":alone"), "the connection goes on")
		for _, counter := range append(counters, key+":alone") {
			value, err := c.get(counter)
			require.NoError(t, err)
			require.Equal(t, map[bool]string{true: "2", false: "1"}[counter == key+":alone"], value, "%s: a refused transaction was executed", counter)
		}
		together := numbered("{"+key+"}:t", 50)
		for range 2 {
			require.NoError(t, c.tx(together...))
		}
		for _, counter := range together {
			value, err := c.get(counter)
			require.NoError(t, err)
			require.Equal(t, "2", value, counter)
		}

		found, err := c.scan("many:*")
		require.NoError(t, err)
		require.Equal(t, many, found, "keys that SCAN returned")
	})
}

// TestClientsCache: what rueidis and valkey-go keep is replaced soon after somebody has written, over whatever proxy.
func TestClientsCache(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	port := func(proxy int) string {
		_, port, err := net.SplitHostPort(c.Proxies[proxy].Client)
		require.NoError(t, err)
		return port
	}
	ru := dialRueidis(rueidis.ClientOption{})(t, port(0)).(rueidisClient)
	va := dialValkey(valkey.ClientOption{})(t, port(0)).(valkeyClient)
	writer := dialGoRedis(goredis.Options{MaxRetries: -1})(t, port(1))
	for name, cached := range map[string]func() (value string, hit bool){
		"rueidis": func() (string, bool) {
			got := ru.DoCache(t.Context(), ru.B().Get().Key("k").Cache(), forever)
			value, err := got.ToString()
			require.NoError(t, err)
			return value, got.IsCacheHit()
		},
		"valkey": func() (string, bool) {
			got := va.DoCache(t.Context(), va.B().Get().Key("k").Cache(), forever)
			value, err := got.ToString()
			require.NoError(t, err)
			return value, got.IsCacheHit()
		},
	} {
		for _, want := range []string{"1", "2", "3"} {
			require.NoError(t, writer.set("k", want))
			require.Eventually(t, func() bool { value, _ := cached(); return value == want }, 5*time.Second, time.Millisecond, name)
			require.Eventually(t, func() bool { value, hit := cached(); return hit && value == want }, 5*time.Second, time.Millisecond, "%s keeps it", name)
		}
	}
}

// TestDyingProxy kills a proxy under each library's INCRs and restarts it: with careful settings nothing is counted twice. What the
// other settings do is shown.
func TestDyingProxy(t *testing.T) {
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	_, dying, err := net.SplitHostPort(c.Proxies[0].Client)
	require.NoError(t, err)
	_, other, err := net.SplitHostPort(c.Proxies[1].Client)
	require.NoError(t, err)
	reader := dialGoRedis(goredis.Options{MaxRetries: -1})(t, other)
	for _, l := range goLibraries {
		t.Run(l.name, func(t *testing.T) {
			key := strings.ReplaceAll(l.name, " ", "-")
			victim := l.dial(t, dying)
			sent, done, unknown := underFire(t, c.Proxies[0], func() error { return victim.incr(key) })
			value, err := reader.get(key)
			require.NoError(t, err)
			counted, err := strconv.Atoi(value)
			require.NoError(t, err)
			t.Logf("%d sent: %d done, %d errors; counted %d", sent, done, unknown, counted)
			require.GreaterOrEqual(t, counted, done, "an acknowledged INCR is lost")
			if l.careful {
				require.LessOrEqual(t, counted, done+unknown, "an INCR was counted twice")
			}
		})
	}
}

// underFire calls incr from many goroutines while a proxy is killed and restarted, some times.
func underFire(t *testing.T, proxy *cluster.Member, incr func() error) (sent, done, failed int) {
	var ok, bad atomic.Int64
	var callers sync.WaitGroup
	stop := make(chan struct{})
	for range 50 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := incr(); err != nil {
					bad.Add(1)
				} else {
					ok.Add(1)
				}
			}
		})
	}
	for range 3 {
		before := ok.Load()
		cluster.Await(t, "INCRs", func() bool { return ok.Load() > before+500 })
		proxy.Kill()
		proxy.Start()
		proxy.AwaitReady()
	}
	close(stop)
	callers.Wait()
	return int(ok.Load() + bad.Load()), int(ok.Load()), int(bad.Load())
}

// TestConnectionRefusedSaysNothing: go-redis tells of the last attempt only. The first one was executed.
func TestConnectionRefusedSaysNothing(t *testing.T) {
	server := startServer(t)
	c := dialGoRedis(goredis.Options{})(t, server.port)
	require.NoError(t, c.incr("connected"))
	server.closeListener() // the proxy dies with the next command
	err := c.incr(refused(lost, "k"))
	require.ErrorContains(t, err, "connection refused")
	require.Equal(t, 1, server.times(refused(lost, "k")), "it was executed")

	server = startServer(t)
	c = dialGoRedis(goredis.Options{MaxRetries: -1})(t, server.port)
	require.NoError(t, c.incr("connected"))
	server.closeListener()
	err = c.incr(refused(lost, "k"))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "connection refused", "what is not repeated has one error, that of its own")
}
