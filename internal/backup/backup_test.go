package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

func testHeader() Header {
	h := Header{
		Cluster: ring.Cluster{Name: "quoll", Epoch: 1, Replicas: 1, Members: []ring.Member{{ID: 1, Name: "a", Peer: "h:1", Weight: 1, Generation: 7}}},
		Node:    "a", Time: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Quoll: "v1", Records: 3, Bytes: 99,
	}
	for slot := range uint16(ring.Slots) {
		h.Slots.Add(slot)
	}
	return h
}

func ballot(counter uint64) record.Ballot {
	return record.Ballot{Counter: counter, Incarnation: record.NewIncarnation(77, 1)}
}

func version(counter, seq uint64) record.Version {
	return record.Version{Ballot: ballot(counter), Seq: seq}
}

func entry(key string, seq uint64, value string) Entry {
	return Entry{Key: []byte(key), Record: record.Record{Version: version(3, seq), State: record.State{Type: record.String, Value: append([]byte(nil), value...)}}}
}

// testChunks are chunks of two keys, a tombstone and a slot that was cleared.
func testChunks() []Chunk {
	live, expires, gone := entry("{a}1", 1, "one"), entry("{a}2", 2, ""), Entry{Key: []byte("b"), Record: record.Record{Version: version(2, 9)}}
	expires.State.ExpireAt = 1 << 41
	slotA, slotB := ring.SlotOf([]byte("a")), ring.SlotOf([]byte("b"))
	chunks := []Chunk{
		{Slot: slotA, Meta: record.SlotMeta{Promised: ballot(3), Floor: version(1, 4)}, Records: []Entry{live}},
		{Slot: slotA, Meta: record.SlotMeta{Promised: ballot(4)}, Records: []Entry{expires}},
		{Slot: slotB, Meta: record.SlotMeta{Promised: ballot(3), Cleared: version(2, 1)}, Records: []Entry{gone}},
	}
	slices.SortStableFunc(chunks, func(x, y Chunk) int { return int(x.Slot) - int(y.Slot) })
	return append(chunks, Chunk{Slot: ring.Slots - 1, Meta: record.SlotMeta{Promised: ballot(1)}})
}

func write(t require.TestingT, h Header, chunks []Chunk) []byte {
	var file bytes.Buffer
	w, err := NewWriter(&file, h)
	require.NoError(t, err)
	for i := range chunks {
		require.NoError(t, w.Write(&chunks[i]))
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// readAll reads a backup to its end, and returns copies of the chunks.
func readAll(r io.Reader) (*Reader, []Chunk, error) {
	in, err := NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	var chunks []Chunk
	for {
		c, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in, chunks, nil
		}
		if err != nil {
			return in, chunks, err
		}
		chunk := *c
		chunk.Records = nil
		for _, e := range c.Records {
			e.Key, e.State.Value = bytes.Clone(e.Key), append([]byte(nil), e.State.Value...)
			chunk.Records = append(chunk.Records, e)
		}
		chunks = append(chunks, chunk)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "end with the data": iotest.DataErrReader,
	} {
		file := write(t, testHeader(), testChunks())
		in, chunks, err := readAll(wrap(bytes.NewReader(file)))
		require.NoError(t, err, name)
		require.Equal(t, testHeader(), *in.Header())
		require.Equal(t, testChunks(), chunks)
		require.Equal(t, Counts{Live: 2, Tombstones: 1, Bytes: 4 + 3 + 4}, in.Counts())
		require.EqualValues(t, len(file), in.Offset())
		_, err = in.Next()
		require.Equal(t, io.EOF, err, "and nothing more")
	}
}

func TestTheDigestNamesTheContents(t *testing.T) {
	digest := func(chunks []Chunk) string {
		in, _, err := readAll(bytes.NewReader(write(t, testHeader(), chunks)))
		require.NoError(t, err)
		return in.Digest().String()
	}
	require.Len(t, digest(nil), 64)
	require.Equal(t, digest(testChunks()), digest(testChunks()))
	require.NotEqual(t, digest(testChunks()), digest(testChunks()[1:]))
}

func TestEveryFlippedByteIsNoticed(t *testing.T) {
	file := write(t, testHeader(), testChunks())
	for i := range file {
		for _, flip := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			bad := bytes.Clone(file)
			bad[i] ^= flip
			_, _, err := readAll(bytes.NewReader(bad))
			require.Error(t, err, "byte %d ^ %#x", i, flip)
			require.True(t, errors.Is(err, ErrDamaged) || errors.Is(err, ErrNotBackup) || errors.Is(err, ErrIncomplete), "byte %d: %v", i, err)
		}
	}
}

func TestEveryMissingEndIsNoticed(t *testing.T) {
	file := write(t, testHeader(), testChunks())
	for size := range file {
		_, _, err := readAll(bytes.NewReader(file[:size]))
		if size == 0 {
			require.ErrorIs(t, err, ErrNotBackup)
			continue
		}
		require.ErrorIs(t, err, ErrIncomplete, "%d bytes", size)
	}
	_, _, err := readAll(bytes.NewReader(append(file, 'x')))
	require.ErrorIs(t, err, ErrDamaged)
}

// blocks cuts a backup into its preamble and its blocks.
func blocks(file []byte) [][]byte {
	parts := [][]byte{file[:preambleSize]}
	for rest := file[preambleSize:]; len(rest) > 0; {
		size := blockHeader + int(uint32(rest[1])|uint32(rest[2])<<8|uint32(rest[3])<<16|uint32(rest[4])<<24)
		parts, rest = append(parts, rest[:size]), rest[size:]
	}
	return parts
}

func TestBlocksThatAreMissingRepeatedOrMovedAreNoticed(t *testing.T) {
	parts := blocks(write(t, testHeader(), testChunks()))
	require.Len(t, parts, 1+1+4+1)
	for i := 1; i < len(parts); i++ {
		for name, changed := range map[string][][]byte{
			"missing":  slices.Concat(parts[:i], parts[i+1:]),
			"repeated": slices.Concat(parts[:i+1], parts[i:]),
			"moved":    slices.Concat(parts[:1], parts[i:i+1], parts[1:i], parts[i+1:]),
		} {
			if name == "moved" && i == 1 {
				continue // the header is where it was
			}
			_, _, err := readAll(bytes.NewReader(bytes.Join(changed, nil)))
			require.Error(t, err, "block %d %s", i, name)
		}
	}
}

func TestOtherFilesAreNoBackups(t *testing.T) {
	for _, text := range []string{"", "REDIS0011", "QUOLLBAT", "Q-", "{}"} {
		_, err := NewReader(bytes.NewReader([]byte(text)))
		require.ErrorIs(t, err, ErrNotBackup, text)
	}
	broken := errors.New("broken disk")
	_, err := NewReader(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	_, _, err = readAll(io.MultiReader(bytes.NewReader(write(t, testHeader(), nil)[:30]), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
}

func TestNewerFormatsAreRefused(t *testing.T) {
	file := write(t, testHeader(), nil)
	copy(file[8:], []byte{3, 0, 0, 0})
	file = append(appendChecksum(file[:12:12]), file[16:]...)
	_, err := NewReader(bytes.NewReader(file))
	require.ErrorIs(t, err, ErrNewer)
	require.EqualError(t, err, "the backup was made by a newer quoll: its format is 3, this program knows format 2")
}

func TestABackupThatFailedSaysWhy(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, testHeader())
	require.NoError(t, err)
	require.NoError(t, w.Write(&testChunks()[0]))
	require.NoError(t, w.Fail("its store failed"))
	_, chunks, err := readAll(&file)
	require.ErrorIs(t, err, ErrFailed)
	require.EqualError(t, err, "the node could not finish the backup: its store failed")
	require.Len(t, chunks, 1)
}

// TestTheRecordOfBatches is kept in whichever slot it is: an acknowledged batch may be nowhere else yet.
func TestTheRecordOfBatches(t *testing.T) {
	e := entry(database.Prefix+"batch", 1, "what it writes")
	e.State.Type = record.Batch
	slot := ring.SlotOf([]byte("k"))
	require.NotEqual(t, slot, ring.SlotOf(e.Key))
	_, chunks, err := readAll(bytes.NewReader(write(t, testHeader(), []Chunk{{Slot: slot, Records: []Entry{e}}})))
	require.NoError(t, err)
	require.Equal(t, e, chunks[0].Records[0])
}

// TestImpossibleContents: checksums that are right prove nothing about a writer that is wrong.
func TestImpossibleContents(t *testing.T) {
	slot := ring.SlotOf([]byte("k"))
	only := func(change func(e *Entry)) []Chunk {
		e := entry("k", 1, "v")
		change(&e)
		return []Chunk{{Slot: slot, Records: []Entry{e}}}
	}
	for want, chunks := range map[string][]Chunk{
		"a record has no version":           only(func(e *Entry) { e.Version = record.Version{} }),
		"a record has the unknown type 64":  only(func(e *Entry) { e.State.Type = record.Batch }),
		"a record has the unknown type 99":  only(func(e *Entry) { e.State.Type = 99 }),
		"a deleted record has a value":      only(func(e *Entry) { e.State.Type = record.None }),
		"slot 7629 has a key of slot":       only(func(e *Entry) { e.Key = []byte("other") }),
		"slot 3 is not expected after slot": {{Slot: 4}, {Slot: 3}},
	} {
		_, _, err := readAll(bytes.NewReader(write(t, testHeader(), chunks)))
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, want)
	}
	h := testHeader()
	h.Slots = ring.SlotSet{}
	_, _, err := readAll(bytes.NewReader(write(t, h, only(func(*Entry) {}))))
	require.ErrorContains(t, err, fmt.Sprintf("slot %d is not expected", slot))

	h.Cluster.Members = nil
	_, _, err = readAll(bytes.NewReader(write(t, h, nil)))
	require.ErrorIs(t, err, ErrDamaged)
}

func TestErrorsOfTheDestinationAreReported(t *testing.T) {
	full := errors.New("full")
	for n := range 4 {
		w, err := NewWriter(&failing{after: n, err: full}, testHeader())
		if err == nil {
			err = w.Write(&testChunks()[0])
		}
		if err == nil {
			err = w.Write(&testChunks()[1])
		}
		if err == nil {
			err = w.Close()
		}
		require.ErrorIs(t, err, full, "write %d", n)
	}
}

// failing takes some writes and fails then.
type failing struct {
	after int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, f.err
	}
	return len(p), nil
}
