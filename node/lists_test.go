package node

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// push appends so many bytes to a list, in elements of 1000, by commands that many other commands could be between.
func (c *testCluster) push(name, key string, size int) {
	c.t.Helper()
	const together, each = 200, 1000
	element := []byte(strings.Repeat("x", each))
	for range size / each / together {
		args := [][]byte{[]byte("rpush"), []byte(key)}
		for range together {
			args = append(args, element)
		}
		c.onList(name, key, command.OpRPush, args...)
	}
}

// onList executes a command of a key at a node.
func (c *testCluster) onList(name, key string, op command.Op, args ...[]byte) {
	c.t.Helper()
	cl := c.dial(c.nodes[name])
	o := protocol.Op{Kind: protocol.Execute, Slot: ring.SlotOf([]byte(key)), Except: protocol.AllOthers, Req: command.Request{Op: op, Args: args}}
	c.eventually(func() bool { return cl.one(o).Status == protocol.StatusDone })
}

// TestALargeListIsRepairedWhileItIsWritten: a replica that missed all of it is given it in pieces, and the deltas follow, also those of a trim.
func TestALargeListIsRepairedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	change := func(o *Options) { d.use(o); large(o) }
	c := newFormed(t, 3, change)
	key := c.keyOf(c.nodes["a"])
	c.leave("c")
	c.push("a", key, 10*transfer.Ahead)
	c.start("c", change)
	c.onList("a", key, command.OpLTrim, []byte("ltrim"), []byte(key), []byte("1000"), []byte("-3"))
	for i := 0; !c.converged(); i++ {
		require.Less(t, i, 10_000)
		c.onList("a", key, command.OpLPush, []byte("lpush"), []byte(key), fmt.Append(nil, i))
		c.onList("a", key, command.OpRPop, []byte("rpop"), []byte(key))
	}
	c.eventually(func() bool { return c.converged() && c.nodes["a"].peers.Of(3).Lane().Active() == 0 })
	rec, found := c.record("c", ring.SlotOf([]byte(key)), key)
	require.True(t, found)
	require.Equal(t, record.List, rec.State.Type)
	require.NotNil(t, rec.State.Object)
	require.True(t, bytes.Equal(c.packed("a", key), c.packed("c", key)))
}

// TestALargeListIsBackedUp, and restored as it was.
func TestALargeListIsBackedUp(t *testing.T) {
	c := newFormed(t, 1, large)
	c.push("a", "k", 4*transfer.Ahead)
	c.onList("a", "k", command.OpLSet, []byte("lset"), []byte("k"), []byte("77"), []byte("other"))
	var file bytes.Buffer
	require.NoError(t, c.nodes["a"].Backup(t.Context(), &file))
	e := memory.New()
	defer e.Close()
	in, err := backup.NewReader(bufio.NewReader(&file))
	require.NoError(t, err)
	require.NoError(t, Restore(t.Context(), e, []RestoreSource{{Name: "file", Reader: in}}, nil))
	rec, found, err := e.Get(ring.SlotOf([]byte("k")), []byte("k"))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, record.List, rec.State.Type)
	require.NotNil(t, rec.State.Object)
	require.True(t, bytes.Equal(c.packed("a", "k"), rec.State.Packed().Value))
}
