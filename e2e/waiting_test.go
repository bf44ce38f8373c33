//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// waits is a client that waits with a command, and what somebody else does meanwhile.
type waits struct {
	command []any
	clients int // that send it, one after the other
	then    [][]any
}

// waitings are commands that are filled while they wait, with what is executed before and behind them. Whatever they return is the same as in Redis.
var waitings = []waits{
	{command: words("BLPOP a b 5"), then: [][]any{words("RPUSH b 1 2")}},
	{command: words("BRPOP b 5"), then: nil}, // what is left
	{command: words("BLPOP b 5"), clients: 3, then: [][]any{words("RPUSH b 1 2 3 4")}},
	{command: words("BLPOP b 5"), then: nil},
	{command: words("BLPOP c 5"), then: [][]any{words("SET c x"), words("DEL c"), words("ZADD c 1 a"), words("DEL c"), words("LPUSH c 1")}},
	{command: words("BLPOP d 5"), then: [][]any{words("MULTI"), words("RPUSH d a"), words("DEL d"), words("RPUSH d b c"), words("EXEC")}},
	{command: words("BRPOP {e}1 {e}2 5"), then: [][]any{{"EVAL", "redis.call('RPUSH', KEYS[1], 1, 2) return 1", 1, "{e}2"}}},
	{command: words("BLMOVE {f}1 {f}2 LEFT RIGHT 5"), then: [][]any{words("RPUSH {f}1 x y")}},
	{command: words("BRPOPLPUSH {f}1 {f}3 5"), then: nil},
	{command: words("BLMOVE {f}1 {f}4 LEFT RIGHT 5"), then: [][]any{words("SET {f}4 x"), words("RPUSH {f}1 z")}},
	{command: words("BLMPOP 5 2 g h RIGHT COUNT 10"), then: [][]any{words("RPUSH h 1 2 3")}},
	{command: words("BZPOPMIN i j 5"), then: [][]any{words("ZADD j 2 b 1 a")}},
	{command: words("BZPOPMAX j 5"), then: nil},
	{command: words("BZMPOP 5 1 k MIN COUNT 2"), then: [][]any{words("ZADD k 2 b 1 a 3 c")}},
	{command: words("XREAD BLOCK 5000 STREAMS s $"), clients: 3, then: [][]any{words("XADD s 1-1 a 1")}},
	{command: words("XREAD BLOCK 5000 COUNT 1 STREAMS s t 0 0"), then: nil},
	{command: words("XREAD BLOCK 5000 STREAMS s t $ $"), then: [][]any{words("XADD t 2-1 b 2")}},
	{command: words("XGROUP CREATE s g $")},
	{command: words("XREADGROUP GROUP g c BLOCK 5000 STREAMS s >"), then: [][]any{words("XADD s 3-1 c 3")}},
	{command: words("XREADGROUP GROUP g c BLOCK 5000 STREAMS s 0"), then: nil},
	{command: words("XREADGROUP GROUP g c BLOCK 5000 STREAMS s >"), then: [][]any{words("XGROUP DESTROY s g")}},
	{command: words("XGROUP CREATE s g $")},
	{command: words("XREADGROUP GROUP g c BLOCK 5000 STREAMS s >"), then: [][]any{words("DEL s")}},
	{command: words("XGROUP CREATE s g $ MKSTREAM")},
	{command: words("XREADGROUP GROUP g c BLOCK 5000 STREAMS s >"), then: [][]any{words("SET s x")}},
	{command: words("DEL s")},
	{command: words("XGROUP CREATE s g $ MKSTREAM")},
	{command: words("XREADGROUP GROUP g c BLOCK 5000 STREAMS s >"), then: [][]any{words("FLUSHALL")}},
}

// words are the words of a line.
func words(line string) (list []any) {
	for _, word := range strings.Fields(line) {
		list = append(list, word)
	}
	return list
}

// perform does all that on a server, and returns what everybody was replied. Others write over another address.
func perform(t *testing.T, address, others string) (replies []string) {
	ctx := t.Context()
	other, watcher := connect(t, others), connect(t, address)
	waiting := func(n int) {
		cluster.Await(t, fmt.Sprintf("%d clients wait", n), func() bool {
			return strings.Contains(watcher.Info(ctx, "clients").Val(), fmt.Sprintf("blocked_clients:%d\r\n", n))
		})
	}
	for _, w := range waitings {
		answers := make([]chan string, max(w.clients, 1))
		for i := range answers {
			answers[i] = make(chan string, 1)
			client := connectFor(t, address, time.Minute)
			go func() { answers[i] <- said(client.Do(ctx, w.command...)) }()
			if len(w.then) > 0 {
				waiting(i + 1)
			}
		}
		conn := other.Conn()
		for _, command := range w.then {
			replies = append(replies, fmt.Sprint(command)+": "+said(conn.Do(ctx, command...)))
		}
		conn.Close()
		for i := range answers {
			replies = append(replies, fmt.Sprint(w.command)+": "+<-answers[i])
		}
	}
	return replies
}

func said(cmd *redis.Cmd) string {
	if cmd.Err() != nil {
		return "error: " + cmd.Err().Error()
	}
	return fmt.Sprint(cmd.Val())
}

// TestWhoWaitsIsServedAsByRedis: commands that wait are replied as by a Redis, though others write over another proxy.
func TestWhoWaitsIsServedAsByRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	require.Equal(t, perform(t, server, server), perform(t, c.Proxies[0].Client, c.Proxies[1].Client))
}

// TestNoEntryIsMissed: whoever waits for an entry gets it, at whatever moment it is added.
func TestNoEntryIsMissed(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	reader, writer := connectFor(t, c.Proxies[0].Client, time.Minute), connect(t, c.Proxies[1].Client)
	last := "0"
	for i := range 1500 {
		added := make(chan error, 1)
		go func() {
			added <- writer.XAdd(t.Context(), &redis.XAddArgs{Stream: "s", ID: fmt.Sprint(i + 1), Values: []string{"n", fmt.Sprint(i)}}).Err()
		}()
		got, err := reader.XRead(t.Context(), &redis.XReadArgs{Streams: []string{"s", last}, Block: 20 * time.Second}).Result()
		require.NoError(t, err, "entry %d", i)
		last = got[0].Messages[0].ID
		require.Equal(t, fmt.Sprintf("%d-0", i+1), last)
		require.NoError(t, <-added)
	}
}
