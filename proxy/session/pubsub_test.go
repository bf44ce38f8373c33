package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestManySubscriptions: one client subscribes to very many channels, and all is as before when it is gone.
func TestManySubscriptions(t *testing.T) {
	service, addr := startServer(t, Config{}, proxytest.NewCluster())
	c, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	const channels, each = 100_000, 1000
	for first := 0; first < channels; first += each {
		var line strings.Builder
		line.WriteString("SUBSCRIBE")
		for i := range each {
			fmt.Fprintf(&line, " channel%d", first+i)
		}
		c.Send(line.String())
		for i := range each {
			require.Equal(t, fmt.Sprintf(":%d\r\n", first+i+1), lastLine(c.Reply()))
		}
	}
	require.Equal(t, ":1\r\n", other.Do("PUBLISH channel77777 x"))
	require.Contains(t, c.Reply(), "channel77777")
	require.Contains(t, other.Do("INFO stats"), fmt.Sprintf("pubsub_channels:%d", channels))
	c.Send("UNSUBSCRIBE")
	for i := range channels {
		require.Equal(t, fmt.Sprintf(":%d\r\n", channels-i-1), lastLine(c.Reply()))
	}
	require.Zero(t, service.subscribers.bytes)
	require.Equal(t, "+PONG\r\n", c.Do("PING"))
}

func lastLine(reply string) string {
	return reply[strings.LastIndexByte(reply[:len(reply)-2], '\n')+1:]
}

// TestSubscriptionsAreBounded: what all clients of a proxy subscribe to has a bound, beyond which they are told so, and nothing is done.
func TestSubscriptionsAreBounded(t *testing.T) {
	service, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	name := strings.Repeat("x", protocol.MaxName-8)
	most := protocol.MaxInterest / (len(name) + 8 + protocol.InterestCost)
	for i := range most {
		c.Do(fmt.Sprintf("SUBSCRIBE %08d%s", i, name))
	}
	require.Contains(t, c.Do("SUBSCRIBE more"+name), "-ERR the clients of this proxy subscribe to so many")
	require.Equal(t, fmt.Sprintf(":%d\r\n", most), lastLine(c.Do(fmt.Sprintf("SUBSCRIBE %08d%s", 0, name))), "what is known takes no more")
	require.Equal(t, most, service.subscribers.names(protocol.OfChannel))
	require.Contains(t, c.Do("PSUBSCRIBE "+strings.Repeat("*", protocol.MaxName+1)), "-ERR names of channels")
	other := proxytest.Dial(t, addr)
	require.Contains(t, other.Do("PUBLISH "+strings.Repeat("*", protocol.MaxName+1)+" x"), "-ERR names of channels")
}

// TestASubscriberThatNeverReads is disconnected, and others are not kept waiting.
func TestASubscriberThatNeverReads(t *testing.T) {
	cluster := proxytest.NewCluster()
	server := newServer(Config{}, cluster)
	addr := proxytest.ByFront.Serve(t, server, front.ErrServerClosed)
	deaf, publisher := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	deaf.Do("SUBSCRIBE news")
	message := strings.Repeat("x", 1<<20)
	for range 128 {
		publisher.Do("PUBLISH news " + message)
	}
	require.EqualValues(t, 1, server.Stats().OutputExceeded.Load())
	for publisher.Do("PUBLISH news last") != ":0\r\n" { // until the connection has ended
	}
	require.Zero(t, server.service.subscribers.names(protocol.OfChannel))
}

// TestPublishKeepsItsPlace: who hears a message sees what its publisher has done before it, and what is pipelined behind it is done later.
func TestPublishKeepsItsPlace(t *testing.T) {
	cluster := proxytest.NewCluster()
	var batches []string
	cluster.Before = func(b *route.Batch) {
		var text strings.Builder
		for i := range b.Ops {
			fmt.Fprintf(&text, "%s %s ", command.ByOp(b.Ops[i].Req.Op).Name, b.Ops[i].Req.Args[2])
		}
		batches = append(batches, text.String())
	}
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		_, addr := serve(t, w, Config{}, cluster)
		c := proxytest.Dial(t, addr)
		batches = nil
		c.Send("SET a 1", "SET b 2", "PUBLISH x 3", "SPUBLISH x 4", "PUBLISH x 5", "SET a 6", "PUBLISH x 7", "PING", "PUBLISH x 8", "MULTI", "SET a 9", "EXEC")
		for _, want := range []string{"+OK", "+OK", ":0", ":0", ":0", "+OK", ":0", "+PONG", ":0", "+OK", "+QUEUED", "*"} {
			require.Equal(t, want, strings.TrimSpace(c.Reply())[:len(want)])
		}
		require.Equal(t, []string{"set 1 set 2 ", "publish 3 spublish 4 publish 5 ", "set 6 ", "publish 7 ", "publish 8 "}, batches[:5])
	})
}
