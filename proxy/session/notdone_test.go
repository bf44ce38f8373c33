package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestRefusalsOfPipelinesAreNotRepeated: go-redis repeats a whole pipeline if its first command gets a word that says "try again",
// though all others were executed.
func TestRefusalsOfPipelinesAreNotRepeated(t *testing.T) {
	proxytest.EachWay(t, testRefusalsOfPipelinesAreNotRepeated)
}

func testRefusalsOfPipelinesAreNotRepeated(t *testing.T, w proxytest.Way) {
	for _, refused := range []error{route.ErrNoMajority, route.ErrTimeout, route.ErrNotReady, route.ErrOverloaded} {
		cluster := proxytest.NewCluster()
		arrived, release := make(chan struct{}), make(chan struct{})
		cluster.Intercept = func(op *route.Op) bool {
			switch string(op.Req.Args[1]) {
			case "gone":
				op.Outcome, op.Reply = answer.NotDone, route.AppendReply(nil, refused)
				return true
			case "slow":
				arrived <- struct{}{}
				<-release
				op.Outcome, op.Reply = answer.NotDone, route.AppendReply(nil, refused)
				return true
			}
			return false
		}
		_, addr := serve(t, w, Config{}, cluster)
		c := proxytest.Dial(t, addr)
		alone := errorReply(refused)
		together := "-NOTDONE " + strings.TrimPrefix(alone, "-")
		require.Equal(t, alone, c.Do("INCR gone"))
		require.Equal(t, alone, c.Do("MGET a gone b"), "one command, though of several keys")

		c.Send("INCR gone", "INCR n")
		require.Equal(t, together, c.Reply())
		require.Equal(t, ":1\r\n", c.Reply())
		c.Send("INCR n", "MSET gone 1 gone 2")
		require.Equal(t, ":2\r\n", c.Reply())
		require.Equal(t, together, c.Reply())
		require.Equal(t, alone, c.Do("INCR gone"), "they are over")

		_, err := c.Write([]byte("*2\r\n$4\r\nINCR\r\n$4\r\ngone\r\n*2\r\n$4\r\nIN")) // the other one is not complete
		require.NoError(t, err)
		require.Equal(t, together, c.Reply())
		_, err = c.Write([]byte("CR\r\n$1\r\nn\r\n"))
		require.NoError(t, err)
		require.Equal(t, ":3\r\n", c.Reply())

		if w.Name != proxytest.ByFront.Name {
			continue // a wrapped connection does not tell what waits in it
		}
		c.Send("INCR slow")
		<-arrived
		c.Send("INCR n") // it comes while the first one is executed
		require.Equal(t, "+PONG\r\n", proxytest.Dial(t, addr).Do("PING"), "what was sent before over loopback has arrived")
		release <- struct{}{}
		require.Equal(t, together, c.Reply())
		require.Equal(t, ":4\r\n", c.Reply())
	}
}
