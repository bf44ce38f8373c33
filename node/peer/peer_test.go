package peer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// TestWhoAnswersIsChecked: a process that is not the node that was expected there is refused with what to correct, and the node judges the rest.
func TestWhoAnswersIsChecked(t *testing.T) {
	errJudge := errors.New("another cluster")
	for name, tt := range map[string]struct {
		hello wire.Hello
		judge error
		says  string // "" for nothing
	}{
		"the node":         {hello: wire.Hello{Role: wire.RoleNode, Name: "b"}},
		"another node":     {hello: wire.Hello{Role: wire.RoleNode, Name: "c"}, says: "node b was expected at b:1, but c answers there"},
		"a proxy":          {hello: wire.Hello{Role: wire.RoleProxy, Name: "b"}, says: "what answers at b:1 is a proxy, not a node"},
		"of other members": {hello: wire.Hello{Role: wire.RoleNode, Name: "b"}, judge: errJudge, says: "another cluster"},
		"nonsense": {hello: wire.Hello{Role: wire.RoleNode, Name: "b", Properties: map[string]string{"replicas": "three"}},
			says: "replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			var judged []wire.Hello
			p, _, _ := newPeer(func(cfg *Config) {
				cfg.Judge = func(h wire.Hello, _ protocol.Properties) error { judged = append(judged, h); return tt.judge }
			})
			err := p.Check(tt.hello)
			if tt.says == "" {
				require.NoError(t, err)
				require.Equal(t, []wire.Hello{tt.hello}, judged)
				return
			}
			require.ErrorContains(t, err, tt.says)
			if tt.judge == nil {
				require.Empty(t, judged, "it is judged though it is somebody else")
			}
		})
	}
}

// TestHowLongALinkIsUpCounts: it is alive at once, stable after a while, has handed slots back after another, and is gone a while after it was up last. A process
// that is not the member of the ring is none of the first three.
func TestHowLongALinkIsUpCounts(t *testing.T) {
	type is struct{ Alive, Stable, HandedBack, Gone bool }
	for _, member := range []bool{true, false} {
		p, _, c := newPeer(func(cfg *Config) { cfg.StableAfter = 3 * time.Second })
		p.SetMember(member)
		require.Equal(t, member, p.Member())
		look := func(want is) {
			t.Helper()
			if !member {
				want.Alive, want.Stable, want.HandedBack = false, false, false
			}
			require.Equal(t, want, is{p.Alive(), p.Stable(c.now), p.HandedBack(c.now), p.Gone(c.now)})
		}
		look(is{}) // it has just begun
		c.pass(goneAfter)
		look(is{})
		c.pass(time.Millisecond)
		look(is{Gone: true})

		p.state(wire.Up)
		look(is{Alive: true})
		c.pass(3 * time.Second)
		look(is{Alive: true})
		c.pass(time.Millisecond)
		look(is{Alive: true, Stable: true})
		c.pass(handBackTime)
		look(is{Alive: true, Stable: true, HandedBack: true})

		p.state(wire.Suspect)
		look(is{})
		c.pass(goneAfter / 2)
		p.state(wire.Down) // which is not when it answered last
		c.pass(goneAfter/2 + time.Millisecond)
		look(is{Gone: true})

		p.state(wire.Up)
		look(is{Alive: true})
	}
}

// TestALinkIsStableAfterSomeSeconds, unless somebody says after how many.
func TestALinkIsStableAfterSomeSeconds(t *testing.T) {
	p, _, c := newPeer(nil)
	p.SetMember(true)
	p.state(wire.Up)
	require.False(t, p.Stable(c.now+stableAfter.Milliseconds()))
	require.True(t, p.Stable(c.now+stableAfter.Milliseconds()+1))
}

// TestWhatAPeerSaysIsBelievedForAWhile, and no longer: it says it again as long as it is so.
func TestWhatAPeerSaysIsBelievedForAWhile(t *testing.T) {
	clockFrame := binary.LittleEndian.AppendUint64(nil, 5_000_000)
	for name, tt := range map[string]struct {
		say   func(p *Peer)
		holds func(p *Peer, now int64) bool
		long  time.Duration
	}{
		"full": {func(p *Peer) { p.frame(protocol.FrameFull, nil, 0) }, func(p *Peer, _ int64) bool { return p.Full() }, fullFor},
		"full is crowded": {func(p *Peer) { p.frame(protocol.FrameFull, nil, 0) },
			func(p *Peer, _ int64) bool { return p.Crowded() }, fullFor},
		"crowded": {func(p *Peer) { p.frame(protocol.FrameFull, []byte{protocol.OnlyCrowded}, 0) },
			func(p *Peer, _ int64) bool { return p.Crowded() }, fullFor},
		"slow": {func(p *Peer) { p.HeardSlow() }, func(p *Peer, now int64) bool { return p.FindsSlow(now) }, slowFor},
		"the time": {func(p *Peer) { p.frame(protocol.FrameClock, clockFrame, 0) },
			func(p *Peer, now int64) bool { _, known := p.Clock(now); return known }, clockFor},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, c := newPeer(nil)
			require.False(t, tt.holds(p, c.now), "it said nothing yet")
			for range 2 {
				tt.say(p)
				require.True(t, tt.holds(p, c.now))
				c.pass(tt.long - time.Millisecond)
				require.True(t, tt.holds(p, c.now))
				c.pass(time.Millisecond)
				require.False(t, tt.holds(p, c.now))
			}
		})
	}
}

// TestWhoIsCrowdedIsNotFull: it takes writes that make nothing grow.
func TestWhoIsCrowdedIsNotFull(t *testing.T) {
	p, _, _ := newPeer(nil)
	p.frame(protocol.FrameFull, []byte{protocol.OnlyCrowded}, 0)
	require.True(t, p.Crowded())
	require.False(t, p.Full())
	p.ForgetCrowded()
	require.False(t, p.Crowded())
}

// TestTheClockOfAPeerGoesOn: its time is what it said, and what has passed since: on the way, and here.
func TestTheClockOfAPeerGoesOn(t *testing.T) {
	p, _, c := newPeer(nil)
	p.frame(protocol.FrameClock, binary.LittleEndian.AppendUint64(nil, 5_000_000), 30*time.Millisecond)
	c.pass(400 * time.Millisecond)
	system, known := p.Clock(c.now)
	require.True(t, known)
	require.EqualValues(t, 5_000_430, system)
	for _, nonsense := range [][]byte{nil, make([]byte, 7), make([]byte, 9)} {
		p.frame(protocol.FrameClock, nonsense, 0)
		system, _ = p.Clock(c.now)
		require.EqualValues(t, 5_000_430, system, "%d bytes are no time", len(nonsense))
	}
}

// TestAFrameIsCountedAndHandedOn, whatever the peer itself makes of it.
func TestAFrameIsCountedAndHandedOn(t *testing.T) {
	p, e, _ := newPeer(nil)
	frames := map[wire.FrameType]string{protocol.FrameReplicateReply: "abc", protocol.FrameFull: "", protocol.FramePiece: "de", protocol.FrameLeaving: ""}
	for typ, body := range frames {
		p.frame(typ, []byte(body), 0)
	}
	require.Equal(t, frames, e.bodies)
	require.EqualValues(t, 4, p.metrics.FramesIn.Value())
	require.EqualValues(t, 5, p.metrics.BytesIn.Value())
}

// TestANewConnectionIsANewProcess: what it said of its end is over, and what was sent before may be lost.
func TestANewConnectionIsANewProcess(t *testing.T) {
	p, _, c := newPeer(nil)
	require.Nil(t, p.Properties())
	p.frame(protocol.FrameLeaving, nil, 0)
	require.True(t, p.Leaving())
	c.pass(time.Second)
	props := &protocol.Properties{Version: "v2"}
	p.Meet(props, true)
	require.False(t, p.Leaving())
	require.True(t, p.Member())
	require.Same(t, props, p.Properties())
	require.Equal(t, c.now, p.ConnectedAt())
}

// TestASetKnowsItsPeers by their numbers, which have gaps, and by their places.
func TestASetKnowsItsPeers(t *testing.T) {
	var s Set
	require.Nil(t, s.Of(1))
	for i, id := range []uint16{5, 2, 9} {
		p, _, _ := newPeer(func(cfg *Config) { cfg.Member = ring.Member{ID: id, Name: "x", Peer: "y"} })
		s.Add(p)
		require.Equal(t, i, p.Index())
	}
	for id := range uint16(12) {
		p := s.Of(id)
		if id != 5 && id != 2 && id != 9 {
			require.Nil(t, p, "%d", id)
			continue
		}
		require.Equal(t, id, p.ID())
		require.Same(t, s.All()[p.Index()], p)
	}
	require.Nil(t, s.Of(65535))
}

// TestPeersComeAndGo while others use the set.
func TestPeersComeAndGo(t *testing.T) {
	var s Set
	s.Remove(7)
	add := func(id uint16) *Peer {
		p, _, _ := newPeer(func(cfg *Config) { cfg.Member = ring.Member{ID: id, Name: "x", Peer: "y"} })
		s.Add(p)
		return p
	}
	first, second := add(1), add(2)
	before := s.All()
	s.Remove(1)
	require.Equal(t, []*Peer{first, second}, before, "who goes through the peers is not disturbed")
	require.Equal(t, []*Peer{second}, s.All())
	require.Nil(t, s.Of(1))
	third := add(700)
	require.Zero(t, third.Index(), "an index is used again")
	again := add(2)
	require.Equal(t, []*Peer{third, again}, s.All(), "one of each ID")
	require.Same(t, again, s.Of(2))
	require.NotEqual(t, third.Index(), again.Index())
}

// TestTheLifeOfALink: the handler meets a peer before anything comes from it, and hears what came before it hears of the end, which whoever asked
// something hears at once.
func TestTheLifeOfALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serve(t)
		p, e, _ := newPeer(func(cfg *Config) { cfg.Dial = r.Dial })
		require.Equal(t, "not connected yet", p.Unreachable())
		require.True(t, p.Down())
		_, err := p.Ask(t.Context(), 1, nil)
		require.ErrorIs(t, err, wire.ErrDown)
		p.Start(t.Context())
		defer p.Close()
		conn := <-r.opened
		synctest.Wait()
		require.Equal(t, []string{"met"}, e.list)
		require.Equal(t, "v1", p.Properties().Version)
		require.True(t, p.Up() && p.Alive() && p.Connected() && !p.Down())

		require.NoError(t, conn.SendFrames(wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameReplicateReply), "reply"...), 0)))
		synctest.Wait()
		require.Equal(t, []string{"met", "frame", "idle"}, e.list)
		require.Equal(t, "reply", e.bodies[protocol.FrameReplicateReply])

		answered := make(chan error, 1)
		began := time.Now()
		go func() {
			_, err := p.Ask(t.Context(), 1, []byte("question"))
			answered <- err
		}()
		synctest.Wait()
		conn.Close()
		require.ErrorIs(t, <-answered, io.EOF)
		require.Less(t, time.Since(began), time.Second)
		synctest.Wait()
		require.Equal(t, []string{"idle", "down"}, e.list[3:5])
	})
}

// TestAQuestionIsNotAskedForEver: a peer that is there and does not answer is given up.
func TestAQuestionIsNotAskedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serve(t)
		p, _, _ := newPeer(func(cfg *Config) { cfg.Dial = r.Dial })
		p.Start(t.Context())
		defer p.Close()
		<-r.opened
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := p.Ask(ctx, 1, nil)
		require.Error(t, err)
		require.Equal(t, answerTime, time.Since(began))
		began = time.Now()
		_, _, err = p.AskObjects(ctx, 1, nil)
		require.ErrorIs(t, err, protocol.ErrSilent)
		require.Equal(t, silence, time.Since(began))
	})
}

// TestLargeAnswersMayTakeLong: while pieces of an answer come it is waited for, but not for ever.
func TestLargeAnswersMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serve(t)
		p, _, _ := newPeer(func(cfg *Config) { cfg.Dial = r.Dial })
		p.Start(t.Context())
		defer p.Close()
		conn := <-r.opened
		synctest.Wait()
		piece := wire.EndFrame(append(wire.BeginFrame(nil, protocol.FramePiece), "piece"...), 0)
		ctx, cancel := context.WithCancel(t.Context())
		var sending sync.WaitGroup
		sending.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(silence - time.Second)
				_ = conn.SendFrames(bytes.Clone(piece))
			}
		})
		began := time.Now()
		_, _, err := p.AskObjects(t.Context(), 1, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, objectsTime, time.Since(began))
		cancel()
		sending.Wait()
	})
}
