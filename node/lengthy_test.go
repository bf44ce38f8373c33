package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
)

// largeHash writes a hash whose fields have values of so many bytes.
func (c *testCluster) largeHash(cl *client, key string, fields, bytes int) {
	c.t.Helper()
	value := strings.Repeat("v", bytes)
	for i := 0; i < fields; {
		var words strings.Builder
		fmt.Fprint(&words, "hset ", key)
		for range min(1000, fields-i) {
			fmt.Fprintf(&words, " field:%07d %s", i, value)
			i++
		}
		require.Equal(c.t, protocol.StatusDone, cl.do(words.String()).Status)
	}
}

// replyAhead is the reply that has come in pieces ahead of the result of an operation, and forgets it.
func (cl *client) replyAhead(id uint64) string {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	defer delete(cl.ahead, id)
	return string(cl.ahead[id])
}

// TestALengthyReadHoldsUpNobody: what comes behind it on the same connection is answered first, and it sees nothing of it. The reply comes in pieces.
func TestALengthyReadHoldsUpNobody(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(*Options){"memory": nil, "disk": newDisks("a").use} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newFormed(t, 1, with)
			a := c.nodes["a"]
			key := c.keyOf(a)
			cl := c.dial(a)
			c.largeHash(cl, key, 20_000, 30)
			require.Equal(t, protocol.StatusDone, cl.do("set other v").Status)
			whole := cl.do("hgetall " + key)
			first := false // whether the GET was answered first: the processor may be somebody else's just when it is executed
			for i := 0; i < 3 || !first && i < 50; i++ {
				ops := []protocol.Op{op(protocol.ReadValue, "hgetall "+key), op(protocol.ReadValue, "get other"), op(protocol.Execute, "hset "+key+" field:0000007 new")}
				ops[2].Except = protocol.AllOthers
				cl.mu.Lock()
				cl.order = nil
				cl.mu.Unlock()
				results := cl.send(ops...)
				require.Equal(t, "$1\r\nv\r\n", string(cl.wait(results[1]).Reply))
				lengthy := cl.wait(results[0])
				require.Equal(t, protocol.StatusValue, lengthy.Status)
				require.Empty(t, lengthy.Reply)
				require.Equal(t, protocol.StatusDone, cl.wait(results[2]).Status)
				cl.mu.Lock()
				first = first || ops[1].ID == cl.order[0]
				cl.mu.Unlock()
				reply := cl.replyAhead(ops[0].ID)
				require.Greater(t, len(reply), 2*wire.StreamPiece)
				require.True(t, string(whole.Reply) == reply, "another reply than at the home, of %d and %d bytes", len(reply), len(whole.Reply))
				whole = cl.do("hgetall " + key)
				require.Contains(t, string(whole.Reply), "$3\r\nnew\r\n")
			}
			require.True(t, first, "what came behind it has always waited")
		})
	}
}

// TestLengthyReadsAreBounded: those whose replies would be too much are asked for later. A node that ends waits for none.
func TestLengthyReadsAreBounded(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 1, nil)
	a := c.nodes["a"]
	key := c.keyOf(a)
	cl := c.dial(a)
	c.largeHash(cl, key, 9000, 1000)
	ask := func(n int) []chan protocol.Result {
		var ops []protocol.Op
		for range n {
			ops = append(ops, op(protocol.ReadValue, "hvals "+key))
		}
		return cl.send(ops...)
	}
	refused := 0
	for _, ch := range ask(5) {
		r := cl.wait(ch)
		if r.Status == protocol.StatusNotDone && r.Reason == register.Overloaded {
			refused++
			continue
		}
		require.Equal(t, protocol.StatusValue, r.Status)
		require.Len(t, cl.replyAhead(r.ID), len("*9000\r\n")+9000*len("$1000\r\n\r\n")+9000*1000)
	}
	require.Positive(t, refused)
	require.Equal(t, protocol.StatusValue, cl.wait(ask(1)[0]).Status, "there is room again")
	ask(3)
	c.stop("a")
}
