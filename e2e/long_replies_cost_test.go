//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

var longReplies = flag.Int("long-replies", 0, "elements of the list that somebody reads in TestLongRepliesCost, for make bench-long-replies")

// readPause is how long who reads a long reply waits until the next time.
const readPause = 200 * time.Millisecond

// TestLongRepliesCost logs how long others' GETs take while somebody reads a long list again and again, of a cluster and of a redis-server.
func TestLongRepliesCost(t *testing.T) {
	if *longReplies == 0 {
		t.Skip("it measures: make bench-long-replies")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	for _, server := range []struct{ name, address string }{{"quoll", c.Proxies[0].Client}, {"redis", redistest.Start(t)}} {
		client := connect(t, server.address)
		for first := 0; first < *longReplies; first += 1000 {
			var elements []any
			for i := first; i < min(first+1000, *longReplies); i++ {
				elements = append(elements, fmt.Sprintf("element-%07d", i))
			}
			require.NoError(t, client.RPush(t.Context(), "list", elements...).Err())
		}
		require.NoError(t, client.Set(t.Context(), "other", "x", 0).Err())
		alone := pacedLatencies(t, client)
		stop := readAgainAndAgain(t, server.address, *longReplies)
		beside := pacedLatencies(t, client)
		took := stop()
		t.Logf("%s: GET beside LRANGE of %d elements every %v, which takes %v: p50 %v and p99 %v; alone %v and %v",
			server.name, *longReplies, readPause, took.Round(time.Millisecond), beside[0], beside[1], alone[0], alone[1])
	}
}

// pacedLatencies returns the median and the 99th percentile of how long GETs take, one every two milliseconds: those that are late since the one before took long count from when they were due.
func pacedLatencies(t *testing.T, client *redis.Client) [2]time.Duration {
	const pace = 2 * time.Millisecond
	took := make([]time.Duration, 3000)
	due := time.Now()
	for i := range took {
		due = due.Add(pace)
		<-time.After(time.Until(due))
		require.NoError(t, client.Get(t.Context(), "other").Err())
		took[i] = time.Since(due)
	}
	slices.Sort(took)
	return [2]time.Duration{took[len(took)/2], took[len(took)*99/100]}
}

// readAgainAndAgain reads a list of n elements, with a pause each time, until stop is called, which returns how long it took in the mean.
func readAgainAndAgain(t *testing.T, address string, n int) (stop func() time.Duration) {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	done := make(chan struct{})
	var reader sync.WaitGroup
	var took time.Duration
	times := 0
	reader.Go(func() {
		defer conn.Close()
		size := int64(len(fmt.Sprintf("*%d\r\n", n)) + n*len("$15\r\nelement-0000000\r\n"))
		for {
			began := time.Now()
			if _, err := conn.Write([]byte("LRANGE list 0 -1\r\n")); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, conn, size); err != nil {
				return
			}
			took, times = took+time.Since(began), times+1
			select {
			case <-done:
				return
			case <-time.After(readPause):
			}
		}
	})
	return func() time.Duration {
		close(done)
		reader.Wait()
		require.Positive(t, times)
		return took / time.Duration(times)
	}
}
