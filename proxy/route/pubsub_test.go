package route

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// told is what a fake node was told of messages.
type told struct {
	mu        sync.Mutex
	clients   map[string]uint64
	published []string
	mute      bool // messages are not answered
}

func (n *fakeNode) messages(c *wire.ServerConn, typ wire.FrameType, body []byte) {
	n.told.mu.Lock()
	defer n.told.mu.Unlock()
	d := wire.NewDecoder(body)
	if typ == protocol.FrameInterest {
		id := d.Uvarint()
		for d.More() {
			i := protocol.DecodeInterest(&d)
			if n.told.clients == nil {
				n.told.clients = map[string]uint64{}
			}
			n.told.clients[string(i.Name)] = i.Clients
		}
		if id != 0 {
			_ = c.SendFrames(wire.EndFrame(protocol.AppendInterestID(wire.BeginFrame(nil, protocol.FrameInterestDone), id), 0))
		}
		return
	}
	out := wire.BeginFrame(nil, protocol.FrameMessages)
	replies := wire.BeginFrame(nil, protocol.FrameBatchReply)
	var m protocol.Message
	for d.More() {
		id := protocol.DecodePublish(&d, &m)
		n.told.published = append(n.told.published, string(m.Payload))
		out = protocol.AppendMessage(out, &m)
		replies = protocol.AppendResult(replies, &protocol.Result{ID: id, Status: protocol.StatusDone, Reply: []byte(":1\r\n")})
	}
	if !n.told.mute {
		_ = c.SendFrames(wire.EndFrame(out, 0))
		_ = c.SendFrames(wire.EndFrame(replies, 0))
	}
}

// heardOf returns what the node was told of a name, and which messages it has published.
func (n *fakeNode) heardOf(name string) (clients uint64, published []string) {
	n.told.mu.Lock()
	defer n.told.mu.Unlock()
	return n.told.clients[name], slices.Clone(n.told.published)
}

func (n *fakeNode) setMute(mute bool) {
	n.told.mu.Lock()
	defer n.told.mu.Unlock()
	n.told.mute = mute
}

func publishing(payload string) command.Request {
	return command.Request{Op: command.OpPublish, Args: [][]byte{[]byte("publish"), []byte("news"), []byte(payload)}}
}

// publisher returns the node that publishes for a coordinator.
func (f *fakeRing) publisher(c *Coordinator) *fakeNode { return f.nodes[c.broker.Load().id-1] }

// TestMessagesGoThroughOneNode: in their order, also if they are many, and what is heard is handed on before the replies are.
func TestMessagesGoThroughOneNode(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	var heard []string
	c.Listen(func(m *protocol.Message) { heard = append(heard, string(m.Payload)) })
	var want []string
	for round := range 20 {
		var requests []command.Request
		for i := range 20 {
			want = append(want, fmt.Sprint(round, " ", i))
			requests = append(requests, publishing(want[len(want)-1]))
		}
		for _, text := range texts(run(t, c, requests...)) {
			require.Equal(t, ":1\r\n", text)
		}
		require.Equal(t, want, heard)
	}
	_, published := f.publisher(c).heardOf("news")
	require.Equal(t, want, published)
}

// TestWhoPublishesIsLost: a message that it may have is not published again, and the next ones go through another node.
func TestWhoPublishesIsLost(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	run(t, c, publishing("1"))
	first := f.publisher(c)
	first.setMute(true)
	b := runLater(t, c, publishing("2"))
	eventually(t, func() bool { _, published := first.heardOf(""); return len(published) == 2 }, "it has the message")
	first.setDown(true)
	require.Equal(t, []string{"unknown: " + string(AppendReply(nil, errMaybeSent))}, texts(<-b))
	require.Equal(t, []string{":1\r\n"}, texts(run(t, c, publishing("3"))))
	second := f.publisher(c)
	require.NotEqual(t, first.id, second.id)
	_, published := second.heardOf("")
	require.Equal(t, []string{"3"}, published)
	first.setDown(false)
	f.awaitUp(c, 3)
	run(t, c, publishing("4"))
	require.Equal(t, second, f.publisher(c), "it stays")
	for _, n := range f.nodes {
		n.setDown(true)
	}
	eventually(t, func() bool { return countUp(c) == 0 }, "nobody is left")
	require.Contains(t, texts(run(t, c, publishing("5")))[0], "CLUSTERDOWN")
}

// TestEveryNodeKnowsWhatClientsSubscribeTo: those that are up when it has been waited for, the others when they are up again.
func TestEveryNodeKnowsWhatClientsSubscribeTo(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	tell := func(name string, clients uint64) {
		c.Interest([]protocol.Interest{{Name: []byte(name), Clients: clients}})()
	}
	tell("news", 2)
	for _, n := range f.nodes {
		clients, _ := n.heardOf("news")
		require.EqualValues(t, 2, clients)
	}
	f.nodes[0].setDown(true)
	eventually(t, func() bool { return countUp(c) == 2 }, "one is down")
	tell("other", 1)
	tell("news", 3)
	tell("gone", 1)
	tell("gone", 0)
	many := make([]protocol.Interest, 100_000)
	for i := range many {
		many[i] = protocol.Interest{Kind: protocol.OfPattern, Clients: 1, Name: fmt.Appendf(nil, "a pattern of many that are told together %d", i)}
	}
	c.Interest(many)()
	f.nodes[0].setDown(false)
	last := string(many[len(many)-1].Name)
	eventually(t, func() bool {
		news, _ := f.nodes[0].heardOf("news")
		other, _ := f.nodes[0].heardOf("other")
		f.nodes[0].told.mu.Lock()
		defer f.nodes[0].told.mu.Unlock()
		return news == 3 && other == 1 && len(f.nodes[0].told.clients) == 2+len(many)
	}, "it is told all")
	clients, _ := f.nodes[1].heardOf(last)
	require.EqualValues(t, 1, clients)
}
