package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzPublished(f *testing.F) {
	f.Add(append(AppendPublished(nil, []Request{
		{Op: OpPublish, Args: [][]byte{[]byte("publish"), []byte("news"), []byte("hello")}},
		{Op: OpSPublish, Args: [][]byte{[]byte("spublish"), {}, {}}},
	}), "+OK\r\n"...))
	f.Add([]byte(published + "\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, reply []byte) {
		messages, rest, ok := Published(reply)
		require.LessOrEqual(t, len(messages), len(reply))
		if !ok {
			return
		}
		same, restOfSame, ok := Published(append(AppendPublished(nil, messages), rest...))
		require.True(t, ok)
		require.Equal(t, messages, same)
		require.Equal(t, rest, restOfSame)
	})
}
