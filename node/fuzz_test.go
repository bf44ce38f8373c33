package node

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// messages are messages of every kind and result.
func messages() (list []register.Message) {
	b := record.Ballot{Counter: 1, Incarnation: 2}
	v := record.Version{Ballot: b, Seq: 3}
	for kind := range register.Kind(8) {
		for result := range register.Result(5) {
			list = append(list, register.Message{Kind: kind, Result: result, Epoch: 1, Ballot: b, Version: v, Held: v,
				Change: record.Change{Key: []byte("k"), IsDelta: result > 0, Delta: []byte("d"), State: record.State{Type: record.String, Value: []byte("v")}}})
		}
	}
	return list
}

// FuzzFrames sends two frames to a node that votes alone, from a proxy or from what says
// that it is the node itself. No frame makes it panic or stop voting; each is answered in
// a form that decodes, or its connection is closed; others notice nothing.
func FuzzFrames(f *testing.F) {
	batch := protocol.AppendVersion(nil, 1)
	for _, words := range []string{"set k v", "append k v", "get k", "psetex k 10 v", "del k"} {
		for kind := range protocol.OpKind(3) {
			o := op(kind, words)
			batch = protocol.AppendOp(batch, &o)
		}
	}
	slot := protocol.AppendVersion(nil, 1)
	for number := uint16(0); number < 65535-4097; number += 4096 {
		slot = protocol.AppendOp(slot, &protocol.Op{Kind: protocol.Execute, Slot: number, Req: command.Request{Op: command.OpClear, Args: [][]byte{nil}}})
	}
	var requests []byte
	for _, m := range messages()[5:30] { // those that a home sends
		requests = protocol.AppendRequest(requests, &m)
	}
	ring, err := json.Marshal(ring.Initial{{Name: "a", Peer: "h:1"}}.Cluster("test", 1))
	require.NoError(f, err)
	call := func(method protocol.Method, payload []byte) []byte {
		return append([]byte{1, byte(method)}, payload...)
	}
	f.Add(false, byte(protocol.FrameBatch), batch, byte(protocol.FrameBatch), slot)
	f.Add(true, byte(protocol.FrameReplicate), requests, byte(protocol.FrameBatch), batch)
	f.Add(false, byte(protocol.FrameReplicate), requests, byte(protocol.FrameReplicateReply), requests)
	f.Add(true, byte(protocol.FrameCall), call(protocol.MethodPropose, ring), byte(protocol.FrameCall), call(protocol.MethodCommit, ring))
	f.Add(false, byte(protocol.FrameCall), call(protocol.MethodScan, protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: 1, From: 1 << 63, Limit: 1 << 30})),
		byte(protocol.FrameCall), call(protocol.MethodLocate, []byte("k")))
	f.Add(false, byte(protocol.FrameCall), call(protocol.MethodStats, protocol.AppendVersion(nil, 1)), byte(protocol.FrameCall), call(99, nil))
	f.Fuzz(func(t *testing.T, asNode bool, type1 byte, body1 []byte, type2 byte, body2 []byte) {
		if asksForLargeValues(body1) || asksForLargeValues(body2) {
			return
		}
		c := newFormed(t, 1, nil)
		n := c.nodes["a"]
		hello := c.proxyHello()
		if asNode {
			hello = n.members.Hello()
		}
		s := startStranger(t, n, hello)
		s.send(wire.FrameType(type1), body1)
		s.send(wire.FrameType(type2), body2)
		s.settle()
		require.False(t, c.logs.contains("panic"))
		require.NoError(t, n.Ready(t.Context()))
		if !asNode {
			require.Equal(t, "+OK\r\n", string(c.dial(n).do("set another-key v").Reply))
		}
	})
}

// asksForLargeValues: a SETRANGE or SETBIT far behind the end is valid, and takes long.
func asksForLargeValues(body []byte) bool {
	d := wire.NewDecoder(body)
	d.Uvarint()
	for d.More() {
		var o protocol.Op
		if protocol.DecodeOp(&d, &o); d.Err() != nil {
			return false
		}
		for _, arg := range o.Req.Args {
			if len(arg) > 6 && (o.Req.Op == command.OpSetRange || o.Req.Op == command.OpSetBit || o.Req.Op == command.OpBitField) {
				return true
			}
		}
	}
	return false
}

// stranger is a connection to a node that sends any frames.
type stranger struct {
	t       *testing.T
	link    *wire.Link
	settled chan struct{} // gets something when the node has hung up or answered the barrier
}

// barrierID marks the reply to the last operation of a stranger.
const barrierID = 1<<64 - 1

func startStranger(t *testing.T, n *Node, hello wire.Hello) *stranger {
	s := &stranger{t: t, settled: make(chan struct{}, 10)}
	up := make(chan struct{}, 10)
	s.link = wire.NewLink(wire.LinkConfig{
		Options: wire.Options{Logger: slog.New(slog.DiscardHandler)},
		Address: n.Address(),
		Hello:   func() wire.Hello { return hello },
		OnUp:    func(uint64, wire.Hello) { up <- struct{}{} },
		OnFrame: s.frame,
		OnDown:  func(uint64, error) { s.settled <- struct{}{} },
	})
	s.link.Start(context.Background())
	t.Cleanup(s.link.Close)
	select {
	case <-up:
	case <-time.After(patience):
		t.Fatalf("no connection: %v", s.link.Err())
	}
	return s
}

// send sends a frame, unless it is one that a link does not send, or the node has hung up.
func (s *stranger) send(typ wire.FrameType, body []byte) {
	frame := append(wire.BeginFrame(nil, typ), body...)
	_ = s.link.SendFramesOn(1, wire.EndFrame(frame, 0))
}

// settle waits until the node has dealt with all that was sent.
func (s *stranger) settle() {
	barrier := protocol.Op{ID: barrierID, Kind: protocol.ReadVersion, Req: command.Request{Args: [][]byte{nil, []byte("k")}}}
	s.send(protocol.FrameBatch, protocol.AppendOp(protocol.AppendVersion(nil, 1<<40), &barrier))
	select {
	case <-s.settled:
	case <-time.After(patience):
		s.t.Fatal("the node neither answers nor hangs up")
	}
}

func (s *stranger) frame(typ wire.FrameType, body []byte, _ time.Duration) {
	d := wire.NewDecoder(bytes.Clone(body))
	for d.More() {
		var m register.Message
		var r protocol.Result
		switch typ {
		case protocol.FrameReplicateReply:
			protocol.DecodeReply(&d, &m)
		case protocol.FrameBatchReply:
			if protocol.DecodeResult(&d, &r); r.ID == barrierID {
				s.settled <- struct{}{}
			}
		case protocol.FrameCallReply:
			d.Uvarint()
			d.Bool()
			d.Rest()
		case protocol.FrameLeading, protocol.FrameClock, protocol.FrameRing:
			d.Rest()
		default:
			d.Fail("no such frame")
		}
	}
	if d.Err() != nil {
		s.t.Error(d.Err())
	}
}
