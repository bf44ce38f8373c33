package rdb

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKnownPayload is the example of Redis' documentation.
func TestKnownPayload(t *testing.T) {
	const later = "\x00\xc0\n\x0d\x00n\x9fWE\x0e\xaec\xbb"
	const of7 = "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb"
	kind, items, _ := read(t, of7)
	require.Equal(t, String, kind)
	require.Equal(t, []string{"10"}, items)
	require.Equal(t, of7, string(Seal(AppendItem(Begin(nil, String, 1), []byte("10")))))
	_, err := Open([]byte(later), testLimit)
	require.ErrorIs(t, err, ErrChecksum)
}

// TestWhatIsRefused: payloads of later versions or with a wrong checksum, of types that are not supported, that are too short, too long or have nothing in them.
func TestWhatIsRefused(t *testing.T) {
	for _, short := range []string{"", "123456789", "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbc"} {
		_, err := Open([]byte(short), testLimit)
		require.ErrorIs(t, err, ErrChecksum)
	}
	for value, want := range map[string]error{
		"":              ErrFormat,
		"\x63":          ErrFormat,
		"\x0f\x01":      ErrFormat,
		"\x07\x01":      ErrKind,
		"\x01\x00":      ErrFormat,
		"\x01\x0f\x01a": ErrFormat,
		"\x00\x0eabc":   ErrFormat, // more than there is, the footer included
		"\x00\x81\xff\xff\xff\xff\xff\xff\xff\xffabc":   ErrFormat,
		"\x00\xc3\x02\x80\xff\xff\xff\xff\x00a":         ErrTooLong,
		"\x00\xc3\x02\x05\x00a":                         ErrFormat,
		"\x00\xc4a":                                     ErrFormat,
		"\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf8\x7f": ErrFormat, // not a number
		"\x03\x01\x01a\xfd":                             ErrFormat,
		"\x0b\x08\x02\x00\x00\x00\x00\x00\x00\x00":      ErrFormat,
		"\x10\x07\x07\x00\x00\x00\x00\x00\xff":          ErrFormat,
	} {
		v, err := Open(Seal([]byte(value)), testLimit)
		if err == nil {
			err = v.Each(func([]byte, float64) error { return nil })
		}
		require.ErrorIs(t, err, want, "%q", value)
	}
	v, err := Open(sample{List, []string{"abc", "def"}, nil}.payload(), 5)
	require.NoError(t, err)
	require.ErrorIs(t, v.Each(func([]byte, float64) error { return nil }), ErrTooLong)
	mine := errors.New("mine")
	require.ErrorIs(t, v.Each(func([]byte, float64) error { return mine }), mine)
}

// FuzzOpen: whatever a payload says, it is read within bounds, and what was read is the same when it is written and read again.
func FuzzOpen(f *testing.F) {
	for kind := String; kind <= Hash; kind++ {
		p := sample{kind, []string{"abc", "12", "-70000", "x"}, []float64{1, 2, -0.5, 0}}.payload()
		f.Add(p[:len(p)-footer])
	}
	for typ, packed := range map[byte][]byte{
		typeListZiplist: ziplistOf([]string{"a", "-5", "100000000000", "7"}), typeHashZiplist: ziplistOf([]string{"a", "300"}), typeHashZipmap: zipmapOf([]string{"a", "b"}),
		typeIntset:       []byte("\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x02\x00"),
		typeHashListpack: []byte("\x0b\x00\x00\x00\x02\x00\x81a\x02\x05\x01\xff"),
	} {
		f.Add(AppendItem([]byte{typ}, packed))
	}
	f.Add([]byte("\x12\x02\x01\x03abc\x02\x0b\x0b\x00\x00\x00\x02\x00\x81a\x02\x05\x01\xff"))
	f.Add([]byte("\x00\xc3\x04\x0a\x00a\xe0\x00"))
	const limit = 1 << 20
	f.Fuzz(func(t *testing.T, value []byte) {
		v, err := Open(Seal(value), limit)
		if err != nil {
			require.True(t, errors.Is(err, ErrFormat) || errors.Is(err, ErrKind), err)
			return
		}
		var s sample
		s.kind, s.items, s.scores = v.Kind, nil, nil
		size := 0
		err = v.Each(func(item []byte, score float64) error {
			size += len(item)
			s.items, s.scores = append(s.items, string(item)), append(s.scores, score)
			return nil
		})
		require.LessOrEqual(t, size, limit)
		if err != nil {
			require.True(t, errors.Is(err, ErrFormat) || errors.Is(err, ErrTooLong), err)
			return
		}
		if v.Kind == Stream {
			return // see FuzzStream
		}
		kind, items, scores := read(t, string(s.payload()))
		require.Equal(t, s.kind, kind)
		require.Equal(t, fmt.Sprint(s.items, s.scores), fmt.Sprint(items, scores))
	})
}
