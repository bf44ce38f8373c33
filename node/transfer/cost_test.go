package transfer

import (
	"fmt"
	"testing"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/replication"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// BenchmarkPlain is what it costs to send a string to a replica, and to receive it, without what the connection does: in one frame, as those are that are shorter than
// Ahead, and in pieces.
func BenchmarkPlain(b *testing.B) {
	for _, size := range []int{Ahead, 16 * Ahead} {
		m := accept("k", 10, plain(size))
		b.Run(fmt.Sprintf("%d MiB/frame", size>>20), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				out := buffer.Get(size + 100)
				out = protocol.AppendRequest(out, m)
				in := buffer.Append(buffer.Get(len(out)), out) // what the connection reads
				d := wire.NewDecoder(in)
				var got replication.Message
				protocol.DecodeRequest(&d, &got)
				if len(got.State.Value) != size {
					b.Fatal("it did not arrive")
				}
				buffer.Put(out)
				buffer.Put(in)
			}
		})
		b.Run(fmt.Sprintf("%d MiB/pieces", size>>20), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var out, read []byte
			in := NewIncoming(room())
			for b.Loop() {
				p := newPieces(1, &m.State)
				for !p.over() {
					out, _ = p.next(out[:0])
					read = append(read[:0], out[13:]...) // what the connection reads
					if err := in.Piece(read); err != nil {
						b.Fatal(err)
					}
				}
				var got record.State
				if got = in.Object(1); len(got.Value) != size {
					b.Fatal("it did not arrive")
				}
			}
		})
	}
}
