package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
)

// TestAHomeSaysWhichVersionItWrote: who asks for it learns which version a command on one key has got, if it has written something. Of several keys it is not said, nor to who does not ask.
func TestAHomeSaysWhichVersionItWrote(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dial(c.nodes["a"])
	asks := func(words string) protocol.Result {
		o := op(protocol.Execute, words)
		o.Except, o.Req.Versioned = protocol.AllOthers, true
		return cl.one(o)
	}
	version := func() record.Version { return cl.one(op(protocol.ReadVersion, "get {k}a")).Version }
	for _, words := range []string{"set {k}a 1", "append {k}a 2", "set {k}a 1"} {
		r := asks(words)
		require.Equal(t, protocol.StatusWritten, r.Status, "%s: %s", words, r.Reply)
		require.Equal(t, version(), r.Version, words)
	}
	for _, words := range []string{"del {k}none", "get {k}a"} {
		before := version()
		require.Equal(t, protocol.StatusDone, asks(words).Status, words)
		require.Equal(t, before, version(), words)
	}
	require.Equal(t, protocol.StatusDone, cl.do("set {k}a 2").Status)
	o := together("{k}a", command.Batch{Commands: []command.Request{requestOf("mset", "{k}a", "2", "{k}b", "2")}})
	o.Req.Versioned = true
	require.Equal(t, protocol.StatusDone, cl.one(o).Status, "others may be part of what a batch writes")
}
