package resp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chopped gives the bytes of a stream in reads of random length.
type chopped struct {
	src *bytes.Reader
	rnd *rand.Rand
}

func (c *chopped) Read(p []byte) (int, error) {
	return c.src.Read(p[:min(len(p), 1+c.rnd.IntN(1+c.rnd.IntN(40)))])
}

// FuzzReader: however a stream is chopped into reads, the commands and the error
// are the same, nothing panics, and memory stays in proportion to the stream.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"*1\r\n$4\r\nPING\r\n",
		"*1\r\n$9223372036854775800\r\nPING\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
		"*0\r\n*-1\r\nPING\r\n\r\n*1\r\nPING\r\n",
		"*1048576\r\n$67108864\r\nabc",
		"*3000000000\r\n$2000000000\r\n",
		"ECHO \"a\\x41\\n\" 'it\\'s' x\r\nECHO \"\n",
		"*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n*11\r\n",
		"PING\x00\n\xff\xfe\n",
		strings.Repeat("a", 200) + "\r\n",
		"*2\r\n$4\r\nECHO\r\n$" + "40000\r\n" + strings.Repeat("x", 40000) + "\r\nPING\n",
	} {
		for limits := range uint8(3) {
			f.Add([]byte(seed), uint64(1), limits)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, which uint8) {
		limits := []Limits{
			{},
			Limits{}.BeforeAuthentication(),
			{MaxBulk: 50, MaxArgs: 5, MaxInline: 30, MaxRequest: 100},
		}[which%3]
		whole, wholeErr := readAll(bytes.NewReader(stream), limits)
		pieces := &chopped{bytes.NewReader(stream), rand.New(rand.NewPCG(seed, 0))}
		r := NewReader(pieces, limits)
		var b Batch
		var i int
		for {
			err := r.ReadBatch(&b)
			require.LessOrEqual(t, len(r.buf), initialBuffer+8*len(stream))
			require.LessOrEqual(t, cap(r.request.spans), max(keptSpans, 2*len(stream)))
			if err != nil {
				require.Equal(t, wholeErr, err)
				break
			}
			require.NotZero(t, b.Len())
			for j := range b.Len() {
				require.Less(t, i, len(whole))
				requireArgs(t, whole[i], b.Command(j))
				i++
			}
		}
		require.Len(t, whole, i)
		var fault *ProtocolError
		if !errors.As(wholeErr, &fault) {
			require.Contains(t, []error{io.EOF, io.ErrUnexpectedEOF}, wholeErr)
		}
	})
}

func requireArgs(t *testing.T, want []string, got [][]byte) {
	t.Helper()
	require.NotEmpty(t, got)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], string(got[i]))
	}
}
