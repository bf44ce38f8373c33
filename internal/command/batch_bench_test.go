package command

import "testing"

// BenchmarkBatch is what it costs to send a transaction of three commands, and to take it apart.
func BenchmarkBatch(b *testing.B) {
	set := func(key string) Request {
		return Request{Op: OpSet, Args: [][]byte{[]byte("SET"), []byte("{group}:" + key), []byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")}}
	}
	batch := Batch{Array: true, Commands: []Request{set("a"), set("b"), set("c")}}
	key := batch.Commands[0].Args[1]
	b.Run("request", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			batch.Request(key, false)
		}
	})
	sent := batch.Request(key, false)
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			parsed, err := ParseBatch(&sent)
			if err != nil {
				b.Fatal(err)
			}
			if keys, ok := parsed.Keys(key); !ok || len(keys) != 3 {
				b.Fatal(keys)
			}
		}
	})
}
