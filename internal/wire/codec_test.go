package wire

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// field is one kind of field: append a drawn value, and a check that decodes it.
type field func(t *rapid.T, dst []byte) ([]byte, func(*Decoder))

func fieldOf[T any](draw *rapid.Generator[T], add func([]byte, T) []byte, get func(*Decoder) T) field {
	return func(t *rapid.T, dst []byte) ([]byte, func(*Decoder)) {
		want := draw.Draw(t, "value")
		return add(dst, want), func(d *Decoder) { require.Equal(t, want, get(d)) }
	}
}

func fields() []field {
	ballot := rapid.Custom(func(t *rapid.T) record.Ballot {
		return record.Ballot{Counter: rapid.Uint64().Draw(t, "counter"), Incarnation: rapid.Uint64().Draw(t, "incarnation")}
	})
	version := rapid.Custom(func(t *rapid.T) record.Version {
		return record.Version{Ballot: ballot.Draw(t, "ballot"), Seq: rapid.Uint64().Draw(t, "seq")}
	})
	value := rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) []byte { return append([]byte{}, b...) })
	state := rapid.Custom(func(t *rapid.T) record.State {
		return record.State{
			Type: record.Type(rapid.ByteMax(254).Draw(t, "type")), ExpireAt: rapid.Int64().Draw(t, "expiry"), Value: value.Draw(t, "value"),
		}
	})
	return []field{
		fieldOf(rapid.Uint64(), AppendUvarint, (*Decoder).Uvarint),
		fieldOf(rapid.Int64(), AppendVarint, (*Decoder).Varint),
		fieldOf(rapid.Uint16(), AppendUint16, (*Decoder).Uint16),
		fieldOf(rapid.Uint64(), AppendUint64, (*Decoder).Uint64),
		fieldOf(rapid.Bool(), AppendBool, (*Decoder).Bool),
		fieldOf(rapid.Byte(), func(dst []byte, b byte) []byte { return append(dst, b) }, (*Decoder).Byte),
		fieldOf(value, AppendBytes[[]byte], (*Decoder).Bytes),
		fieldOf(ballot, AppendBallot, (*Decoder).Ballot),
		fieldOf(version, AppendVersion, (*Decoder).Version),
		fieldOf(state, AppendState, (*Decoder).State),
	}
}

func TestWhatIsAppendedIsDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var body []byte
		var checks []func(*Decoder)
		for _, f := range rapid.SliceOfN(rapid.SampledFrom(fields()), 0, 10).Draw(t, "fields") {
			var check func(*Decoder)
			body, check = f(t, body)
			checks = append(checks, check)
		}
		d := NewDecoder(body)
		for _, check := range checks {
			check(&d)
		}
		require.NoError(t, d.Done())

		// Cut off anywhere, decoding fails, and says so at the end.
		if len(body) > 0 {
			d = NewDecoder(body[:rapid.IntRange(0, len(body)-1).Draw(t, "cut")])
			d.Uint64()
			for d.More() {
				d.Bytes()
			}
			d.Uint64()
			require.ErrorIs(t, d.Done(), ErrMalformed)
		}
	})
}

func TestDecoderFailsForGood(t *testing.T) {
	d := NewDecoder([]byte{5, 'a', 'b'})
	require.Nil(t, d.Bytes())
	require.ErrorIs(t, d.Err(), ErrMalformed)
	require.Zero(t, d.Byte())
	require.False(t, d.More())
	require.ErrorIs(t, d.Done(), ErrMalformed)

	d = NewDecoder([]byte{1, 2})
	require.True(t, d.Bool())
	require.ErrorContains(t, d.Done(), "1 bytes too many")
}

func TestCountIsBoundedByWhatIsThere(t *testing.T) {
	d := NewDecoder(append(AppendUvarint(nil, 3), make([]byte, 6)...))
	require.Equal(t, 3, d.Count(2))
	d = NewDecoder(append(AppendUvarint(nil, 1<<62), make([]byte, 6)...))
	require.Zero(t, d.Count(1))
	require.ErrorIs(t, d.Err(), ErrMalformed)
}

func TestVersionIsCompact(t *testing.T) {
	v := record.Version{Ballot: record.Ballot{Counter: 3, Incarnation: 1 << 63}, Seq: 100}
	require.Len(t, AppendVersion(nil, v), 10)
}

// TestStatesWhoseObjectWentAhead have it, or are missing; where nobody expects any they are malformed.
func TestStatesWhoseObjectWentAhead(t *testing.T) {
	there := object{7}
	body := AppendStateAhead(nil, record.State{Type: record.Hash, ExpireAt: -5, Object: there}, 9)
	body = AppendState(body, record.State{Type: record.String, Value: []byte("v")})
	decode := func(ahead func(uint64) record.State) (first, second record.State, d Decoder) {
		d = NewDecoder(body)
		d.Ahead = ahead
		return d.State(), d.State(), d
	}
	first, second, d := decode(func(id uint64) record.State {
		require.EqualValues(t, 9, id)
		return record.State{Type: record.Hash, Object: there}
	})
	require.NoError(t, d.Done())
	require.False(t, d.Missing())
	require.Equal(t, record.State{Type: record.Hash, ExpireAt: -5, Object: there}, first)
	require.Equal(t, "v", string(second.Value))

	for _, other := range []record.State{{}, {Type: record.Hash}, {Type: 77, Object: there}} {
		first, second, d = decode(func(uint64) record.State { return other })
		require.NoError(t, d.Done())
		require.True(t, d.Missing())
		require.False(t, d.Missing(), "it is said once")
		require.Equal(t, record.State{}, first)
		require.Equal(t, "v", string(second.Value))
	}

	_, _, d = decode(nil)
	require.ErrorIs(t, d.Err(), ErrMalformed)
}

// object is some object.
type object []byte

func (o object) Size() int                  { return len(o) }
func (o object) AppendTo(dst []byte) []byte { return append(dst, o...) }
func (o object) Memory() int                { return len(o) }
func (o object) Reader() io.Reader          { return bytes.NewReader(o) }
