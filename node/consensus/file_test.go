package consensus

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

const testID = 77

func hardState(term uint64) *pb.HardState {
	return &pb.HardState{Term: &term, Vote: new(uint64(3)), Commit: new(uint64(0))}
}

func entry(term, index uint64, text string) *pb.Entry {
	return &pb.Entry{Type: pb.EntryNormal.Enum(), Term: &term, Index: &index, Data: []byte(text)}
}

// writeLog stores four batches, and returns the storage and where each of them ends.
func writeLog(t *testing.T, fs FileSystem) (Storage, []int64) {
	t.Helper()
	s, err := Create(fs, testID)
	require.NoError(t, err)
	_, err = s.load()
	require.NoError(t, err)
	ends := []int64{s.(*fileStorage).end}
	for _, m := range []*pb.Message{
		stored(testID, hardState(2), nil, nil),
		stored(testID, hardState(2), []*pb.Entry{entry(2, 1, "one"), entry(2, 2, "two")}, nil),
		stored(testID, hardState(3), []*pb.Entry{entry(3, 2, "another two")}, nil),
	} {
		require.NoError(t, s.append(m))
		ends = append(ends, s.(*fileStorage).end)
	}
	return s, ends
}

func reopened(t *testing.T, fs FileSystem) *log {
	t.Helper()
	return reopenedAs(t, fs, testID)
}

// terms returns the term of the hard state and of the entries.
func terms(t *testing.T, l *log) (hard uint64, entries []uint64) {
	t.Helper()
	last, err := l.LastIndex()
	require.NoError(t, err)
	for i := uint64(1); i <= last; i++ {
		term, err := l.Term(i)
		require.NoError(t, err)
		entries = append(entries, term)
	}
	return l.hard.GetTerm(), entries
}

func TestFileKeepsWhatWasStored(t *testing.T) {
	for name, fs := range map[string]FileSystem{"in memory": newTestDisk(), "on disk": Directory(t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			s, _ := writeLog(t, fs)
			s.close()
			hard, entries := terms(t, reopened(t, fs))
			require.EqualValues(t, 3, hard)
			require.Equal(t, []uint64{2, 3}, entries)

			s, err := Open(fs, testID)
			require.NoError(t, err)
			_, err = s.load()
			require.NoError(t, err)
			snapshot := &pb.Snapshot{Data: []byte("state"), Metadata: &pb.SnapshotMetadata{Index: new(uint64(1)), Term: new(uint64(2)), ConfState: &pb.ConfState{Voters: []uint64{3}}}}
			require.NoError(t, s.replace(stored(testID, hardState(4), []*pb.Entry{entry(3, 2, "another two")}, snapshot)))
			require.Zero(t, s.appended())
			require.NoError(t, s.append(stored(testID, hardState(5), []*pb.Entry{entry(5, 3, "three")}, nil)))
			require.NotZero(t, s.appended())
			s.close()
			l := reopened(t, fs)
			first, err := l.FirstIndex()
			require.NoError(t, err)
			require.EqualValues(t, 2, first)
			got, err := l.MemoryStorage.Snapshot()
			require.NoError(t, err)
			require.Equal(t, "state", string(got.Data))
			require.EqualValues(t, 5, l.hard.GetTerm())
		})
	}
}

func TestATornEndIsCutOff(t *testing.T) {
	disk := newTestDisk()
	_, ends := writeLog(t, disk)
	whole := disk.names[fileName].data
	for length := ends[2]; length < ends[3]; length++ {
		for _, fill := range []int{0, 0xff} {
			data := bytes.Clone(whole[:length])
			data = append(data, bytes.Repeat([]byte{byte(fill)}, int(ends[3]-length))...)
			if bytes.Equal(data, whole) {
				continue
			}
			for _, content := range [][]byte{data, data[:length]} {
				torn := newTestDisk()
				torn.names[fileName] = &testFile{disk: torn, data: bytes.Clone(content)}
				hard, entries := terms(t, reopened(t, torn))
				require.EqualValues(t, 2, hard)
				require.Equal(t, []uint64{2, 2}, entries)
				require.Equal(t, whole[:ends[2]], torn.names[fileName].data, "the torn end is still there")
			}
		}
	}
}

func TestDamageBeforeTheEndIsAnError(t *testing.T) {
	disk := newTestDisk()
	_, ends := writeLog(t, disk)
	whole := disk.names[fileName].data
	for at := range ends[2] {
		damaged := newTestDisk()
		damaged.names[fileName] = &testFile{disk: damaged, data: bytes.Clone(whole)}
		damaged.names[fileName].data[at] ^= 0x10
		_, err := Open(damaged, testID)
		require.ErrorIs(t, err, ErrDamaged, "byte %d", at)
		require.ErrorContains(t, err, "let the node come back with an empty directory")
	}
}

func TestStoragesOfOthers(t *testing.T) {
	disk := newTestDisk()
	_, err := Open(disk, testID)
	require.ErrorIs(t, err, ErrLost)
	require.ErrorContains(t, err, "as a new member")
	writeLog(t, disk)
	_, err = Create(disk, testID)
	require.ErrorContains(t, err, "already")
	_, err = Open(disk, testID+1)
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "it belongs to the node's life 4d")

	dir := t.TempDir()
	_, err = Open(Directory(dir), testID)
	require.ErrorIs(t, err, ErrLost)
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), nil, 0o600))
	_, err = Open(Directory(dir), testID)
	require.ErrorIs(t, err, ErrDamaged)
	_, err = Create(Directory(filepath.Join(dir, "none")), testID)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestPowerCuts: whatever a power cut leaves, all that was durable is there, and of the rest a batch is there as a whole, or not.
func TestPowerCuts(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		disk := newTestDisk()
		s, err := Create(disk, testID)
		require.NoError(t, err)
		var durable, tried uint64
		for range random.IntN(6) {
			tried++
			require.NoError(t, s.append(stored(testID, hardState(tried), []*pb.Entry{entry(tried, tried, "some text that is long enough for a few sectors of the disk of this test")}, nil)))
			durable = tried
			if random.IntN(4) == 0 {
				snapshot := &pb.Snapshot{Metadata: &pb.SnapshotMetadata{Index: &tried, Term: &tried, ConfState: &pb.ConfState{Voters: []uint64{3}}}}
				require.NoError(t, s.replace(stored(testID, hardState(tried), nil, proto.Clone(snapshot).(*pb.Snapshot))))
			}
		}
		f := s.(*fileStorage)
		payload, err := proto.Marshal(stored(testID, hardState(tried+1), []*pb.Entry{entry(tried+1, tried+1, "what is being written when the power fails, and long enough for some sectors")}, nil))
		require.NoError(t, err)
		_, err = f.file.WriteAt(appendFrame(nil, f.end, payload), f.end) // and no sync
		require.NoError(t, err)
		l := reopened(t, disk.afterPowerCut(random))
		last, err := l.LastIndex()
		require.NoError(t, err)
		require.Contains(t, []uint64{durable, durable + 1}, last, "seed %d", seed)
		require.EqualValues(t, last, l.hard.GetTerm(), "seed %d", seed)
	}
}

// TestWhatAKilledProcessLeft: what is read when it starts again was perhaps never synced, or its name was not. It counts from then on, so a power
// cut must not take it away any more.
func TestWhatAKilledProcessLeft(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0))
		disk := newTestDisk()
		s, _ := writeLog(t, disk)
		payload, err := proto.Marshal(stored(testID, hardState(9), nil, nil))
		require.NoError(t, err)
		f, at := s.(*fileStorage).file, s.(*fileStorage).end
		if seed%2 == 0 {
			f, err = disk.Create(nextFileName)
			require.NoError(t, err)
			at = 0
		}
		_, err = f.WriteAt(appendFrame(nil, at, payload), at)
		require.NoError(t, err)
		if seed%2 == 0 {
			require.NoError(t, f.Sync())
			require.NoError(t, disk.Rename(nextFileName, fileName))
		}
		require.EqualValues(t, 9, reopened(t, disk).hard.GetTerm())
		require.EqualValues(t, 9, reopened(t, disk.afterPowerCut(random)).hard.GetTerm(), "seed %d: it has forgotten what it showed", seed)
	}
}

func TestWritingFails(t *testing.T) {
	disk := newTestDisk()
	s, _ := writeLog(t, disk)
	disk.fail = errors.New("no disk")
	require.ErrorContains(t, s.append(stored(testID, hardState(9), nil, nil)), "no disk")
	require.ErrorContains(t, s.replace(stored(testID, hardState(9), nil, nil)), "no disk")
}
