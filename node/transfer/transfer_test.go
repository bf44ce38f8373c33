package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/replication"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// connection is one that takes a stream when it is told to.
type connection struct {
	streams []wire.Source
	err     error
}

func (c *connection) stream(s wire.Source) error {
	if c.err == nil {
		c.streams = append(c.streams, s)
	}
	return c.err
}

// frame is one that was sent.
type frame struct {
	typ  wire.FrameType
	body []byte
}

// cut cuts what a stream has made into frames.
func cut(t *testing.T, made []byte) (frames []frame) {
	for len(made) > 0 {
		d := wire.NewDecoder(made)
		low, high := d.Uint16(), d.Uint16()
		size := 8 + (int(low) | int(high)<<16)
		require.LessOrEqual(t, size, 2*wire.StreamPiece, "no frame of the object's size")
		frames = append(frames, frame{wire.FrameType(made[8]), made[13:size]})
		made = made[size:]
	}
	return frames
}

// rest returns the frames that a stream still makes, and ends it.
func rest(t *testing.T, s wire.Source) (frames []frame) {
	for more := true; more; {
		var made []byte
		made, more = s.Next(nil)
		frames = append(frames, cut(t, made)...)
	}
	s.End()
	return frames
}

// hash returns the state of a hash of so many bytes, about.
func hash(size int) record.State {
	m := new(parts.Map)
	for i := range size / 1000 {
		m, _ = m.Set(fmt.Append(nil, "field", i), make([]byte, 1000))
	}
	return record.State{Type: record.Hash, ExpireAt: 77, Object: m}
}

func version(seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: 5, Incarnation: 9}, Seq: seq}
}

// accept is a home's request to write a state of version seq.
func accept(key string, seq uint64, state record.State) *replication.Message {
	v := version(seq)
	return &replication.Message{Kind: replication.Accept, Slot: 3, Ballot: v.Ballot, Version: v, Change: record.Change{Key: []byte(key), State: state}}
}

// change is one to write what a delta makes of version seq-1.
func change(key string, seq uint64) *replication.Message {
	m := accept(key, seq, record.State{Type: record.Hash})
	m.IsDelta, m.Base, m.Delta = true, version(seq-1), []byte{1}
	return m
}

// received is what a replica does with frames: the requests that it executes.
func received(t *testing.T, in *Incoming, frames []frame) (requests []replication.Message, err error) {
	for _, f := range frames {
		if f.typ == protocol.FramePiece {
			err = errors.Join(err, in.Piece(f.body))
			continue
		}
		require.EqualValues(t, protocol.FrameReplicate, f.typ)
		d := wire.NewDecoder(f.body)
		d.Ahead = in.Object
		for d.More() {
			var m replication.Message
			protocol.DecodeRequest(&d, &m)
			require.NoError(t, d.Err())
			if !d.Missing() {
				requests = append(requests, m)
			}
		}
	}
	return requests, err
}

func room() *Room { return &Room{Limit: 1 << 30} }

// lanes returns a lane with a large object on its way, of version 10.
func lanes(t *testing.T, size int) (*Lane, *connection) { return lanesOf(t, hash(size)) }

func lanesOf(t *testing.T, state record.State) (*Lane, *connection) {
	c := new(connection)
	l := NewLane(c.stream)
	require.True(t, l.Takes(accept("k", 10, state)))
	require.Len(t, c.streams, 1)
	require.Equal(t, 1, l.Active())
	return l, c
}

// versions are those of requests.
func versions(requests []replication.Message) (seqs []uint64) {
	for _, m := range requests {
		seqs = append(seqs, m.Version.Seq)
	}
	return seqs
}

// TestAnObjectArrives as it was, in small frames, and leaves nothing behind.
func TestAnObjectArrives(t *testing.T) {
	l, c := lanes(t, 3*Ahead)
	r := room()
	in := NewIncoming(r)
	frames := rest(t, c.streams[0])
	require.Greater(t, len(frames), 3*Ahead/wire.StreamPiece)
	requests, err := received(t, in, frames)
	require.NoError(t, err)
	require.Len(t, requests, 1)
	want := accept("k", 10, hash(3*Ahead))
	require.Equal(t, want.State.Object.AppendTo(nil), requests[0].State.Object.AppendTo(nil))
	require.EqualValues(t, 77, requests[0].State.ExpireAt)
	require.Equal(t, want.Version, requests[0].Version)
	require.Zero(t, r.Used())
	require.Zero(t, l.Active())
}

// TestSmallStatesAreNotTaken: what a frame suffices for is sent as ever.
func TestSmallStatesAreNotTaken(t *testing.T) {
	l := NewLane(new(connection).stream)
	require.False(t, l.Takes(accept("k", 1, plain(Ahead-1))))
	require.False(t, l.Takes(accept("k", 1, hash(Ahead/2))))
	require.False(t, l.Takes(change("k", 2)))
	require.False(t, l.Takes(&replication.Message{Kind: replication.Confirm}))
}

// BenchmarkSmall is what a lane costs a request that it does not take.
func BenchmarkSmall(b *testing.B) {
	l := NewLane(new(connection).stream)
	m := accept("k", 1, record.State{Type: record.String, Value: make([]byte, 64)})
	b.ReportAllocs()
	for b.Loop() {
		if l.Takes(m) {
			b.Fatal("taken")
		}
	}
}

// TestDeltasFollowTheirObject: those of the key wait behind it, and those of others do not.
func TestDeltasFollowTheirObject(t *testing.T) {
	l, c := lanes(t, 2*Ahead)
	require.False(t, l.Takes(change("other", 11)))
	require.True(t, l.Takes(change("k", 11)))
	first, more := c.streams[0].Next(nil)
	require.True(t, more)
	require.True(t, l.Takes(change("k", 12)))
	require.True(t, l.Takes(change("k", 14)), "its base is missing: it would be refused")
	requests, err := received(t, NewIncoming(room()), append(cut(t, first), rest(t, c.streams[0])...))
	require.NoError(t, err)
	require.Equal(t, []uint64{10, 11, 12}, versions(requests))
	require.False(t, l.Takes(change("k", 13)), "it is all sent")
}

// TestWhatFollowsIsBounded: beyond some bytes what is asked is as if it had been lost.
func TestWhatFollowsIsBounded(t *testing.T) {
	l, c := lanes(t, 2*Ahead)
	for seq := uint64(11); seq < 400; seq++ {
		m := change("k", seq)
		m.Delta = make([]byte, 100<<10)
		require.True(t, l.Takes(m))
	}
	require.LessOrEqual(t, l.later, maxLater)
	requests, err := received(t, NewIncoming(room()), rest(t, c.streams[0]))
	require.NoError(t, err)
	require.InDelta(t, maxLater/(100<<10), len(requests), 3)
	require.Zero(t, l.later)
}

// TestOneObjectOfAKey is on its way: the same once more is not sent, a newer one instead of it, and none at all if a small state is newer.
func TestOneObjectOfAKey(t *testing.T) {
	l, c := lanes(t, 2*Ahead)
	require.True(t, l.Takes(change("k", 11)))
	require.True(t, l.Takes(accept("k", 10, hash(2*Ahead))))
	require.True(t, l.Takes(accept("k", 11, hash(2*Ahead))), "what follows makes it")
	require.Len(t, c.streams, 1)
	require.EqualValues(t, 1, l.number, "it begins anew")
	first, _ := c.streams[0].Next(nil)

	require.True(t, l.Takes(accept("k", 20, hash(3*Ahead))))
	require.Len(t, c.streams, 1, "in the place of the other one")
	r := room()
	in := NewIncoming(r)
	requests, err := received(t, in, append(cut(t, first), rest(t, c.streams[0])...))
	require.NoError(t, err)
	require.Equal(t, []uint64{20}, versions(requests))
	require.Zero(t, r.Used())

	require.True(t, l.Takes(accept("k", 30, hash(2*Ahead))))
	first, _ = c.streams[1].Next(nil)
	require.False(t, l.Takes(accept("k", 31, record.State{})), "a deletion")
	requests, err = received(t, in, append(cut(t, first), rest(t, c.streams[1])...))
	require.NoError(t, err)
	require.Empty(t, requests)
	require.Zero(t, l.Active())
	in.Drop()
	require.Zero(t, r.Used())
}

// TestALaneWithoutConnection keeps nothing.
func TestALaneWithoutConnection(t *testing.T) {
	c := &connection{err: wire.ErrDown}
	l := NewLane(c.stream)
	require.True(t, l.Takes(accept("k", 10, hash(2*Ahead))))
	require.Zero(t, l.Active())
	c.err = nil
	require.True(t, l.Takes(accept("k", 10, hash(2*Ahead))))
	require.Equal(t, 1, l.Active())
	c.streams[0].End()
	require.Zero(t, l.Active(), "the connection is lost")
}

// plain is a string of bytes.
func plain(size int) record.State {
	return record.State{Type: record.String, ExpireAt: 77, Value: bytes.Repeat([]byte("0123456789abcdef!"), size/17+1)[:size]}
}

// TestPlainBytesArrive as bytes, of which the sender makes no copy, and the receiver one, which no message shares. They count as queued until they
// have been sent, and objects do not.
func TestPlainBytesArrive(t *testing.T) {
	state := plain(3*Ahead + 5)
	l, c := lanesOf(t, state)
	require.Equal(t, 3*Ahead+5, c.streams[0].Queued())
	r := room()
	in := NewIncoming(r)
	first, more := c.streams[0].Next(nil)
	require.True(t, more)
	require.Equal(t, 3*Ahead+5-wire.StreamPiece, c.streams[0].Queued())
	_, err := received(t, in, cut(t, first))
	require.NoError(t, err)
	require.EqualValues(t, 3*Ahead+5, r.Used(), "all of it has its place from the beginning")

	requests, err := received(t, in, rest(t, c.streams[0]))
	require.NoError(t, err)
	require.Len(t, requests, 1)
	require.Equal(t, state, requests[0].State)
	require.Zero(t, c.streams[0].Queued())
	require.Zero(t, r.Used())
	require.Zero(t, l.Active())

	_, c = lanes(t, 2*Ahead)
	require.Zero(t, c.streams[0].Queued())
}

// TestPlainBytesHaveRoom before any memory is taken for them, whatever the sender says.
func TestPlainBytesHaveRoom(t *testing.T) {
	r := &Room{Limit: 2 * Ahead}
	in := NewIncoming(r)
	for _, size := range []int{2*Ahead + 1, 1 << 49} {
		p := protocol.Piece{ID: 1, Type: record.String, Plain: true, Size: size}
		require.ErrorIs(t, in.Piece(append(protocol.AppendPieceHead(nil, &p), 'x')), ErrRoom)
		require.Zero(t, r.Used())
	}
	p := protocol.Piece{ID: 1, Type: record.Hash, Plain: true, Size: Ahead}
	require.ErrorIs(t, in.Piece(append(protocol.AppendPieceHead(nil, &p), 'x')), ErrPieces, "a large hash is never bytes")
	require.Zero(t, r.Used())
}

// text is a long string, whose pieces all look alike.
func text(size int) record.State {
	return record.State{Type: record.String, Object: parts.NewRope(make([]byte, size))}
}

// TestWhatDidNotComeWholeHasNoEffect: whatever happens to one of the pieces, the request is as if it had been lost, and the next object arrives.
func TestWhatDidNotComeWholeHasNoEffect(t *testing.T) {
	for name, state := range map[string]record.State{"hash": hash(2 * Ahead), "string": text(2 * Ahead), "bytes": plain(2 * Ahead)} {
		t.Run(name, func(t *testing.T) { testWhatDidNotComeWhole(t, state) })
	}
}

func testWhatDidNotComeWhole(t *testing.T, state record.State) {
	piece := func(f frame, change func(p *protocol.Piece)) frame {
		p, err := protocol.DecodePiece(f.body)
		require.NoError(t, err)
		change(&p)
		return frame{f.typ, append(protocol.AppendPieceHead(nil, &p), p.Bytes...)}
	}
	for name, befall := range map[string]func(frames []frame) []frame{
		"the first is missing": func(f []frame) []frame { return f[1:] },
		"one is missing":       func(f []frame) []frame { return append(f[:2:2], f[3:]...) },
		"the last is missing":  func(f []frame) []frame { return append(f[:len(f)-2:len(f)-2], f[len(f)-1]) },
		"one comes twice":      func(f []frame) []frame { return append(f[:2:2], f[1:]...) },
		"two come in turn":     func(f []frame) []frame { return append([]frame{f[0], f[2], f[1]}, f[3:]...) },
		"one is of another":    func(f []frame) []frame { f[1] = piece(f[1], func(p *protocol.Piece) { p.ID++ }); return f },
		"all are of another": func(f []frame) []frame {
			for i := range f[:len(f)-1] {
				f[i] = piece(f[i], func(p *protocol.Piece) { p.ID += 100 })
			}
			return f
		},
		"one says another size": func(f []frame) []frame { f[1] = piece(f[1], func(p *protocol.Piece) { p.Size++ }); return f },
		"one says another type": func(f []frame) []frame {
			f[1] = piece(f[1], func(p *protocol.Piece) { p.Type = record.Hash + record.String - p.Type })
			return f
		},
		"one says another form": func(f []frame) []frame { f[1] = piece(f[1], func(p *protocol.Piece) { p.Plain = !p.Plain }); return f },
		"the type is unknown":   func(f []frame) []frame { f[0] = piece(f[0], func(p *protocol.Piece) { p.Type = 99 }); return f },
		"one is damaged":        func(f []frame) []frame { f[1] = piece(f[1], func(p *protocol.Piece) { clear(p.Bytes) }); return f },
	} {
		if name == "one is damaged" && state.Type == record.String {
			continue // any bytes are a string: checksums of frames find that
		}
		l, c := lanesOf(t, state)
		r := room()
		in := NewIncoming(r)
		requests, _ := received(t, in, befall(rest(t, c.streams[0])))
		require.Empty(t, requests, "%s: it is executed", name)

		require.True(t, l.Takes(accept("k", 11, state)))
		requests, err := received(t, in, rest(t, c.streams[1]))
		require.NoError(t, err, name)
		require.Len(t, requests, 1, name)
		in.Drop()
		require.Zero(t, r.Used(), name)
	}
}

// TestObjectsOnTheirWayAreBounded: beyond the limit of all connections together an object is given up, and its request is as if it had been lost.
func TestObjectsOnTheirWayAreBounded(t *testing.T) {
	r := &Room{Limit: 3 * Ahead}
	pieces := func(size int) []frame {
		_, c := lanes(t, size)
		return rest(t, c.streams[0])
	}
	first, second := NewIncoming(r), NewIncoming(r)
	frames := pieces(2 * Ahead)
	_, err := received(t, first, frames[:len(frames)-1])
	require.NoError(t, err, "it is whole, and waits for its request")
	require.Greater(t, r.Used(), int64(2*Ahead-1))

	requests, err := received(t, second, pieces(2*Ahead))
	require.ErrorIs(t, err, ErrRoom)
	require.Empty(t, requests)
	first.Drop()
	require.Zero(t, r.Used(), "with its connection")

	requests, err = received(t, second, pieces(2*Ahead))
	require.NoError(t, err)
	require.Len(t, requests, 1)

	full := false
	r.Full = func() bool { return full }
	full = true
	_, err = received(t, second, pieces(2*Ahead))
	require.ErrorIs(t, err, ErrRoom, "a node without memory for data")
	require.Zero(t, r.Used())
}

// TestWholeObjectsAreBounded: nobody keeps sending objects that no message refers to.
func TestWholeObjectsAreBounded(t *testing.T) {
	in := NewIncoming(room())
	state := hash(1000 * 200)
	for id := range uint64(maxWhole + 1) {
		p := newPieces(id+1, &state)
		made, readable := p.next(nil)
		require.True(t, readable)
		err := in.Piece(cut(t, made)[0].body)
		if id < maxWhole {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, ErrRoom)
		}
	}
	require.Nil(t, in.Object(maxWhole+1).Object)
	require.NotNil(t, in.Object(1).Object)
	require.Nil(t, in.Object(1).Object, "it was handed over")
}

// TestOneAnswerToASyncReadIsUnderWay of a key: asking again does not send the object again.
func TestOneAnswerToASyncReadIsUnderWay(t *testing.T) {
	var as Answers
	m := &replication.Message{Kind: replication.SyncRead, Reply: true, Slot: 3, Present: true, Held: version(4), Found: hash(2 * Ahead), Change: record.Change{Key: []byte("k")}}
	a := as.SyncRead(m)
	require.NotNil(t, a)
	require.Nil(t, as.SyncRead(m))
	in := NewIncoming(room())
	frames := rest(t, a)
	for _, f := range frames[:len(frames)-1] {
		require.NoError(t, in.Piece(f.body))
	}
	d := wire.NewDecoder(frames[len(frames)-1].body)
	d.Ahead = in.Object
	var reply replication.Message
	protocol.DecodeReply(&d, &reply)
	require.NoError(t, d.Done())
	require.False(t, d.Missing())
	require.Equal(t, m.Found.Object.AppendTo(nil), reply.Found.Object.AppendTo(nil))
	require.NotNil(t, as.SyncRead(m))
}
