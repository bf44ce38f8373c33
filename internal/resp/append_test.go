package resp

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
)

func TestAppend(t *testing.T) {
	for want, got := range map[string][]byte{
		"+PONG\r\n":                     AppendSimple(nil, "PONG"),
		":0\r\n":                        AppendInt(nil, 0),
		":9\r\n":                        AppendInt(nil, 9),
		":10\r\n":                       AppendInt(nil, 10),
		":-1\r\n":                       AppendInt(nil, -1),
		":-9223372036854775808\r\n":     AppendInt(nil, math.MinInt64),
		"*0\r\n":                        AppendArray(nil, 0),
		"*3\r\n":                        AppendArray(nil, 3),
		"*1000\r\n":                     AppendArray(nil, 1000),
		"*6\r\n":                        AppendMap(nil, 3, false),
		"%3\r\n":                        AppendMap(nil, 3, true),
		"*2\r\n":                        AppendSet(nil, 2, false),
		"~2\r\n":                        AppendSet(nil, 2, true),
		"$0\r\n\r\n":                    AppendBulk(nil, ""),
		"$3\r\na\nb\r\n":                AppendBulk(nil, "a\nb"),
		"-ERR 'a  b' is no command\r\n": AppendError(nil, "ERR 'a\r\nb' is no command\r\n\n"),
		"-ERR simple\r\n":               AppendError(nil, "ERR simple"),
		"-\r\n":                         AppendError(nil, "\r\n"),
	} {
		require.Equal(t, want, string(got))
		require.Equal(t, "before"+want, string(append([]byte("before"), got...)))
	}
}

func TestValue(t *testing.T) {
	for reply, want := range map[string]struct {
		kind byte
		text any
	}{
		"+OK\r\n":                             {'+', "OK"},
		"-ERR no\r\nrest":                     {'-', "ERR no"},
		":12\r\n":                             {':', "12"},
		"$0\r\n\r\n":                          {'$', ""},
		"$2\r\n\r\n\r\n":                      {'$', "\r\n"},
		"$-1\r\n":                             {'$', nil},
		"$3\r\nab\r\n":                        {0, nil},
		"$3\r\nabcde":                         {0, nil},
		"$9223372036854775807\r\n":            {0, nil},
		"_\r\n":                               {0, nil},
		"*0\r\n":                              {0, nil},
		"":                                    {0, nil},
		strings.Repeat("*1\r\n", 1e6) + "$-1": {0, nil},
	} {
		kind, text := Value([]byte(reply))
		require.Equal(t, want.kind, kind, "%.40q", reply)
		if want.text == nil {
			require.Nil(t, text, "%.40q", reply)
			continue
		}
		require.NotNil(t, text, "%.40q", reply)
		require.Equal(t, want.text, string(text), "%.40q", reply)
	}
}

var sink []byte

// BenchmarkAppend compares what builds replies with redcon's.
func BenchmarkAppend(b *testing.B) {
	const text = "ERR value is not an integer or out of range"
	small, large := []byte(strings.Repeat("v", 64)), []byte(strings.Repeat("v", 16<<10))
	for _, c := range []struct {
		name         string
		ours, redcon func(dst []byte) []byte
	}{
		{"bulk=64", func(d []byte) []byte { return AppendBulk(d, small) }, func(d []byte) []byte { return redcon.AppendBulk(d, small) }},
		{"bulk=16KiB", func(d []byte) []byte { return AppendBulk(d, large) }, func(d []byte) []byte { return redcon.AppendBulk(d, large) }},
		{"int=1", func(d []byte) []byte { return AppendInt(d, 1) }, func(d []byte) []byte { return redcon.AppendInt(d, 1) }},
		{"int=12345678", func(d []byte) []byte { return AppendInt(d, 12345678) }, func(d []byte) []byte { return redcon.AppendInt(d, 12345678) }},
		{"array=3", func(d []byte) []byte { return AppendArray(d, 3) }, func(d []byte) []byte { return redcon.AppendArray(d, 3) }},
		{"array=100", func(d []byte) []byte { return AppendArray(d, 100) }, func(d []byte) []byte { return redcon.AppendArray(d, 100) }},
		{"simple", func(d []byte) []byte { return AppendSimple(d, "PONG") }, func(d []byte) []byte { return redcon.AppendString(d, "PONG") }},
		{"error", func(d []byte) []byte { return AppendError(d, text) }, func(d []byte) []byte { return redcon.AppendError(d, text) }},
		{"null", func(d []byte) []byte { return AppendNull(d, false) }, redcon.AppendNull},
	} {
		b.Run(c.name+"/ours", func(b *testing.B) { benchmarkAppend(b, c.ours) })
		b.Run(c.name+"/redcon", func(b *testing.B) { benchmarkAppend(b, c.redcon) })
	}
}

func benchmarkAppend(b *testing.B, appendTo func(dst []byte) []byte) {
	b.ReportAllocs()
	dst := make([]byte, 0, 32<<10)
	for range b.N {
		sink = appendTo(dst[:0])
	}
}

// BenchmarkReaders compares Reader with redcon's: SET in pipelines, and an MSET that comes in pieces as a network brings them.
func BenchmarkReaders(b *testing.B) {
	set := "*3\r\n$3\r\nSET\r\n$12\r\nkey:00000001\r\n$64\r\n" + strings.Repeat("v", 64) + "\r\n"
	for _, depth := range []int{1, 64} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			benchmarkReaders(b, strings.Repeat(set, depth), len(set)*depth)
		})
	}
	mset := AppendArray(nil, 20_001)
	mset = AppendBulk(mset, "MSET")
	for i := range 10_000 {
		mset = AppendBulk(AppendBulk(mset, fmt.Sprint("key:", i)), "value")
	}
	b.Run("torn", func(b *testing.B) { benchmarkReaders(b, string(mset), 1448) })
}

func benchmarkReaders(b *testing.B, data string, piece int) {
	b.Run("ours", func(b *testing.B) {
		r := NewReader(&pieces{data: []byte(data), most: piece}, Limits{})
		var batch Batch
		b.ReportAllocs()
		for n := 0; n < b.N; n += batch.Len() {
			if err := r.ReadBatch(&batch); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("redcon", func(b *testing.B) {
		r := redcon.NewReader(&pieces{data: []byte(data), most: piece})
		b.ReportAllocs()
		for range b.N {
			if _, err := r.ReadCommand(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// pieces repeats data without end, a piece with each read.
type pieces struct {
	data       []byte
	next, most int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), p.most)], p.data[p.next:])
	p.next = (p.next + n) % len(p.data)
	return n, nil
}

// FuzzValue: it does not panic, and says of a bulk string what is in it.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{"$3\r\nabc\r\n", "$9999999999\r\n", ":1\r\n", "*1\r\n", "$-1\r\n", "$2147483647\r\nx"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		Value(b)
		if kind, text := Value(AppendBulk(nil, b)); kind != '$' || !bytes.Equal(text, b) {
			t.Fatalf("%q", b)
		}
	})
}
