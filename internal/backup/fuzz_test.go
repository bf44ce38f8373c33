package backup

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

func appendChecksum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// FuzzReader: whatever a file is, reading it ends, with an error or at its end.
func FuzzReader(f *testing.F) {
	file := write(f, testHeader(), testChunks())
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add(bytes.Join(blocks(file)[1:], nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, chunks, err := readAll(bytes.NewReader(data))
		if err == nil {
			again, copied, err := readAll(bytes.NewReader(write(t, *in.Header(), chunks)))
			require.NoError(t, err)
			require.Equal(t, chunks, copied)
			require.Equal(t, in.Counts(), again.Counts())
		}
	})
}

func none(uint64) record.State { return record.State{} }

// FuzzChunk gets behind the checksums, which a fuzzer does not guess.
func FuzzChunk(f *testing.F) {
	for _, c := range testChunks() {
		f.Add(appendChunk(nil, &c, 0))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var c, again Chunk
		if decodeChunk(&c, body, none) != nil {
			return
		}
		require.NoError(t, decodeChunk(&again, appendChunk(nil, &c, 0), none))
		require.Equal(t, c, again)
	})
}
