package node

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// TestMemoryThatIsFull: what makes the data grow is refused, without effect; what does not goes on, until there is room again.
func TestMemoryThatIsFull(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, func(o *Options) { o.Engine = memory.NewWithin(1 << 20) })
	a := c.dial(c.nodes["a"])
	value := strings.Repeat("v", 1000)
	set := func(i int) protocol.Result { return a.do(fmt.Sprintf("set key%d %s", i, value)) }
	get := func(i int) string { return string(a.do(fmt.Sprintf("get key%d", i)).Reply) }
	kept := 0
	refused := set(kept)
	for ; refused.Status == protocol.StatusDone; refused = set(kept) {
		kept++
		require.Less(t, kept, 1500, "1 MiB have no room for them")
	}
	require.Equal(t, []any{protocol.StatusNotDone, register.OutOfMemory}, []any{refused.Status, refused.Reason})
	require.Greater(t, kept, 500)
	require.Equal(t, "$-1\r\n", get(kept), "nothing was done")
	require.Equal(t, fmt.Sprintf("$1000\r\n%s\r\n", value), get(0))
	self := c.statusOf("b", "a")
	require.Contains(t, self.Full, "of 1 MiB")
	require.Equal(t, admin.Voting, self.State)
	require.True(t, c.nodes["a"].State().Full)

	for i := range kept {
		require.Equal(t, ":1\r\n", string(a.do(fmt.Sprintf("del key%d", i)).Reply), "deletions go on")
	}
	c.eventually(func() bool { return set(0).Status == protocol.StatusDone })
	c.eventually(func() bool {
		return c.logs.count("there is room for writes again") == c.logs.count("no memory for more data")
	})
	require.Empty(t, c.nodes["a"].Self().Full)
}

// TestAHomeWhoseMemoryIsFull refuses what makes its data grow, though the others have room.
func TestAHomeWhoseMemoryIsFull(t *testing.T) {
	c := newFormed(t, 3, func(o *Options) {
		if o.Name == "a" {
			o.Engine = memory.NewWithin(1 << 20)
		}
	})
	a := c.dial(c.nodes["a"])
	value := strings.Repeat("v", 1000)
	for i := range 1500 {
		if r := a.do(fmt.Sprintf("set key%d %s", i, value)); r.Status != protocol.StatusDone {
			require.Equal(t, []any{protocol.StatusNotDone, register.OutOfMemory}, []any{r.Status, r.Reason})
			return
		}
	}
	require.Fail(t, "1 MiB have no room for them")
}

// brim is an engine that may have no room for more data.
type brim struct {
	*memory.Engine
	room atomic.Pointer[error]
}

func (e *brim) Room() error {
	if err := e.room.Load(); err != nil {
		return *err
	}
	return nil
}

func (e *brim) is(err error) { e.room.Store(&err) }

// TestAReplicaOfACrowdedNode takes what the others wrote, and when it is brimful only what does not make the data grow. The others do
// without it as long as they are a majority.
func TestAReplicaOfACrowdedNode(t *testing.T) {
	t.Parallel()
	engines := map[string]*brim{}
	for _, name := range []string{"a", "b", "c"} {
		engines[name] = &brim{Engine: memory.New()}
	}
	c := newFormed(t, 3, func(o *Options) { o.Engine = engines[o.Name] })
	a := c.nodes["a"]
	key := c.keyOf(a)
	slot := ring.SlotOf([]byte(key))
	cl := c.dial(a)
	held := func(name, value string) {
		t.Helper()
		c.eventually(func() bool { return string(c.held(name, slot, key)) == value })
	}
	knows := func(name string, crowded bool) {
		c.eventually(func() bool {
			c.nodes[name].replicas.Space.Full()
			return a.peers.Of(c.nodes[name].self().ID).Crowded() == crowded
		})
	}
	set := func(value string) protocol.Result { return cl.do("set " + key + " " + value) }
	set("v")
	held("b", "v")

	engines["b"].is(fmt.Errorf("%w: it is a test", engine.ErrCrowded))
	knows("b", true)
	require.Equal(t, protocol.StatusDone, set("crowded").Status)
	held("b", "crowded")
	engines["b"].is(fmt.Errorf("%w: it is a test", engine.ErrBrimful))
	c.eventually(func() bool { c.nodes["b"].replicas.Space.Full(); return c.nodes["b"].replicas.Space.Brimful() })
	require.Equal(t, protocol.StatusDone, set("as-brimful").Status)
	held("c", "as-brimful")
	require.Equal(t, "crowded", string(c.held("b", slot, key)))
	require.Equal(t, protocol.StatusDone, set("less").Status)
	held("b", "less")
	require.Equal(t, ":1\r\n", string(cl.do("del "+key).Reply))
	held("b", "")

	engines["c"].is(fmt.Errorf("%w: it is a test", engine.ErrCrowded))
	knows("c", true)
	require.EqualValues(t, register.OutOfMemory, set("v").Reason, "no majority has room")
	require.Equal(t, ":0\r\n", string(cl.do("del "+key).Reply))
	engines["b"].room.Store(nil)
	knows("b", false)
	require.Equal(t, protocol.StatusDone, set("v").Status)
	held("b", "v")
}
