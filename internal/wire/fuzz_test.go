package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
	"github.com/quolldb/quoll/internal/record"
)

// mend corrects the checksums of the frames in a stream: fuzzing would not get past
// them by chance. A peer that means harm would.
func mend(stream []byte) []byte {
	stream = bytes.Clone(stream)
	for rest := stream; len(rest) >= headerSize; {
		length := uint64(binary.LittleEndian.Uint32(rest))
		if length > uint64(len(rest)-headerSize) {
			break
		}
		payload := rest[headerSize : headerSize+length]
		binary.LittleEndian.PutUint32(rest[4:], crc32.Checksum(payload, castagnoli))
		rest = rest[headerSize+length:]
	}
	return stream
}

// chopped gives the bytes of a stream in reads of random length.
type chopped struct {
	src *bytes.Reader
	rnd *rand.Rand
}

func (c *chopped) Read(p []byte) (int, error) {
	return c.src.Read(p[:min(len(p), 1+c.rnd.IntN(1+c.rnd.IntN(100)))])
}

// FuzzFrameReader: however a stream is chopped into reads, the frames and the error are
// those that a look at the whole stream finds, and the buffer grows with the bytes that
// came, whatever lengths they declare.
func FuzzFrameReader(f *testing.F) {
	frames := appendFrame(appendFrame(nil, typeEcho, []byte("body")), framePing, make([]byte, pingLimit))
	for _, seed := range [][]byte{
		frames, frames[:len(frames)-1], frames[:3], appendFrame(nil, typeEcho, nil), make([]byte, 20),
		{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, {0, 0, 0, 0x7f, 0, 0, 0, 0, 16}, {4, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0},
		appendFrame(nil, typeEcho, make([]byte, 300)),
	} {
		f.Add(seed, uint64(1), true)
	}
	f.Add(append([]byte{5, 0, 0, 0, 1, 2, 3, 4}, "wrong"...), uint64(2), false)
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, honest bool) {
		if honest {
			stream = mend(stream)
		}
		const limit = 4 * readSize
		r := newFrameReader(&chopped{bytes.NewReader(stream), rand.New(rand.NewPCG(seed, 0))}, limit)
		for rest := stream; ; {
			want, wantErr := cut(rest, limit)
			got, err := r.next()
			require.LessOrEqual(t, len(r.buf), readSize+2*len(stream))
			require.ErrorIs(t, err, wantErr)
			if wantErr != nil {
				return
			}
			require.Equal(t, want[0], byte(got.typ))
			require.Equal(t, string(want[prefixSize:]), string(got.body))
			rest = rest[headerSize+len(want):]
		}
	})
}

// cut returns the payload of the frame that stream begins with, as the package comment
// describes it.
func cut(stream []byte, limit uint32) (payload []byte, err error) {
	if len(stream) == 0 {
		return nil, io.EOF
	}
	if len(stream) < headerSize {
		return nil, io.ErrUnexpectedEOF
	}
	length, sum := binary.LittleEndian.Uint32(stream), binary.LittleEndian.Uint32(stream[4:])
	switch {
	case length < prefixSize:
		return nil, ErrFrame
	case length > limit:
		return nil, ErrTooLarge
	case uint64(length) > uint64(len(stream)-headerSize):
		return nil, io.ErrUnexpectedEOF
	}
	payload = stream[headerSize : headerSize+length]
	if crc32.Checksum(payload, castagnoli) != sum {
		return nil, ErrChecksum
	}
	return payload, nil
}

// FuzzHandshake: whatever the other side says, a handshake ends, with an error that
// says what kind of fault it is. Without knowing the secret nobody gets in.
func FuzzHandshake(f *testing.F) {
	greeting := func(secret bool) []byte {
		return appendFrame(nil, frameGreeting, append(AppendBool(AppendUvarint([]byte(magic), ProtocolVersion), secret), make([]byte, 32)...))
	}
	hello := func(text string, proof int) []byte {
		return appendFrame(nil, frameHello, AppendBytes(AppendBytes(nil, text), make([]byte, proof)))
	}
	const who = `{"role":"node","name":"a","cluster":"c","properties":{"epoch":"7"}}`
	ready := appendFrame(nil, frameReady, nil)
	for _, secret := range []bool{false, true} {
		for _, dialer := range []bool{false, true} {
			for _, stream := range [][]byte{
				[]byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"), greeting(secret), greeting(!secret),
				bytes.Join([][]byte{greeting(secret), hello(who, 0), ready}, nil),
				bytes.Join([][]byte{greeting(secret), hello(who, 32), ready}, nil),
				bytes.Join([][]byte{greeting(secret), hello(`{"properties":{"a":1}}`, 0)}, nil),
				append(greeting(secret), appendFrame(nil, frameRefused, []byte("go away\x1b[2J\xff"))...),
				appendFrame(nil, frameGreeting, AppendUvarint([]byte(magic), 2)),
				{0xff, 0xff, 0x0f, 0, 0, 0, 0, 0},
			} {
				f.Add(secret, dialer, stream)
			}
		}
	}
	f.Fuzz(func(t *testing.T, secret, dialer bool, stream []byte) {
		h := &handshake{conn: io.Discard, in: newFrameReader(bytes.NewReader(mend(stream)), helloLimit)}
		if secret {
			h.secret = []byte("open sesame")
		}
		var err error
		if dialer {
			_, err = h.dial(Hello{Role: RoleTool}, nil)
		} else {
			_, err = h.accept(accept)
		}
		require.LessOrEqual(t, len(h.in.buf), readSize+2*len(stream))
		if err != nil {
			require.True(t, isFault(err) || lost(err), "%v", err)
			require.LessOrEqual(t, len(err.Error()), 2*reasonLimit)
			return
		}
		require.False(t, secret, "nobody guesses a proof")
	})
}

// FuzzServerBytes: no bytes make a server panic, leave a goroutine behind, or keep it
// from closing the connection.
func FuzzServerBytes(f *testing.F) {
	listener := pipes.Listen()
	handler := newEcho()
	serve(f, listener, ServerConfig{Handler: handler})
	f.Add(false, []byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(false, appendFrame(nil, frameGreeting, append(AppendBool(AppendUvarint([]byte(magic), 1), false), make([]byte, 32)...)))
	f.Add(true, appendFrame(appendFrame(nil, framePing, make([]byte, pingLimit)), typeEcho, []byte("body")))
	f.Add(true, appendFrame(appendFrame(nil, typeEcho, nil), framePong, make([]byte, pingLimit)))
	f.Add(true, appendFrame(nil, frameHello, []byte("late")))
	f.Add(true, appendFrame(nil, typePanic, nil))
	f.Fuzz(func(t *testing.T, greeted bool, stream []byte) {
		conn, err := listener.Dial(t.Context(), "")
		require.NoError(t, err)
		if greeted {
			_ = client(t, conn)
			<-handler.opened
		}
		hungUp := make(chan struct{})
		go func() {
			defer close(hungUp)
			_, _ = io.Copy(io.Discard, conn)
		}()
		_, _ = conn.Write(mend(stream))
		conn.Close()
		<-hungUp
		if greeted {
			err := <-handler.ended
			require.Error(t, err)
			if errors.Is(err, ErrPanic) {
				require.ErrorContains(t, err, "the handler was told to")
			}
		}
	})
}

// FuzzDecoder: no body makes a decoder panic or reserve memory for what is not there, a
// failure is for good, and what decodes is a view of the body.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, AppendState(nil, record.State{Type: record.String, Value: []byte("value")}))
	f.Add([]byte{8}, AppendState(nil, record.State{Type: record.String, ExpireAt: -1, Value: []byte("value")}))
	f.Add([]byte{7, 7}, AppendVersion(nil, record.Version{Ballot: record.Ballot{Counter: 1 << 63, Incarnation: 1}, Seq: 1 << 63}))
	f.Add([]byte{5, 5, 5}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{6}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, calls, body []byte) {
		d := NewDecoder(body)
		view := func(b []byte) { require.Contains(t, string(body), string(b)) }
		methods := []func(){
			func() { d.Byte() }, func() { d.Bool() }, func() { d.Uint16() }, func() { d.Uint64() },
			func() { d.Uvarint() }, func() { d.Varint() }, func() { view(d.Bytes()) }, func() { d.Version() },
			func() { view(d.State().Value) }, func() { require.LessOrEqual(t, d.Count(3), len(body)/3) },
		}
		for _, call := range calls {
			left, failed := len(d.rest), d.Err() != nil
			methods[int(call)%len(methods)]()
			require.LessOrEqual(t, len(d.rest), left)
			require.False(t, failed && d.Err() == nil)
		}
		failed := d.Err() != nil
		rest := d.Rest()
		require.False(t, failed && len(rest) > 0)
		require.True(t, bytes.HasSuffix(body, rest))
		require.Equal(t, failed, d.Done() != nil)
	})
}
