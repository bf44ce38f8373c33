package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
)

// TestARandomElementIsTheNodesChoice, another one each time, whether the home executes the command or a replica does.
func TestARandomElementIsTheNodesChoice(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dial(c.nodes["a"])
	of := func(kind protocol.OpKind, op command.Op, words ...string) protocol.Result {
		req := command.Request{Op: op}
		for _, word := range words {
			req.Args = append(req.Args, []byte(word))
		}
		return cl.one(protocol.Op{Kind: kind, Slot: ring.SlotOf([]byte("k")), Except: protocol.AllOthers, Req: req})
	}
	for _, choice := range []struct {
		add, random   command.Op
		filling, name string
	}{
		{command.OpHSet, command.OpHRandField, "hset k a 1 b 2 c 3 d 4", "hrandfield"},
		{command.OpSAdd, command.OpSRandMember, "sadd k a b c d", "srandmember"},
		{command.OpZAdd, command.OpZRandMember, "zadd k 1 a 2 b 3 c 4 d", "zrandmember"},
	} {
		of(protocol.Execute, command.OpDel, "del", "k")
		require.Equal(t, ":4\r\n", string(of(protocol.Execute, choice.add, strings.Fields(choice.filling)...).Reply))
		for _, kind := range []protocol.OpKind{protocol.Execute, protocol.ReadValue} {
			seen := map[string]bool{}
			for range 100 {
				seen[string(of(kind, choice.random, choice.name, "k").Reply)] = true
			}
			require.Len(t, seen, 4, "%s chooses each once in a hundred times, but for one run in 10^11", choice.name)
		}
	}
	seen := map[string]bool{}
	for range 100 {
		of(protocol.Execute, command.OpDel, "del", "k")
		of(protocol.Execute, command.OpSAdd, "sadd", "k", "a", "b", "c", "d")
		seen[string(of(protocol.Execute, command.OpSPop, "spop", "k").Reply)] = true
	}
	require.Len(t, seen, 4, "spop")
}
