package resp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
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
// are the same, nothing panics, and memory stays in proportion to the stream. Commands
// that are written as arrays of bulk strings come back as they were.
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
		"*-2147483648\r\n*2147483648\r\n",
		"*1\r\n$-9223372036854775808\r\n",
		"*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\n*1\r\n$-1\r\n",
		"$4\r\nPING\r\n+OK\r\n%1\r\n",
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
		again, err := readAll(bytes.NewReader(encode(whole)), Limits{})
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, whole, again)
		var fault *ProtocolError
		if !errors.As(wholeErr, &fault) {
			require.Contains(t, []error{io.EOF, io.ErrUnexpectedEOF}, wholeErr)
		}
	})
}

func encode(commands [][]string) []byte {
	var out []byte
	for _, args := range commands {
		out = AppendArray(out, len(args))
		for _, arg := range args {
			out = AppendBulk(out, arg)
		}
	}
	return out
}

func requireArgs(t *testing.T, want []string, got [][]byte) {
	t.Helper()
	require.NotEmpty(t, got)
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], string(got[i]))
	}
}

// FuzzInline compares the splitting of inline commands, which is done in place, with a
// transcription of Redis' sdssplitargs. Lines with NUL are left out: Redis waits for the
// end of such a line for ever, and here it is a byte like others.
func FuzzInline(f *testing.F) {
	for _, seed := range []string{
		"SET k v", `ECHO "a\x41\n" 'it\'s' x`, `"" ''`, `a"b"`, `"a"b`, `'a`, `"\`, `"\x4`, `"\x4g"`, "a\vb\fc", "\v\"x\"\v",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, 0) >= 0 {
			return
		}
		want, wantOK := sdssplitargs(string(line) + "\x00")
		line = bytes.Clone(line)
		spans, ok := splitInline(line, nil)
		require.Equal(t, wantOK, ok)
		if !ok {
			return
		}
		var got []string
		for _, s := range spans {
			got = append(got, string(line[s.start:s.start+s.length]))
		}
		require.Equal(t, want, got)
	})
}

// sdssplitargs is as Redis 7.0 has it. A NUL ends the line.
func sdssplitargs(p string) (args []string, ok bool) {
	for {
		for isSpace(p[0]) {
			p = p[1:]
		}
		if p[0] == 0 {
			return args, true
		}
		arg, rest, ok := sdsarg(p)
		if !ok {
			return nil, false
		}
		args, p = append(args, arg), rest
	}
}

// sdsarg takes one argument from the front of p.
func sdsarg(p string) (arg, rest string, ok bool) {
	isHex := func(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
	var quote byte
	for ; ; p = p[1:] {
		switch {
		case quote == '"' && len(p) > 4 && p[0] == '\\' && p[1] == 'x' && isHex(p[2]) && isHex(p[3]):
			n, _ := strconv.ParseUint(p[2:4], 16, 8)
			arg += string([]byte{byte(n)})
			p = p[3:]
		case quote == '"' && p[0] == '\\' && p[1] != 0:
			p = p[1:]
			if i := strings.IndexByte("nrtba", p[0]); i >= 0 {
				arg += "\n\r\t\b\a"[i : i+1]
			} else {
				arg += p[:1]
			}
		case quote == '\'' && p[0] == '\\' && p[1] == '\'':
			p = p[1:]
			arg += "'"
		case quote != 0 && p[0] == quote:
			return arg, p[1:], p[1] == 0 || isSpace(p[1])
		case quote != 0 && p[0] == 0:
			return "", "", false
		case quote == 0 && (p[0] == '"' || p[0] == '\''):
			quote = p[0]
		case quote == 0 && strings.IndexByte(" \n\r\t\x00", p[0]) >= 0:
			return arg, p, true
		default:
			arg += p[:1]
		}
	}
}

// FuzzInteger: what ParseInt takes is what strconv writes, and nothing else.
func FuzzInteger(f *testing.F) {
	for _, seed := range []string{"0", "-0", "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "+1", "01", " 1", "99999999999999999999"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want, err := strconv.ParseInt(string(text), 10, 64)
		canonical := err == nil && strconv.FormatInt(want, 10) == string(text)
		got, ok := ParseInt(text)
		require.Equal(t, canonical, ok)
		if ok {
			require.Equal(t, want, got)
		}
	})
}
