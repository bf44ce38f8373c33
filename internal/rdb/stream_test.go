package rdb

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// streamPayload is a stream with a group, as it is written.
func streamPayload() []byte {
	w := new(StreamWriter)
	pieces := func(texts ...string) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for _, text := range texts {
				if !yield([]byte(text)) {
					return
				}
			}
		}
	}
	for i := range uint64(120) {
		w.Entry(StreamID{i + 1, i * 1000}, pieces("field", "12345678901", "other", "text"))
	}
	w.Entry(StreamID{500, 0}, pieces("another", "-70000"))
	w.Counters(StreamCounters{Last: StreamID{500, 0}, Added: 130}, StreamID{1, 0}, 1)
	w.Group([]byte("group"), StreamID{1, 0}, 1, 1)
	w.Pending(StreamID{1, 0}, 1000, 2)
	w.Consumers(1)
	w.Consumer([]byte("consumer"), 2000, 1)
	w.Owned(StreamID{1, 0})
	return w.Payload()
}

// TestStreamOfRedis: a Redis restores what is written, and what it dumps of that has the same items.
func TestStreamOfRedis(t *testing.T) {
	redis := startRedis(t)
	payload := string(Seal(streamPayload()))
	require.Equal(t, "+OK", redis.do(t, "RESTORE", "stream", "0", payload))
	kind, ours, _ := read(t, payload)
	require.Equal(t, Stream, kind)
	_, theirs, _ := read(t, redis.do(t, "DUMP", "stream"))
	require.Equal(t, ours, theirs)
	require.Equal(t, ":121", redis.do(t, "XLEN", "stream"))
}

// FuzzStream: whatever a payload says, it is read within bounds.
func FuzzStream(f *testing.F) {
	f.Add(streamPayload())
	const limit = 1 << 20
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, typ := range []byte{typeStream, typeStream2, typeStream3} {
			v, err := Open(Seal(slices.Concat([]byte{typ}, value[min(1, len(value)):])), limit)
			require.NoError(t, err)
			size := 0
			if err = v.Each(func(item []byte, _ float64) error { size += len(item); return nil }); err != nil {
				require.True(t, errors.Is(err, ErrFormat) || errors.Is(err, ErrTooLong), err)
			}
			require.LessOrEqual(t, size, limit)
		}
	})
}
