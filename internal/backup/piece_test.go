package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// object is a large object, whatever it means.
type object []byte

func (o object) Size() int                  { return len(o) }
func (o object) AppendTo(dst []byte) []byte { return append(dst, o...) }
func (o object) Memory() int                { return len(o) }
func (o object) Reader() io.Reader          { return bytes.NewReader(o) }

// builder builds one.
type builder struct {
	bytes.Buffer
	plain         bool
	size, longest int
}

func (b *builder) Write(p []byte) (int, error) {
	b.longest = max(b.longest, len(p))
	return b.Buffer.Write(p)
}

func (b *builder) State() (record.State, error) {
	if b.Len() != b.size || b.longest > pieceSize {
		return record.State{}, fmt.Errorf("a value of %d bytes comes with %d, up to %d at a time", b.size, b.Len(), b.longest)
	}
	if b.plain {
		return record.State{Type: record.String, Value: b.Bytes()}, nil
	}
	return record.State{Type: record.Hash, Object: object(b.Bytes())}, nil
}

func build(t record.Type, plain bool, size int) (record.Builder, error) {
	if t != record.Hash && !plain {
		return nil, errors.New("no type that has objects")
	}
	return &builder{plain: plain, size: size}, nil
}

// objectOf returns a record with an object of some length.
func objectOf(key string, length int) Entry {
	e := entry(key, 1, "")
	e.State = record.State{Type: record.Hash, ExpireAt: 1 << 41, Object: object(bytes.Repeat([]byte(key), length/len(key)))}
	return e
}

// objectChunks are chunks of a slot with objects, large ones and one that is not.
func objectChunks() []Chunk {
	slot := ring.SlotOf([]byte("{a}"))
	return []Chunk{
		{Slot: slot, Records: []Entry{objectOf("{a}1", apart), entry("{a}2", 1, "v"), objectOf("{a}3", 3*pieceSize+apart)}},
		{Slot: slot, Records: []Entry{objectOf("{a}4", apart/4)}},
		{Slot: slot, Records: []Entry{objectOf("{a}5", apart+4), entry("{a}6", 1, strings.Repeat("v", 2*apart+5))}},
	}
}

// restored reads all chunks of a backup, and builds its objects.
func restored(r io.Reader) (in *Reader, chunks []Chunk, err error) {
	if in, err = NewReader(r); err != nil {
		return nil, nil, err
	}
	in.Build = build
	for {
		c, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in, chunks, nil
		} else if err != nil {
			return in, chunks, err
		}
		chunk := *c
		chunk.Records = slices.Clone(c.Records)
		for i := range chunk.Records {
			e := &chunk.Records[i]
			e.Key, e.State.Value = bytes.Clone(e.Key), bytes.Clone(e.State.Value)
		}
		chunks = append(chunks, chunk)
	}
}

// TestLargeObjectsAreInPieces: no write, and no read, has the length of an object; who does not build them is told their size.
func TestLargeObjectsAreInPieces(t *testing.T) {
	chunks := objectChunks()
	var file bytes.Buffer
	longest := 0
	w, err := NewWriter(writerFunc(func(p []byte) (int, error) {
		longest = max(longest, len(p))
		return file.Write(p)
	}), testHeader())
	require.NoError(t, err)
	for i := range chunks {
		require.NoError(t, w.Write(&chunks[i]))
	}
	require.NoError(t, w.Close())
	require.Less(t, longest, 2*pieceSize)

	in, got, err := restored(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.Len(t, got, len(chunks))
	for i, c := range chunks {
		for j, want := range c.Records {
			e := got[i].Records[j]
			require.Equal(t, want.Key, e.Key)
			require.Equal(t, want.Version, e.Version)
			require.Equal(t, want.State.ExpireAt, e.State.ExpireAt)
			require.Equal(t, want.State.Packed().Value, e.State.Packed().Value)
			if want.State.Object == nil {
				require.Nil(t, e.State.Object, "bytes stay bytes")
			}
		}
	}
	unbuilt, sizes, err := readAll(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.Equal(t, in.Counts(), unbuilt.Counts())
	require.Equal(t, Unread(apart), sizes[0].Records[0].State.Object)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestPiecesThatAreMissingRepeatedOrMovedAreNoticed by the reader, whoever wrote them.
func TestPiecesThatAreMissingRepeatedOrMovedAreNoticed(t *testing.T) {
	parts := blocks(write(t, testHeader(), objectChunks()))
	pieces := 0
	for i := 1; i < len(parts)-1; i++ {
		if kind(parts[i][0]) == kindPiece {
			pieces++
		}
		for name, changed := range map[string][][]byte{
			"missing":  slices.Concat(parts[:i], parts[i+1:]),
			"repeated": slices.Concat(parts[:i+1], parts[i:]),
			"moved":    slices.Concat(parts[:i], parts[i+1:i+2], parts[i:i+1], parts[i+2:]),
		} {
			_, _, err := restored(bytes.NewReader(bytes.Join(changed, nil)))
			require.ErrorIs(t, err, ErrDamaged, "block %d %s", i, name)
			if kind(parts[i][0]) == kindPiece { // not by the checksum of the whole, which is at the end
				require.NotContains(t, err.Error(), "not what its end says", "block %d %s", i, name)
			}
		}
	}
	require.Equal(t, 4+7+5+9, pieces)
}

// TestImpossiblePieces: a writer that is wrong is found out.
func TestImpossiblePieces(t *testing.T) {
	slot := ring.SlotOf([]byte("{a}"))
	object := objectOf("{a}1", apart)
	object.State.Type = record.String
	_, _, err := restored(bytes.NewReader(write(t, testHeader(), []Chunk{{Slot: slot, Records: []Entry{object}}})))
	require.ErrorIs(t, err, ErrDamaged, "what cannot be built")

	for name, state := range map[string]record.State{"another number": {Type: record.Hash}, "another type": {Type: record.String}} {
		var p pieces
		p.reset()
		require.NoError(t, p.add([]byte{1, byte(record.Hash), 1, 0, 'x'}, build))
		number := uint64(1)
		if state.Type == record.Hash {
			number = 2
		}
		c := Chunk{Slot: slot, Records: []Entry{{Key: []byte("{a}"), Record: record.Record{Version: version(1, 1)}}}}
		body := appendChunk(nil, &c, 0)
		body = append(body[:len(body)-3], 0xff, byte(state.Type), 0, byte(number))
		var decoded Chunk
		require.ErrorContains(t, decodeChunk(&decoded, body, p.next), "missing", name)
	}
	for name, body := range map[string][]byte{
		"nothing": {}, "no bytes": {1, 2, 1, 0}, "too many bytes": {1, 2, 1, 0, 'x', 'y'}, "in the middle": {1, 2, 5, 1, 'x'},
		"the second object": {2, 2, 1, 0, 'x'}, "an end that is too far": {1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 'x'},
	} {
		var p pieces
		require.Error(t, p.add(body, build), name)
	}
}

// TestBackupsOfVersion1AreRead: the file was written by quoll 0.1.0's code.
func TestBackupsOfVersion1AreRead(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("testdata", "version1.backup"))
	require.NoError(t, err)
	require.EqualValues(t, 1, file[8])
	_, chunks, err := restored(bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, len(testChunks()), len(chunks))
	_, chunks, err = readAll(bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, testChunks(), chunks)

	parts := blocks(file)
	piece := blocks(write(t, testHeader(), objectChunks()))[2]
	require.EqualValues(t, kindPiece, piece[0])
	_, _, err = readAll(bytes.NewReader(bytes.Join(slices.Concat(parts[:2], [][]byte{piece}, parts[2:]), nil)))
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "unknown kind", "it had no pieces")
}
