//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/artifact"
	"github.com/quolldb/quoll/internal/history"
)

// homedAt writes keys until enough of them have their home at a node, and returns them.
func homedAt(t *testing.T, c *cluster.Cluster, client *redis.Client, node *cluster.Member, enough int) []string {
	t.Helper()
	var keys []string
	for i := 0; len(keys) < enough; i++ {
		require.Less(t, i, 100*enough, "no key has its home at "+node.Name)
		key := fmt.Sprint("home:", i)
		require.NoError(t, client.Set(t.Context(), key, "0", 0).Err())
		if home, _ := c.Nodes[1].Locate(key); home == node.Node {
			keys = append(keys, key)
		}
	}
	return keys
}

// TestHomeKilledBetweenAcceptAndAnswer: the other replicas hold a write, the client has
// not heard of it, and the home dies. The client is told that nobody knows, every proxy finds the
// write from then on, and whoever goes on builds on it.
func TestHomeKilledBetweenAcceptAndAnswer(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Faults: true})
	clients := []*redis.Client{connect(t, c.Proxies[0].Client), connect(t, c.Proxies[1].Client)}
	home, witness := c.Nodes[0], c.Nodes[1]

	keys := homedAt(t, c, clients[0], home, len(lastWrites))
	recorder := history.NewRecorder()
	before := map[string][]string{}
	for i, key := range keys { // the history begins with what is there
		require.NoError(t, clients[0].Del(t.Context(), key).Err())
		require.NoError(t, finish(t, clients[0], recorder.Client().Begin(of(key, lastWrites[i].before))))
		cluster.Await(t, "all replicas hold "+key, func() bool {
			before[key] = versions(witness, key)
			return before[key][0] != "" && before[key][1] == before[key][0] && before[key][2] == before[key][0]
		}) // one that lags might hold nothing, which is what a deletion leaves too
	}

	for _, proxy := range c.Proxies {
		c.Cut(home, proxy)
	}
	recorder.Note("the home is cut off from the proxies")
	errs := make([]error, len(keys))
	var writes sync.WaitGroup
	for i, key := range keys {
		call := recorder.Client().Begin(of(key, lastWrites[i].write))
		writes.Go(func() { errs[i] = finish(t, clients[0], call) })
	}
	for _, key := range keys {
		cluster.Await(t, "the others hold the write of "+key, func() bool {
			after := versions(witness, key)
			return after[1] != before[key][1] && after[2] != before[key][2]
		})
	}
	home.Kill()
	recorder.Note("the home is killed")
	writes.Wait()

	unknown := 0
	for i, err := range errs {
		// On a machine that is busy the proxy may have turned to another home before.
		require.Contains(t, []outcome.Outcome{outcome.Answered, outcome.Unknown}, outcome.Of(err), "%v: %v", lastWrites[i].write, err)
		if outcome.Of(err) == outcome.Unknown {
			require.Equal(t, "UNKNOWN", outcome.Word(err))
			unknown++
		}
	}
	for range 2 {
		for i, key := range keys {
			w := lastWrites[i]
			for _, client := range clients {
				read := of(key, w.read)
				require.NoError(t, finish(t, client, recorder.Client().Begin(read)))
				require.Equal(t, w.reply, outcome.Reply(client.Do(t.Context(), read.Args()...).Result()),
					"after %v: a majority held it, and nobody may forget it", w.write)
			}
		}
	}
	t.Logf("%d of %d writes had no known outcome", unknown, len(errs))
	requireLinearizable(t, recorder)
	require.NotZero(t, unknown, "no write was under way when the home died")
}

// versions returns what the nodes hold of a key, in the order of their names.
func versions(asked *cluster.Member, key string) []string {
	_, replicas := asked.Locate(key)
	slices.SortFunc(replicas, func(a, b cluster.Holding) int { return strings.Compare(a.Node, b.Node) })
	var held []string
	for _, r := range replicas {
		held = append(held, r.Version)
	}
	return held
}

// lastWrites are what clients write when the home dies: on what, and what is read afterwards.
var lastWrites = []struct {
	before, write, read history.Command
	reply               string
}{
	{one, history.Command{Kind: history.Set, Arg: "5"}, get, "5"},
	{one, history.Command{Kind: history.Incr}, get, "2"},
	{one, history.Command{Kind: history.Append, Arg: "5"}, get, "15"},
	{one, history.Command{Kind: history.GetSet, Arg: "5"}, get, "5"},
	{one, history.Command{Kind: history.Del}, get, history.Nil},
	{one, history.Command{Kind: history.GetDel}, get, history.Nil},
	{one, history.Command{Kind: history.PSetEX, Arg: "5", TTL: anHour}, get, "5"},
	{one, history.Command{Kind: history.PExpire, TTL: anHour}, get, "1"},
	{long, history.Command{Kind: history.HSet, Field: "f", Arg: "5"}, fg, "5 " + thousand},
	{long, history.Command{Kind: history.HDel, Field: "g"}, fg, thousand + " " + history.Nil},
	{long, history.Command{Kind: history.HIncr, Field: "n"}, history.Command{Kind: history.HGet, Field: "n"}, "1"},
	{long, history.Command{Kind: history.HDel, Field: "f g"}, history.Command{Kind: history.HGetAll}, ""},
}

const anHour = 60 * 60 * 1000

// thousand is long enough for a change of a hash to travel as a delta.
var thousand = strings.Repeat("x", 1000)

var (
	one  = history.Command{Kind: history.Set, Arg: "1"}
	get  = history.Command{Kind: history.Get}
	long = history.Command{Kind: history.HSet, Field: "f g", Arg: thousand}
	fg   = history.Command{Kind: history.HMGet, Field: "f g"}
)

// of is a command on a key.
func of(key string, c history.Command) history.Command {
	c.Key = key
	return c
}

// finish executes a call that has begun, and notes how it ended.
func finish(t testing.TB, client *redis.Client, call history.Call) error {
	value, err := client.Do(t.Context(), call.Command().Args()...).Result()
	switch outcome.Of(err) {
	case outcome.Answered:
		call.Done(outcome.Reply(value, err))
		return nil
	case outcome.NoEffect:
		call.NoEffect()
	case outcome.Unknown:
		call.Unknown()
	}
	return err
}

func requireLinearizable(t testing.TB, recorder *history.Recorder) {
	t.Helper()
	result := recorder.Check(checkerTime)
	t.Logf("history: %s", result)
	if err := result.Err(); err != nil {
		require.NoError(t, recorder.Save(artifact.Dir(t), result))
		require.NoError(t, err)
	}
}

// TestHomePausedBeyondEveryTimeOut: a home hangs with requests in its socket until
// everybody has given up on it: clients, proxy, the other nodes. Others write what they like. When it goes
// on it finds the old requests and executes none of them.
func TestHomePausedBeyondEveryTimeOut(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	t.Parallel()
	debug := []string{"--log-level", "debug"} // tells of every connection that ends
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Node: debug, Proxy: debug, Faults: true})
	client, home := connect(t, c.Proxies[0].Client), c.Nodes[0]
	keys := homedAt(t, c, client, home, 20)
	recorder := history.NewRecorder()
	set := func(key, value string) error {
		return finish(t, client, recorder.Client().Begin(history.Command{Kind: history.Set, Key: key, Arg: value}))
	}
	for _, key := range keys {
		require.NoError(t, set(key, "old"))
	}
	home.Stop()
	recorder.Note("the home hangs")
	late := make([]error, len(keys))
	var writes sync.WaitGroup
	for i, key := range keys {
		writes.Go(func() { late[i] = set(key, "late") })
	}
	writes.Wait()
	unknown := 0
	for _, err := range late {
		if err != nil {
			require.Equal(t, "UNKNOWN", outcome.Word(err))
			unknown++
		}
	}
	require.NotZero(t, unknown, "no request lies in the socket of the home")
	for _, key := range keys {
		require.NoError(t, set(key, "new"))
	}
	c.Proxies[0].AwaitLog("peer connection lost")
	for _, other := range c.Nodes[1:] {
		other.AwaitLog("peer connection lost")
	}
	home.Continue()
	recorder.Note("the home goes on")
	cluster.Await(t, "it leads a slot again", func() bool {
		neighbour := "{" + keys[0] + "}" // in the same slot
		require.NoError(t, client.Set(t.Context(), neighbour, "x", 0).Err())
		leads, _ := c.Nodes[1].Locate(neighbour)
		return leads == home.Node
	})
	for _, key := range keys {
		require.NoError(t, finish(t, client, recorder.Client().Begin(history.Command{Kind: history.Get, Key: key})))
		require.Equal(t, "new", client.Get(t.Context(), key).Val(), "the home executed a request that was older than any time-out")
	}
	t.Logf("%d of %d writes had no known outcome", unknown, len(late))
	requireLinearizable(t, recorder)
}
