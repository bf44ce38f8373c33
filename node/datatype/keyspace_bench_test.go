package datatype

import (
	"testing"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// BenchmarkKeyspace is a transaction that sets three keys.
func BenchmarkKeyspace(b *testing.B) {
	value := []byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
	keys := [][]byte{[]byte("{group:000000000042}:0"), []byte("{group:000000000042}:1"), []byte("{group:000000000042}:2")}
	states := make([]record.State, len(keys))
	var commands []command.Request
	for i, key := range keys {
		states[i] = record.State{Type: record.String, Value: value}
		commands = append(commands, command.Request{Op: command.OpSet, Owned: true, Args: [][]byte{[]byte("SET"), key, value}})
	}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		k := NewKeyspace(keys, states, testNow, nil)
		dst = dst[:0]
		for i := range commands {
			dst = k.Execute(dst, &commands[i])
		}
		if k.Effects()[2].Kind != record.Replaced {
			b.Fatal(dst)
		}
	}
}
