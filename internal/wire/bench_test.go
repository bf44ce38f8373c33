package wire

import (
	"context"
	"testing"
	"time"
)

// BenchmarkPingPong sends small frames over loopback and waits for each batch of
// them: one operation is one frame there and back.
func BenchmarkPingPong(b *testing.B) {
	for _, depth := range []int{1, 64} {
		b.Run(map[int]string{1: "depth1", 64: "depth64"}[depth], func(b *testing.B) { pingPong(b, depth) })
	}
}

func pingPong(b *testing.B, depth int) {
	listener := loopback(b)
	serve(b, listener, ServerConfig{})
	up, batch := make(chan struct{}), make(chan struct{}, 1)
	received := 0
	link := NewLink(LinkConfig{
		Address: listener.Addr().String(),
		OnUp:    func(uint64, Hello) { close(up) },
		OnFrame: func(FrameType, []byte, time.Duration) {
			if received++; received%depth == 0 {
				batch <- struct{}{}
			}
		},
	})
	link.Start(context.Background())
	defer link.Close()
	<-up
	body := make([]byte, 64)
	var buf []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	b.ResetTimer()
	for sent := 0; sent < b.N; sent += depth {
		buf = buf[:0]
		for range depth {
			buf = appendFrame(buf, typeEcho, body)
		}
		if err := link.SendFrames(buf); err != nil {
			b.Fatal(err)
		}
		<-batch
	}
}
