package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// TestARandomFieldIsTheNodesChoice, another one each time, whether the home executes the command or a replica does.
func TestARandomFieldIsTheNodesChoice(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dial(c.nodes["a"])
	of := func(kind protocol.OpKind, op command.Op, words ...string) protocol.Result {
		req := command.Request{Op: op}
		for _, word := range words {
			req.Args = append(req.Args, []byte(word))
		}
		return cl.one(protocol.Op{Kind: kind, Slot: ring.SlotOf([]byte("k")), Except: protocol.AllOthers, Req: req})
	}
	require.Equal(t, ":4\r\n", string(of(protocol.Execute, command.OpHSet, "hset", "k", "a", "1", "b", "2", "c", "3", "d", "4").Reply))
	for _, kind := range []protocol.OpKind{protocol.Execute, protocol.ReadValue} {
		seen := map[string]bool{}
		for range 100 {
			seen[string(of(kind, command.OpHRandField, "hrandfield", "k").Reply)] = true
		}
		require.Len(t, seen, 4, "each field is chosen once in a hundred times, but for one run in 10^11")
	}
}
