package proxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefusalsOfPipelinesAreNotRepeated: go-redis repeats a whole pipeline if its first command gets a word that says "try again",
// though all others were executed.
func TestRefusalsOfPipelinesAreNotRepeated(t *testing.T) {
	eachWay(t, testRefusalsOfPipelinesAreNotRepeated)
}

func testRefusalsOfPipelinesAreNotRepeated(t *testing.T, w way) {
	for _, refused := range []error{ErrNoMajority, ErrTimeout, ErrNotReady, ErrRingChanged, ErrOverloaded} {
		cluster := newFakeCluster()
		arrived, release := make(chan struct{}), make(chan struct{})
		cluster.intercept = func(op *Op) bool {
			switch string(op.Req.Args[1]) {
			case "gone":
				op.Outcome, op.Reply = NoEffect, AppendReply(nil, refused)
				return true
			case "slow":
				arrived <- struct{}{}
				<-release
				op.Outcome, op.Reply = NoEffect, AppendReply(nil, refused)
				return true
			}
			return false
		}
		_, addr := w.serve(t, ServerConfig{}, cluster)
		c := dial(t, addr)
		alone := errorReply(refused)
		together := "-NOTDONE " + strings.TrimPrefix(alone, "-")
		require.Equal(t, alone, c.do("INCR gone"))
		require.Equal(t, alone, c.do("MGET a gone b"), "one command, though of several keys")

		c.send("INCR gone", "INCR n")
		require.Equal(t, together, c.reply())
		require.Equal(t, ":1\r\n", c.reply())
		c.send("INCR n", "MSET gone 1 gone 2")
		require.Equal(t, ":2\r\n", c.reply())
		require.Equal(t, together, c.reply())
		require.Equal(t, alone, c.do("INCR gone"), "they are over")

		_, err := c.Write([]byte("*2\r\n$4\r\nINCR\r\n$4\r\ngone\r\n*2\r\n$4\r\nIN")) // the other one is not complete
		require.NoError(t, err)
		require.Equal(t, together, c.reply())
		_, err = c.Write([]byte("CR\r\n$1\r\nn\r\n"))
		require.NoError(t, err)
		require.Equal(t, ":3\r\n", c.reply())

		if w.name != byFront.name {
			continue // a wrapped connection does not tell what waits in it
		}
		c.send("INCR slow")
		<-arrived
		c.send("INCR n") // it comes while the first one is executed
		require.Equal(t, "+PONG\r\n", dial(t, addr).do("PING"), "what was sent before over loopback has arrived")
		release <- struct{}{}
		require.Equal(t, together, c.reply())
		require.Equal(t, ":4\r\n", c.reply())
	}
}
