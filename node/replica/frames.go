package replica

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/peer"
)

// frameBuffer is a frame under construction.
type frameBuffer struct {
	buf   []byte
	start int
	full  [][]byte // frames before it, of full length
	size  int      // of these
}

// peerBuffer is the frames for a peer.
type peerBuffer struct {
	frameBuffer
	peer *peer.Peer // nil while there are none
}

// flush hands the frames over to the peer, if there are any.
func (f *peerBuffer) flush() {
	if len(f.buf) > 0 {
		f.hand(f.peer.Send)
	}
}

// maxFrame is the length from which a frame is closed and another one begun, so
// that no frame comes near the transport's cap.
const maxFrame = 1 << 20

// MaxKept bounds the buffers that wait to be used again: some frames of full length. (What had to be allocated
// anew for each round took most of a node's time with values of 64 KiB.)
const MaxKept = 4 << 20

// length returns how many bytes of frames there are.
func (f *frameBuffer) length() int { return f.size + len(f.buf) }

func (f *frameBuffer) open(typ wire.FrameType) []byte {
	switch {
	case len(f.buf) == 0:
		f.start = 0
	case len(f.buf)-f.start < maxFrame:
		return f.buf
	default:
		f.full = append(f.full, wire.EndFrame(f.buf, f.start))
		f.size += len(f.buf)
		f.buf, f.start = buffer.Get(0), 0
	}
	f.buf = wire.BeginFrame(f.buf, typ)
	return f.buf
}

// hand ends the frame under construction and hands all of them over, to who returns memory instead.
func (f *frameBuffer) hand(to func(frames []byte) []byte) {
	for _, frames := range f.full {
		buffer.Put(to(frames))
	}
	f.drop()
	f.buf = to(wire.EndFrame(f.buf, f.start))
}

// drop forgets the frames before the one under construction.
func (f *frameBuffer) drop() {
	clear(f.full)
	f.full, f.size = f.full[:0], 0
}

// recycle keeps the memory for frames, unless it is a lot.
func (f *frameBuffer) recycle() {
	f.drop()
	f.buf = keep(f.buf)
}

func keep(buf []byte) []byte {
	if cap(buf) > MaxKept {
		return nil
	}
	return buf[:0]
}
