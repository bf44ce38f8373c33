//go:build faults

package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
)

// TestReplicationBearsRepeatedAndReorderedFrames: requests of homes and replies of
// replicas arrive twice and in any order, while every node is the home of a key and appends
// to it as fast as it can.
func TestReplicationBearsRepeatedAndReorderedFrames(t *testing.T) {
	c := newFormed(t, 3, nil)
	wire.InjectFaults(1, []wire.FaultRule{{Peer: "*", Role: wire.RoleNode, Jitter: 3 * time.Millisecond, Duplicate: 0.5, Reorder: 0.5}})
	defer wire.InjectFaults(0, nil)

	const rounds, depth = 20, 10
	type appended struct {
		client *client
		key    string
		value  strings.Builder
		wait   []chan protocol.Result
	}
	var keys []*appended
	for _, n := range c.nodes {
		keys = append(keys, &appended{client: c.dial(n), key: c.keyOf(n)})
	}
	for round := range rounds {
		for _, k := range keys {
			for i := range depth {
				token := fmt.Sprintf("%d.%d,", round, i)
				append := op(protocol.Execute, "append "+k.key+" "+token)
				append.Except = protocol.AllOthers
				k.wait = k.client.send(append)
				k.value.WriteString(token)
			}
		}
		for _, k := range keys {
			result := k.client.wait(k.wait[0])
			require.Equal(t, protocol.StatusDone, result.Status, "round %d: reason %d", round, result.Reason)
			require.Equal(t, fmt.Sprintf(":%d\r\n", k.value.Len()), string(result.Reply), "everything before it took effect, once")
		}
	}
	for _, k := range keys {
		want := fmt.Sprintf("$%d\r\n%s\r\n", k.value.Len(), k.value.String())
		require.Equal(t, want, string(k.client.do("get "+k.key).Reply))
	}
	_, rules := wire.InjectedFaults()
	require.Positive(t, rules[0].Duplicated)
	require.Positive(t, rules[0].Reordered)
}

// TestHomeThatIsNotHeardRefusesAtOnce: the others do not hear it any more, so nothing it
// proposes can be chosen; but their connections are not given up yet.
func TestHomeThatIsNotHeardRefusesAtOnce(t *testing.T) {
	c := newFormed(t, 3, nil)
	a := c.nodes["a"]
	key := c.keyOf(a)
	proxy := c.dial(a)
	require.Equal(t, protocol.StatusDone, proxy.do("set "+key+" v").Status)

	wire.InjectFaults(1, []wire.FaultRule{{Peer: "b", Cut: true}, {Peer: "c", Cut: true}})
	defer wire.InjectFaults(0, nil)
	c.eventually(func() bool { return !a.peers.All()[0].Alive() && !a.peers.All()[1].Alive() })
	r := proxy.do("set " + key + " w")
	require.Equal(t, []any{protocol.StatusNotDone, register.NoQuorum}, []any{r.Status, r.Reason})

	wire.InjectFaults(0, nil)
	c.connected()
	require.Equal(t, protocol.StatusDone, proxy.do("set "+key+" x").Status)
}
