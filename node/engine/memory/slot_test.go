package memory_test

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
)

// TestWhatTheKeysCameInIsForgotten: a key, or a value that is copied, is part of a frame with much else. An engine that keeps one of
// them for each slot holds 16,384 frames, which are nobody's any more.
func TestWhatTheKeysCameInIsForgotten(t *testing.T) {
	e := memory.New()
	for name, use := range map[string]func(key, value []byte) error{
		"get": func(key, _ []byte) error { _, _, err := e.Get(1, key); return err },
		"put": func(key, value []byte) error { return e.Put(1, key, text(value)) },
		"get, put and get": func(key, value []byte) error {
			_, _, _ = e.Get(2, key)
			_ = e.Put(2, key, text(value))
			_, _, err := e.Get(2, key)
			return err
		},
		"delete": func(key, _ []byte) error { return e.Delete(1, key) },
		"scan": func(key, _ []byte) error {
			return e.Scan(1, engine.PositionOf(key), func(engine.Position, []byte, record.Record) bool { return false })
		},
	} {
		t.Run(name, func(t *testing.T) {
			for number := range uint16(3) {
				require.NoError(t, e.Put(number, []byte("a key"), text([]byte("a value"))))
			}
			forgotten := func() weak.Pointer[[64 << 10]byte] {
				frame := new([64 << 10]byte)
				key, value := frame[100:100+len("a key")], frame[200:200+record.CopiedValue]
				copy(key, "a key")
				require.NoError(t, use(key, value))
				return weak.Make(frame)
			}()
			runtime.GC()
			require.Nil(t, forgotten.Value())
		})
	}
	runtime.KeepAlive(e)
}

// TestAKeyThatTakesAnothersPlace: the bytes of a key that was looked up become those of another one.
func TestAKeyThatTakesAnothersPlace(t *testing.T) {
	e := memory.New()
	buf := make([]byte, 3)
	for i := range 100 {
		require.NoError(t, e.Put(1, fmt.Appendf(nil, "%03d", i), text(fmt.Append(nil, i))))
	}
	for i := range 100 {
		rec, found, err := e.Get(1, fmt.Appendf(buf[:0], "%03d", i))
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, fmt.Sprint(i), string(rec.State.Value))
	}
}

func text(value []byte) record.Record {
	return record.Record{State: record.State{Type: record.String, Value: value}}
}
