package broker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// fakeConn keeps what is sent on it. It is as if nothing were written as long as it is stuck.
type fakeConn struct {
	mu     sync.Mutex
	stuck  bool
	queued int
	heard  []string // messages and replies, in their order
}

func (c *fakeConn) Queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queued
}

func (c *fakeConn) SendFrames(frames []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stuck {
		c.queued += len(frames)
	}
	for len(frames) > 0 {
		length := binary.LittleEndian.Uint32(frames)
		frame := frames[8 : 8+length]
		frames = frames[8+length:]
		d := wire.NewDecoder(frame[5:])
		for d.More() {
			switch wire.FrameType(frame[0]) {
			case protocol.FrameMessages:
				var m protocol.Message
				protocol.DecodeMessage(&d, &m)
				c.heard = append(c.heard, fmt.Sprintf("%s=%.20s", m.Channel, m.Payload))
			case protocol.FrameBatchReply:
				var r protocol.Result
				protocol.DecodeResult(&d, &r)
				c.heard = append(c.heard, fmt.Sprintf("%d%s", r.ID, bytes.TrimSpace(r.Reply)))
			case protocol.FrameInterestDone:
				c.heard = append(c.heard, fmt.Sprintf("done %d", d.Uvarint()))
			}
		}
		if d.Err() != nil {
			panic(d.Err())
		}
	}
	return nil
}

func (c *fakeConn) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	heard := c.heard
	c.heard = nil
	return heard
}

func interest(id uint64, clients uint64, kind protocol.InterestKind, name string) []byte {
	return protocol.AppendInterest(protocol.AppendInterestID(nil, id), protocol.Interest{Kind: kind, Clients: clients, Name: []byte(name)})
}

func publish(channel string, payloads ...string) (body []byte) {
	for i, payload := range payloads {
		body = protocol.AppendPublish(body, uint64(i+1), &protocol.Message{Channel: []byte(channel), Payload: []byte(payload)})
	}
	return body
}

func TestBroker(t *testing.T) {
	b := New(new(metrics.Node))
	var one, two, other fakeConn
	s1, s2, s3 := b.Session(&one), b.Session(&two), b.Session(&other)
	require.NoError(t, s1.Interest(interest(7, 2, protocol.OfChannel, "news")))
	require.NoError(t, s1.Interest(interest(0, 1, protocol.OfPattern, "n*")))
	require.NoError(t, s2.Interest(interest(8, 1, protocol.OfPattern, "n*")))
	require.NoError(t, s3.Interest(interest(9, 1, protocol.OfChannel, "others")))
	require.Equal(t, []string{"done 7"}, one.take())

	require.NoError(t, s1.Publish(publish("news", "1", "2", "3")))
	require.Equal(t, []string{"news=1", "news=2", "news=3", "1:4", "2:4", "3:4"}, one.take(), "each proxy once, whatever matches, and before the reply")
	require.Equal(t, []string{"done 8", "news=1", "news=2", "news=3"}, two.take())
	require.Equal(t, []string{"done 9"}, other.take())

	s1.Drop()
	require.NoError(t, s3.Publish(publish("news", "4")))
	require.Equal(t, []string{"1:1"}, other.take())
	require.Equal(t, []string{"news=4"}, two.take())
	require.Empty(t, one.take())
	require.Equal(t, uint64(1), b.Clients(false, []byte("news")))

	require.Error(t, s2.Interest([]byte{1, 9, 1, 0}), "no such kind")
	require.Error(t, s2.Publish([]byte{1, 0, 200}), "no such channel")
}

// TestASlowProxyMissesMessages: what does not fit is dropped, and counted, and nobody waits.
func TestASlowProxyMissesMessages(t *testing.T) {
	m := new(metrics.Node)
	b := New(m)
	slow, quick := &fakeConn{stuck: true}, new(fakeConn)
	s1, s2 := b.Session(slow), b.Session(quick)
	require.NoError(t, s1.Interest(interest(0, 1, protocol.OfChannel, "news")))
	require.NoError(t, s2.Interest(interest(0, 1, protocol.OfChannel, "news")))
	large := strings.Repeat("x", 1<<20)
	const all = 40
	for range all {
		require.NoError(t, s2.Publish(publish("news", large)))
	}
	heard := len(slow.take())
	require.Len(t, quick.take(), 2*all)
	require.InDelta(t, maxQueued>>20, heard, 1)
	require.Equal(t, uint64(all-heard), m.MessagesDropped.Value())
	require.Equal(t, uint64(all), m.Published.Value())
	require.LessOrEqual(t, slow.Queued(), maxQueued+2<<20)
}

// TestBrokerTogether: connections come, publish and end at the same time; what one publishes is heard in its order.
func TestBrokerTogether(t *testing.T) {
	b := New(new(metrics.Node))
	hearer := new(fakeConn)
	require.NoError(t, b.Session(hearer).Interest(interest(0, 1, protocol.OfPattern, "*")))
	var wait sync.WaitGroup
	for publisher := range 4 {
		wait.Go(func() {
			channel := fmt.Sprint("p", publisher)
			for round := range 50 {
				s := b.Session(new(fakeConn))
				_ = s.Interest(interest(0, 1, protocol.OfChannel, channel))
				_ = s.Publish(publish(channel, fmt.Sprint(2*round), fmt.Sprint(2*round+1)))
				s.Drop()
			}
		})
	}
	wait.Wait()
	next := map[string]int{}
	for _, m := range hearer.take() {
		channel, payload, _ := strings.Cut(m, "=")
		require.Equal(t, fmt.Sprint(next[channel]), payload)
		next[channel]++
	}
	require.Equal(t, map[string]int{"p0": 100, "p1": 100, "p2": 100, "p3": 100}, next)
}
