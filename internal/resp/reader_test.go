package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// readAll returns every command of the stream and the error that ended it.
func readAll(src io.Reader, limits Limits) (commands [][]string, err error) {
	r := NewReader(src, limits)
	var b Batch
	for {
		if err := r.ReadBatch(&b); err != nil {
			return commands, err
		}
		for i := range b.Len() {
			var args []string
			for _, arg := range b.Command(i) {
				args = append(args, string(arg))
			}
			commands = append(commands, args)
		}
	}
}

// The expectations were taken from redis-server 7.0.15, byte for byte.
func TestReaderUnderstandsWhatRedisUnderstands(t *testing.T) {
	for input, want := range map[string][][]string{
		"*1\r\n$4\r\nPING\r\n":                                   {{"PING"}},
		"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n":                         {{"ECHO", ""}},
		"*1\r\n$0\r\n\r\nPING\r\n":                               {{""}, {"PING"}},
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\nPING\r\n": {{"SET", "k", "a\r\nb"}, {"PING"}},
		"*0\r\nPING\r\n*-1\r\n*-5\r\nPING\r\n":                   {{"PING"}, {"PING"}},
		"*2\rX$4\rYECHOzz$2\r\nhi..PING\n":                       {{"ECHO", "hi"}, {"PING"}},
		"PING\nPING\r\n":                                         {{"PING"}, {"PING"}},
		"\v\n\r\n \t\nPING\n":                                    {{"PING"}},
		"  SET  k\tv \r\n":                                       {{"SET", "k", "v"}},
		"ECHO \"\"\r\nECHO ''\n":                                 {{"ECHO", ""}, {"ECHO", ""}},
		"ECHO a\"b c\"\n":                                        {{"ECHO", "ab c"}},
		"ECHO a\vb\rc\n":                                         {{"ECHO", "a\vb", "c"}},
		"ECHO \v\v\"x\"\v\n":                                     {{"ECHO", "x"}},
		`ECHO "\x41\n\r\t\b\a\q\"\xZZ\x4"` + "\n":                {{"ECHO", "A\n\r\t\b\aq\"xZZx4"}},
		`ECHO '\'\x41"'` + "\n":                                  {{"ECHO", `'\x41"`}},
		"":                                                       nil,
		"\r\n":                                                   nil,
	} {
		got, err := readAll(strings.NewReader(input), Limits{})
		require.ErrorIs(t, err, io.EOF, "%q", input)
		require.Equal(t, want, got, "%q", input)
	}
}

// The texts were taken from redis-server 7.0.15, except for "too big request"
// (there Redis just closes the connection).
func TestReaderRefusesWhatRedisRefuses(t *testing.T) {
	const ping = "*1\r\n$4\r\nPING\r\n"
	for input, want := range map[string]string{
		"*1\r\n$9223372036854775800\r\nPING\r\n": "invalid bulk length",
		"*1\r\n$9223372036854775808\r\nPING\r\n": "invalid bulk length",
		"*1\r\n$-1\r\n":                          "invalid bulk length",
		"*1\r\n$01\r\na\r\n":                     "invalid bulk length",
		"*1\r\n$\r\n":                            "invalid bulk length",
		"*1\r\n$\r\n\r\n\r\n":                    "invalid bulk length",
		"*1\r\n$67108865\r\n":                    "invalid bulk length",
		"*1\r\nPING\r\n":                         "expected '$', got 'P'",
		"*1\r\n\r\n":                             "expected '$', got '\r'",
		"*1\r\n\xffx\r\n":                        "expected '$', got '\xff'",
		"*99999999999\r\nx":                      "invalid multibulk length",
		"*1048577\r\n":                           "invalid multibulk length",
		"*3000000000\r\n":                        "invalid multibulk length",
		"*-0\r\n":                                "invalid multibulk length",
		"*+1\r\n":                                "invalid multibulk length",
		"*01\r\n":                                "invalid multibulk length",
		"*\r\n":                                  "invalid multibulk length",
		"*" + strings.Repeat("1", 65_537):        "too big mbulk count string",
		"*1\r\n$" + strings.Repeat("1", 65_537):  "too big bulk count string",
		strings.Repeat("a", 65_537):              "too big inline request",
		"ECHO \"a\r\n":                           "unbalanced quotes in request",
		"ECHO 'a'b\r\n":                          "unbalanced quotes in request",
		"ECHO \"a\"'b'\r\n":                      "unbalanced quotes in request",
		"ECHO \"a\\\r\n":                         "unbalanced quotes in request",
		"ECHO '\r\n":                             "unbalanced quotes in request",
		"*18\r\n$60000000\r\n":                   "", // incomplete, not an error
		"*1\r\n$00\r\n\r\n":                      "invalid bulk length",
		"*1\r\n$1x\r\na\r\n":                     "invalid bulk length",
	} {
		got, err := readAll(strings.NewReader(ping+input), Limits{})
		require.Equal(t, [][]string{{"PING"}}, got, "what came before the fault: %q", input)
		if want == "" {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			continue
		}
		var fault *ProtocolError
		require.ErrorAs(t, err, &fault, "%.80q", input)
		require.Equal(t, "Protocol error: "+want, fault.Error(), "%.80q", input)
	}
}

func TestReaderLimits(t *testing.T) {
	limits := Limits{MaxBulk: 10, MaxArgs: 3, MaxInline: 20, MaxRequest: 40}
	for input, want := range map[string]error{
		"*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n": io.EOF,
		"*4\r\n":                      errArrayLength,
		"*1\r\n$10\r\n0123456789\r\n": io.EOF,
		"*1\r\n$11\r\n":               errBulkLength,
		"*3\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n$1\r\n":          errRequestTooLong,
		strings.Repeat("a", 20) + "\n":                                    io.EOF,
		strings.Repeat("a", 21) + "\n":                                    errInlineTooLong,
		strings.Repeat("a", 19) + "\r\n" + strings.Repeat("b", 20) + "\n": io.EOF,
	} {
		_, err := readAll(strings.NewReader(input), limits)
		require.Equal(t, want, err, "%q", input)
	}
}

func TestReaderBeforeAuthentication(t *testing.T) {
	const auth = "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n"
	limits := Limits{}.BeforeAuthentication()
	for input, want := range map[string]*ProtocolError{
		"*11\r\n":           errArrayLengthAuth,
		"*1\r\n$16385\r\n":  errBulkLengthAuth,
		"*1\r\n$x\r\n":      errBulkLength,
		"*1\r\n$-1\r\n":     errBulkLength,
		"*10\r\n$16385\r\n": errBulkLengthAuth,
	} {
		got, err := readAll(strings.NewReader(auth+input), limits)
		require.Equal(t, [][]string{{"AUTH", "pw"}}, got)
		require.Equal(t, want, err, "%q", input)
	}

	// What was pipelined behind AUTH is read under the limits that follow from it.
	big := strings.Repeat("v", 20_000)
	r := NewReader(strings.NewReader(auth+fmt.Sprintf("*1\r\n$%d\r\n%s\r\n", len(big), big)), limits)
	var b Batch
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, 1, b.Len())
	r.SetLimits(Limits{})
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, big, string(b.Command(0)[0]))
}

// readCounter counts the reads and gives at most chunk bytes to each.
type readCounter struct {
	src   io.Reader
	chunk int
	reads int
}

func (c *readCounter) Read(p []byte) (int, error) {
	c.reads++
	return c.src.Read(p[:min(len(p), c.chunk)])
}

func TestReaderTakesAllThatArrivedWithOneRead(t *testing.T) {
	src := &readCounter{src: strings.NewReader(strings.Repeat("*1\r\n$4\r\nPING\r\n", 100)), chunk: 1405}
	r := NewReader(src, Limits{})
	var b Batch
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, 100, b.Len())
	require.Equal(t, 1, src.reads)
	require.Equal(t, io.EOF, r.ReadBatch(&b))
	require.Zero(t, b.Len())

	// More commands than a batch holds: the rest comes without another read.
	src = &readCounter{src: strings.NewReader(strings.Repeat("PING\n", MaxBatch+500)), chunk: 1 << 20}
	r = NewReader(src, Limits{})
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, MaxBatch, b.Len())
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, 500, b.Len())
	require.Equal(t, 1, src.reads)
}

func TestReaderErrorsOfTheSource(t *testing.T) {
	r := NewReader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("PING\nECHO"))), Limits{})
	var b Batch
	require.ErrorIs(t, r.ReadBatch(&b), iotest.ErrTimeout)
	require.NoError(t, r.ReadBatch(&b), "a time-out passes")
	require.Equal(t, "PING", string(b.Command(0)[0]))
	require.Equal(t, io.ErrUnexpectedEOF, r.ReadBatch(&b))

	r = NewReader(iotest.DataErrReader(strings.NewReader("PING\nPI")), Limits{})
	require.NoError(t, r.ReadBatch(&b), "data before the error")
	require.Equal(t, io.ErrUnexpectedEOF, r.ReadBatch(&b))

	r = NewReader(iotest.ErrReader(os.ErrClosed), Limits{})
	require.ErrorIs(t, r.ReadBatch(&b), os.ErrClosed)

	r = NewReader(stuck{}, Limits{})
	require.ErrorIs(t, r.ReadBatch(&b), io.ErrNoProgress)

	r = NewReader(strings.NewReader("*x\r\nPING\r\n"), Limits{})
	for range 3 {
		require.Equal(t, errArrayLength, r.ReadBatch(&b), "protocol errors stay")
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// fed is a source that hands out what it is fed and then fails, so that a test can
// look at the reader between two reads.
type fed struct{ bytes.Buffer }

var errHungry = errors.New("hungry")

func (f *fed) Read(p []byte) (int, error) {
	if f.Len() == 0 {
		return 0, errHungry
	}
	return f.Buffer.Read(p)
}

// TestReaderSaysWhatItHas: whoever does not read again because nothing is buffered misses
// nothing that has arrived.
func TestReaderSaysWhatItHas(t *testing.T) {
	const limit = MaxBatch
	for input, want := range map[string][]bool{ // after each batch
		"PING\r\n":                        {false},
		"PING\r\nPI":                      {false},
		strings.Repeat("PING\r\n", limit): {false},
		strings.Repeat("PING\r\n", limit) + "PING\r\n": {true, false},
		"PING\r\n*x\r\n": {true},
	} {
		r := NewReader(strings.NewReader(input), Limits{})
		var b Batch
		for i := range want {
			require.NoError(t, r.ReadBatch(&b))
			require.Equal(t, want[i], r.Buffered(), "%.20q after batch %d", input, i)
		}
	}
	r := NewReader(strings.NewReader("PING\r\nPING\r\n"), Limits{}.BeforeAuthentication())
	var b Batch
	require.NoError(t, r.ReadBatch(&b))
	require.True(t, r.Buffered(), "one command at a time before authentication")
}

func TestReaderMemoryGrowsWithBytesReceivedOnly(t *testing.T) {
	src := new(fed)
	r := NewReader(src, Limits{})
	var b Batch
	src.WriteString("*1048576\r\n$67108864\r\n")
	require.ErrorIs(t, r.ReadBatch(&b), errHungry)
	require.Len(t, r.buf, initialBuffer)
	require.Less(t, cap(r.request.spans), 10)

	chunk := make([]byte, 9_999)
	for received := 0; received < 5<<20; received += len(chunk) {
		src.Write(chunk)
		require.ErrorIs(t, r.ReadBatch(&b), errHungry)
		require.LessOrEqual(t, len(r.buf), initialBuffer+8*(received+len(chunk)))
	}
}

func TestReaderShrinksAfterABigCommand(t *testing.T) {
	src := new(fed)
	r := NewReader(src, Limits{})
	var b Batch
	big := strings.Repeat("x", 5<<20)
	fmt.Fprintf(src, "*2\r\n$4\r\nECHO\r\n$%d\r\n%s\r\n", len(big), big)
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, big, string(b.Command(0)[1]))

	src.WriteString("*2\r\n$4\r\nECHO\r\n")
	require.ErrorIs(t, r.ReadBatch(&b), errHungry)
	require.Len(t, r.buf, initialBuffer)
	for _, arg := range b.args[:cap(b.args)] {
		require.Nil(t, arg, "the batch lets the big buffer go")
	}
	src.WriteString("$2\r\nhi\r\n")
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, "hi", string(b.Command(0)[1]))

	many := 200_000
	fmt.Fprintf(src, "*%d\r\n%s", many, strings.Repeat("$1\r\na\r\n", many))
	require.NoError(t, r.ReadBatch(&b))
	require.Len(t, b.Command(0), many)
	require.ErrorIs(t, r.ReadBatch(&b), errHungry)
	require.LessOrEqual(t, cap(r.request.spans), keptSpans)
	require.Zero(t, cap(b.args))
}

func TestReaderAllocatesNothing(t *testing.T) {
	src := new(loop)
	src.data = []byte(strings.Repeat("*3\r\n$3\r\nSET\r\n$5\r\nkey:1\r\n$8\r\n12345678\r\nECHO \"a\\x41 b\"\r\n", 50))
	r := NewReader(src, Limits{})
	var b Batch
	run := func() {
		if err := r.ReadBatch(&b); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		run()
	}
	require.Zero(t, testing.AllocsPerRun(100, run))
}

// loop repeats data without end.
type loop struct {
	data []byte
	next int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.data[l.next:])
	l.next = (l.next + n) % len(l.data)
	return n, nil
}

func BenchmarkReader(b *testing.B) {
	for _, depth := range []int{1, 16, 300} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			one := "*3\r\n$3\r\nSET\r\n$12\r\nkey:00000001\r\n$64\r\n" + strings.Repeat("v", 64) + "\r\n"
			src := &loop{data: []byte(strings.Repeat(one, depth))}
			r := NewReader(src, Limits{})
			var batch Batch
			b.ReportAllocs()
			for n := 0; n < b.N; n += batch.Len() {
				if err := r.ReadBatch(&batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestFirstLineOfHTTP: it is no command, whatever its method; as an argument it is nothing special.
func TestFirstLineOfHTTP(t *testing.T) {
	for line, isHTTP := range map[string]bool{
		"DEL /k HTTP/1.1": true, "SET /k HTTP/1.0": true, "x  HTTP/1.1": true, "GET /'\" HTTP/1.1": true, " HTTP/1.1": true,
		"HTTP/1.1": false, "SET k HTTP/1.1x": false, "SET k http/1.1": false, "SET HTTP/1.1 k": false, "SET k \" HTTP/1.1\"": false,
	} {
		var batch Batch
		err := NewReader(strings.NewReader(line+"\r\n"), Limits{}).ReadBatch(&batch)
		if isHTTP {
			require.ErrorIs(t, err, ErrHTTP, line)
		} else {
			require.NoError(t, err, line)
		}
	}
	var batch Batch
	require.NoError(t, NewReader(strings.NewReader("*2\r\n$4\r\nECHO\r\n$11\r\n/x HTTP/1.1\r\n"), Limits{}).ReadBatch(&batch))
	require.Equal(t, 1, batch.Len())
}

// TestAReaderRests: it holds no buffer until something comes, unless something is in it, and reads on as if nothing had been.
func TestAReaderRests(t *testing.T) {
	var src oneByOne
	r := NewReader(&src, Limits{})
	var b Batch
	src.next = []byte("*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nEC")
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, "PING", string(b.Command(0)[0]))
	r.Rest(&b)
	require.NotNil(t, r.buf, "half a command is in it")
	src.next = []byte("HO\r\n$1\r\na\r\n")
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, []string{"ECHO", "a"}, []string{string(b.Command(0)[0]), string(b.Command(0)[1])})
	for range 2 {
		r.Rest(&b)
		require.Nil(t, r.buf)
		require.Zero(t, b.Len())
		require.Zero(t, r.Pending())
		require.False(t, r.Buffered())
	}
	src.next = []byte("PING\r\n")
	require.NoError(t, r.ReadBatch(&b))
	require.Equal(t, "PING", string(b.Command(0)[0]))
	require.Len(t, r.buf, initialBuffer)
}

// oneByOne is a source that has a piece at a time.
type oneByOne struct{ next []byte }

func (p *oneByOne) Read(buf []byte) (int, error) {
	n := copy(buf, p.next)
	p.next = p.next[n:]
	return n, nil
}
