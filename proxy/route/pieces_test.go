package route

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// pieces sends some pieces of a reply, each of so many bytes, from a place on.
func (r *request) pieces(reply string, from, to, size int) {
	for at := from; at < to; at += size {
		frame := protocol.AppendReplyPiece(wire.BeginFrame(nil, protocol.FrameReplyPiece),
			&protocol.ReplyPiece{ID: r.ID, Size: len(reply), Offset: at, Bytes: []byte(reply[at:min(at+size, to)])})
		_ = r.conn.conn.SendFrames(wire.EndFrame(frame, 0))
	}
}

func TestAReplyInPieces(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k, other := f.keys(2, 1)[0], f.keys(2, 1)[1]
	reply := "*1\r\n$5000\r\n" + strings.Repeat("x", 5000) + "\r\n"
	started, told := make(chan *request, 1), make(chan struct{}, 1)
	f.play(func(r *request) {
		switch {
		case r.Kind == protocol.ReadValue && r.arg(1) == k:
			started <- r
		case r.Kind == protocol.ReadValue:
			r.vote(1, "$1\r\nv\r\n")
			told <- struct{}{}
		default:
			r.vote(1, "")
		}
	})
	result := runLater(t, c, get(k), get(other))
	r := <-started
	<-told
	r.pieces(reply, 0, 3000, 700)
	r.pieces(reply, 3000, len(reply), 400)
	r.vote(1, "")
	require.Equal(t, []string{reply, "$1\r\nv\r\n"}, texts(<-result))
}

// TestAReplyThatIsNotWhole is asked for again.
func TestAReplyThatIsNotWhole(t *testing.T) {
	t.Parallel()
	reply := "$5000\r\n" + strings.Repeat("x", 5000) + "\r\n"
	for name, incomplete := range map[string]func(r *request){
		"nothing":         func(*request) {},
		"not all":         func(r *request) { r.pieces(reply, 0, 4000, 1000) },
		"the first lacks": func(r *request) { r.pieces(reply, 1000, len(reply), 1000) },
		"one lacks":       func(r *request) { r.pieces(reply, 0, 1000, 1000); r.pieces(reply, 2000, len(reply), 1000) },
		"no piece": func(r *request) {
			_ = r.conn.conn.SendFrames(wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameReplyPiece), 1), 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startRing(t, 3)
			c := f.coordinator(patient)
			k := f.key(1)
			var asked atomic.Bool
			f.play(func(r *request) {
				switch {
				case r.Kind != protocol.ReadValue:
					r.vote(1, "")
				case !asked.Swap(true):
					incomplete(r)
					r.vote(1, "")
				default:
					r.pieces(reply, 0, len(reply), 1000)
					r.vote(1, "")
				}
			})
			require.Equal(t, []string{reply}, texts(run(t, c, get(k))))
			require.EqualValues(t, 1, c.Stats().Retries.Load())
		})
	}
}

// TestPiecesOfAnEarlierAttempt are no part of the reply to the last one.
func TestPiecesOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k := f.key(1)
	was, is := "$2000\r\n"+strings.Repeat("a", 2000)+"\r\n", "$2000\r\n"+strings.Repeat("b", 2000)+"\r\n"
	requests := make(chan *request, 10)
	f.play(func(r *request) {
		if r.Kind == protocol.ReadVersion {
			r.vote(2, "")
			return
		}
		requests <- r
	})
	result := runLater(t, c, get(k))
	first := <-requests
	first.pieces(was, 0, 1000, 500)
	first.unknown() // no vote: another majority is asked
	second := <-requests
	second.pieces(is, 0, 1000, 500)
	first.pieces(was, 1000, len(was), 500)
	second.pieces(is, 1000, len(is), 500)
	second.vote(2, "")
	require.Equal(t, []string{is}, texts(<-result))
}

// TestAReplyThatArrivesIsWaitedFor, though the time for it is up.
func TestAReplyThatArrivesIsWaitedFor(t *testing.T) {
	t.Parallel()
	st := &opState{phase: opReading}
	require.False(t, st.arrives(0), "nothing has come")
	s := &batchState{}
	s.piece(st, &protocol.ReplyPiece{Size: 10, Bytes: []byte("12345")})
	require.True(t, st.arrives(st.heard+pieceGrace/2))
	require.False(t, st.arrives(st.heard+pieceGrace))
	require.Nil(t, s.replyOf(st, &protocol.Result{}))
	s.piece(st, &protocol.ReplyPiece{Size: 10, Offset: 5, Bytes: []byte("67890")})
	require.Equal(t, "1234567890", string(s.replyOf(st, &protocol.Result{})))
	require.Equal(t, "short", string(s.replyOf(st, &protocol.Result{Reply: []byte("short")})))
}
