package bench

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestKeysHaveTheirLengthAndNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Uint64Range(0, 999_999).Draw(t, "number")
		prefix := rapid.SampledFrom([]string{"", "{a}", "key:"}).Draw(t, "prefix")
		size := rapid.IntRange(len(prefix)+6, 40).Draw(t, "size")
		opt := sensible()
		opt.Keys, opt.KeySize, opt.Prefixes = 1_000_000, size, []string{prefix}
		key := string(newKeyspace(opt.keyPrefix(0), size).append(nil, number))
		require.Len(t, key, size)
		if prefix == "" && size >= 10 {
			prefix = "key:"
		}
		digits, ok := strings.CutPrefix(key, prefix)
		require.True(t, ok, key)
		got, err := strconv.ParseUint(digits, 10, 64)
		require.NoError(t, err)
		require.Equal(t, number, got)
	})
}

func TestDistributions(t *testing.T) {
	const draws, keys = 200_000, 1000
	share := func(distribution string) (firstTenth, first float64) {
		pick := picker(rand.New(rand.NewPCG(1, 1)), distribution, keys)
		for range draws {
			n := pick()
			require.Less(t, n, uint64(keys))
			if n < keys/10 {
				firstTenth++
			}
			if n == 0 {
				first++
			}
		}
		return firstTenth / draws, first / draws
	}
	tenth, first := share(Uniform)
	require.InDelta(t, 0.1, tenth, 0.01)
	require.InDelta(t, 0.001, first, 0.0005)
	tenth, _ = share(Exponential)
	require.InDelta(t, 0.304, tenth, 0.01) // (1 - e^-0.35) / (1 - e^-3.5)
	_, first = share(Zipf)
	require.InDelta(t, 0.179, first, 0.01) // 1 / sum of n^-1.1 to 1000

	only := picker(rand.New(rand.NewPCG(1, 1)), Zipf, 1)
	require.Zero(t, only())
}

func TestValuesAreKnownByAnyPiece(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := newValues(rapid.IntRange(1, 200).Draw(t, "size"))
		number := rapid.Uint64().Draw(t, "number")
		value := v.append(nil, number)
		require.Len(t, value, v.size)
		from := rapid.IntRange(0, v.size-1).Draw(t, "from")
		piece := value[from:rapid.IntRange(from+1, v.size).Draw(t, "to")]
		require.True(t, v.matches(number, from, piece))
		piece[rapid.IntRange(0, len(piece)-1).Draw(t, "damaged")] ^= 1
		require.False(t, v.matches(number, from, piece))
		require.False(t, v.matches(number, v.size, []byte("x")), "longer than it must be")
		if v.size >= valueHead {
			require.False(t, v.matches(number+1, 0, v.append(nil, number)), "another key's")
		}
	})
}

func TestAnswersComeInAnyPieces(t *testing.T) {
	const text = "+OK\r\n-ERR no\r\n$5\r\nhello\r\n$-1\r\n:-12\r\n$0\r\n\r\n"
	for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.HalfReader(strings.NewReader(text))} {
		reads := 0
		in := reader{from: from, buf: make([]byte, 20), onRead: func() { reads++ }}
		var got []string
		for {
			r, err := in.next()
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			got = append(got, string(r.kind)+string(r.text)+strconv.FormatInt(r.n, 10))
			if r.kind == '$' && r.n >= 0 {
				var data bytes.Buffer
				require.NoError(t, in.body(int(r.n), func(at int, piece []byte) {
					require.Equal(t, data.Len(), at)
					data.Write(piece)
				}))
				got = append(got, data.String())
			}
		}
		require.Equal(t, []string{"+OK0", "-ERR no0", "$5", "hello", "$-1", ":-12", "$0", ""}, got)
		require.Positive(t, reads)
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 400 Bad Request\r\n", "+\n", "+OK\n", "$x\r\n", "$-2\r\n", "$99999999999\r\n", ":\r\n", ":1e3\r\n", "*-2\r\n", "%1\r\n", "\x00", "+" + strings.Repeat("x", maxLine),
	} {
		_, _, err := parse([]byte(text))
		require.ErrorIs(t, err, errNotRESP, text)
		require.NotContains(t, err.Error(), "\n")
	}
	_, size, err := parse([]byte("$12\r"))
	require.NoError(t, err)
	require.Zero(t, size, "not complete")
}

func TestSpread(t *testing.T) {
	require.Equal(t, Spread{P25: 2, Median: 3, P75: 4}, spread([]float64{5, 1, 4, 2, 3}))
	require.Equal(t, Spread{P25: 1.25, Median: 1.5, P75: 1.75}, spread([]float64{2, 1}))
	require.Equal(t, Spread{P25: 7, Median: 7, P75: 7}, spread([]float64{7}))
	require.Zero(t, spread(nil))
}
