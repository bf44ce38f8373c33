package session

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// lists has a cluster in memory execute BLPOP on one list. Its lock is held.
func lists(elements *[]string) func(*route.Op) bool {
	return func(op *route.Op) bool {
		if op.Req.Op != command.OpBLPop {
			return false
		}
		op.Outcome, op.Reply = answer.Done, resp.AppendNullArray(nil, false)
		if len(*elements) > 0 {
			op.Reply = resp.AppendBulk(resp.AppendBulk(resp.AppendArray(nil, 2), string(op.Req.Args[1])), (*elements)[0])
			*elements = (*elements)[1:]
		}
		return true
	}
}

// TestATimeOutIsNotLost: a client whose first look takes longer than it wants to wait is answered then.
func TestATimeOutIsNotLost(t *testing.T) {
	cluster := proxytest.NewCluster()
	var elements []string
	cluster.Intercept = lists(&elements)
	cluster.Before = func(b *route.Batch) {
		if b.Ops[0].Req.Op == command.OpBLPop {
			begun := time.Now()
			for time.Since(begun) < 3*time.Millisecond {
				runtime.Gosched()
			}
		}
	}
	_, addr := serve(t, proxytest.ByFront, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	for range 100 {
		require.Equal(t, "*-1\r\n", c.Do("BLPOP q 0.001"))
	}
}

// TestWhoWaitsBehindAnotherLooksOnceAtLeast: a client comes while another one, who waited before, is trying, which takes longer than it wants to wait. There was something for both of them all the time, so it may
// not be answered that there was nothing.
func TestWhoWaitsBehindAnotherLooksOnceAtLeast(t *testing.T) {
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		cluster := proxytest.NewCluster()
		var elements []string
		cluster.Intercept = lists(&elements)
		trying, goOn := make(chan struct{}), make(chan struct{})
		var pops atomic.Int64
		cluster.Before = func(b *route.Batch) {
			if b.Ops[0].Req.Op == command.OpBLPop && pops.Add(1) == 2 { // what waited tries again
				close(trying)
				<-goOn
			}
		}
		release := sync.OnceFunc(func() { close(goOn) })
		_, addr := serve(t, w, Config{}, cluster)
		t.Cleanup(release)
		first, second := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
		first.Send("BLPOP q 0")
		other := proxytest.Dial(t, addr)
		require.Eventually(t, func() bool { return strings.Contains(other.Do("INFO clients"), "blocked_clients:1\r\n") }, 5*time.Second, time.Millisecond)
		cluster.Lock()
		elements = []string{"x", "y"}
		cluster.Unlock()
		other.Do("SET q x") // of which whoever watches q hears
		<-trying
		require.Equal(t, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n", second.Do("BLPOP q 0.05"))
		release()
		require.Equal(t, "*2\r\n$1\r\nq\r\n$1\r\ny\r\n", first.Reply())
	})
}

// TestAWorkerThatComesBack: its key is watched still, so that it looks at it once, and is told of what comes then. A moment after it was there last nobody watches the key.
func TestAWorkerThatComesBack(t *testing.T) {
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		cluster := proxytest.NewCluster()
		var elements []string
		cluster.Intercept = lists(&elements)
		var pops atomic.Int64
		cluster.Before = func(b *route.Batch) {
			if b.Ops[0].Req.Op == command.OpBLPop {
				pops.Add(1)
			}
		}
		_, addr := serve(t, w, Config{}, cluster)
		worker, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
		for range 10 {
			worker.Send("BLPOP q 0")
			waits(t, other)
			require.Equal(t, 1, cluster.Watched())
			pushTo(cluster, other, &elements)
			require.Equal(t, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n", worker.Reply())
		}
		require.EqualValues(t, 20, pops.Load(), "each time it looks when it comes, and when there is something")
		require.Eventually(t, func() bool { return cluster.Watched() == 0 }, 10*keptFor, keptFor/20)
		worker.Send("BLPOP q 0")
		waits(t, other)
		pushTo(cluster, other, &elements)
		require.Equal(t, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n", worker.Reply())
	})
}

// TestWhatIsToldWhileAWorkerLooks: an element comes after a worker that has come back has found none, and before it waits. It was told then, and not again.
func TestWhatIsToldWhileAWorkerLooks(t *testing.T) {
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		cluster := proxytest.NewCluster()
		var elements []string
		intercept := lists(&elements)
		var none atomic.Bool
		cluster.Intercept = func(op *route.Op) bool {
			if op.Req.Op == command.OpBLPop && none.Swap(false) { // what comes is behind it
				op.Outcome, op.Reply = answer.Done, resp.AppendNullArray(nil, false)
				return true
			}
			return intercept(op)
		}
		var other *proxytest.Client
		var back atomic.Bool
		cluster.Before = func(b *route.Batch) {
			if b.Ops[0].Req.Op == command.OpBLPop && back.Swap(false) {
				pushTo(cluster, other, &elements)
				none.Store(true)
			}
		}
		_, addr := serve(t, w, Config{}, cluster)
		worker := proxytest.Dial(t, addr)
		other = proxytest.Dial(t, addr)
		worker.Send("BLPOP q 0")
		waits(t, other)
		pushTo(cluster, other, &elements)
		require.Equal(t, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n", worker.Reply())
		back.Store(true)
		require.Equal(t, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n", worker.Do("BLPOP q 0"))
	})
}

// waits waits until a client waits.
func waits(t *testing.T, other *proxytest.Client) {
	require.Eventually(t, func() bool { return strings.Contains(other.Do("INFO clients"), "blocked_clients:1\r\n") }, 5*time.Second, time.Millisecond)
}

// pushTo adds an element, and tells of it.
func pushTo(cluster *proxytest.Cluster, other *proxytest.Client, elements *[]string) {
	cluster.Lock()
	*elements = append(*elements, "x")
	cluster.Unlock()
	other.Do("SET q x") // of which whoever watches q hears
}
