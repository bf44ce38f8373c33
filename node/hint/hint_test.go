package hint

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a directory for the hints of one replica.
type fixture struct {
	t    require.TestingT
	opt  Options
	logs *bytes.Buffer
}

func newFixture(t require.TestingT, dir string) *fixture {
	logs := new(bytes.Buffer)
	return &fixture{t: t, logs: logs, opt: Options{Replica: "b", Generation: 7, Dir: dir, Logger: slog.New(slog.NewTextHandler(logs, nil))}}
}

func (f *fixture) file() string { return filepath.Join(f.opt.Dir, "b.hints") }

// left returns what a set has, and closes it.
func (f *fixture) left(s *Set) (keys map[string]bool, marked map[uint16]bool) {
	keys, marked = map[string]bool{}, map[uint16]bool{}
	for s.Counts() != (Counts{}) {
		batch := s.Take(10)
		for _, h := range batch.Hints {
			keys[fmt.Sprint(h.Slot, " ", string(h.Key))] = true
		}
		for _, slot := range batch.Marks {
			marked[slot] = true
		}
		s.Done()
	}
	require.NoError(f.t, s.Close())
	return keys, marked
}

func TestASetRemembersWhatWasMissed(t *testing.T) {
	s := Open(Options{})
	key := []byte("k")
	s.Add(3, key)
	key[0] = 'x' // it was borrowed
	s.Add(3, []byte("k"))
	s.Add(4, []byte("k"))
	s.Mark(5)
	s.Mark(5)
	s.Add(5, []byte("covered by the mark"))
	require.Equal(t, Counts{Keys: 2, Bytes: 2 * (1 + keyCost), Marks: 1}, s.Counts())

	batch := s.Take(1)
	require.Len(t, batch.Hints, 1)
	require.Empty(t, batch.Marks)
	s.Add(batch.Hints[0].Slot, batch.Hints[0].Key) // missed again, meanwhile
	s.Done()
	require.Equal(t, 2, s.Counts().Keys)

	require.Len(t, s.Take(100).Hints, 2)
	require.Equal(t, 2, s.Counts().Keys, "what is taken is not done")
	s.Requeue()
	batch = s.Take(100)
	require.ElementsMatch(t, []Hint{{3, []byte("k")}, {4, []byte("k")}}, batch.Hints)
	s.Done()

	require.Equal(t, Batch{Marks: []uint16{5}}, s.Take(100))
	s.Mark(5)
	s.Mark(6)
	s.Requeue()
	require.Equal(t, Batch{Marks: []uint16{5, 6}}, s.Take(100))
	s.Done()
	require.Zero(t, s.Counts())
	require.NoError(t, s.Close())
}

func TestNothingIsDroppedWithoutAMark(t *testing.T) {
	s := Open(Options{Limit: 10 * (keyCost + 1)})
	for i := range 6 {
		s.Add(1, []byte{byte(i)})
		s.Add(2, []byte{byte(i)})
	}
	c := s.Counts()
	require.Equal(t, Counts{Keys: 6, Bytes: 6 * (keyCost + 1), Marks: 1}, c, "the slot that there was no room for")
	s.Take(6)
	s.Done()
	require.Equal(t, []uint16{1}, s.Take(1).Marks)
}

func TestASetSurvivesTheProcess(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "made", "here"))
	s := Open(f.opt)
	require.NoFileExists(t, f.file())
	s.Add(1, []byte("a"))
	s.Add(2, nil)
	s.Mark(3)
	s.Mark(ring.Slots) // there is no such slot
	s.Take(1)
	require.NoError(t, s.Close())
	s.Add(9, []byte("after the end"))

	s = Open(f.opt)
	require.Equal(t, 2, s.Counts().Keys)
	keys, marked := f.left(s)
	require.Equal(t, map[string]bool{"1 a": true, "2 ": true}, keys)
	require.Equal(t, map[uint16]bool{3: true}, marked)
	require.NoFileExists(t, f.file(), "nothing is left")
	require.Empty(t, f.logs.String())
}

// TestTheFileIsWrittenAllTheTime: what a killed process had noted is there, too.
func TestTheFileIsWrittenAllTheTime(t *testing.T) {
	f := newFixture(t, t.TempDir())
	s := Open(f.opt)
	s.Add(1, []byte("a"))
	require.Eventually(t, func() bool { _, err := os.Stat(f.file()); return err == nil }, 10*time.Second, time.Millisecond)
	s.Add(1, []byte("b"))
	expected := appendKey(appendKey(appendHeader(nil, "b", 7), 1, []byte("a")), 1, []byte("b"))
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(f.file())
		return err == nil && bytes.Equal(text, expected)
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, s.Close())
}

func TestTheFileStaysShort(t *testing.T) {
	f := newFixture(t, t.TempDir())
	s := Open(f.opt)
	key := bytes.Repeat([]byte("k"), 10_000)
	s.Add(1, []byte("stays"))
	for i := range 400 { // 4 MB
		s.Add(2, append(key, byte(i), byte(i>>8)))
		if i%10 == 9 {
			for batch := s.Take(100); batch.Hints[0].Slot != 2 && len(batch.Hints) == 1; batch = s.Take(100) {
				s.Requeue()
			}
			s.Done()
			s.Add(1, []byte("stays"))
		}
	}
	require.NoError(t, s.Close())
	info, err := os.Stat(f.file())
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(slack*3/2))
	keys, _ := f.left(Open(f.opt))
	require.True(t, keys["1 stays"])
}

func TestATornEndIsCutOff(t *testing.T) {
	whole := appendKey(appendHeader(nil, "b", 7), 1, []byte("kept"))
	for name, tail := range map[string][]byte{
		"head": appendKey(nil, 2, []byte("lost"))[:5],
		"key":  appendKey(nil, 2, []byte("lost"))[:headSize+2],
		"zero": make([]byte, 100),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, t.TempDir())
			require.NoError(t, os.WriteFile(f.file(), append(bytes.Clone(whole), tail...), 0o600))
			s := Open(f.opt)
			s.Add(3, []byte("new"))
			require.NoError(t, s.Close())
			require.Contains(t, f.logs.String(), fmt.Sprintf("bytes=%d", len(tail)))
			keys, marked := f.left(Open(f.opt))
			require.Equal(t, map[string]bool{"1 kept": true, "3 new": true}, keys)
			require.Empty(t, marked)
		})
	}
}

func TestADamagedFileIsSetAside(t *testing.T) {
	good := appendKey(appendHeader(nil, "b", 7), 1, []byte("key"))
	flipped := bytes.Clone(good)
	flipped[len(flipped)-6] ^= 4
	for name, text := range map[string][]byte{
		"empty":         {},
		"header":        good[:10],
		"flipped":       flipped,
		"kind":          append(bytes.Clone(good), appendHead(nil, 9, 0, 0)...),
		"slot":          append(bytes.Clone(good), appendHead(nil, kindMark, ring.Slots, 0)...),
		"something":     []byte("dear diary"),
		"something big": make([]byte, 200),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, t.TempDir())
			require.NoError(t, os.WriteFile(f.file(), text, 0o600))
			s := Open(f.opt)
			require.Equal(t, Counts{Marks: ring.Slots}, s.Counts())
			require.NoError(t, s.Close())
			require.Contains(t, f.logs.String(), "set aside")
			aside, err := os.ReadFile(f.file() + ".damaged")
			require.NoError(t, err)
			require.Equal(t, text, aside)
			_, marked := f.left(Open(f.opt))
			require.Len(t, marked, ring.Slots, "that is kept, too")
		})
	}
	t.Run("too big", func(t *testing.T) {
		f := newFixture(t, t.TempDir())
		require.NoError(t, os.WriteFile(f.file(), good, 0o600))
		require.NoError(t, os.Truncate(f.file(), 1<<40))
		s := Open(f.opt)
		require.Equal(t, Counts{Marks: ring.Slots}, s.Counts())
		require.NoError(t, s.Close())
	})
}

func TestHintsOfAnotherReplicaAreSetAside(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"generation": func(o *Options) { o.Generation++ },
		"name":       func(o *Options) { o.Replica = "c" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, t.TempDir())
			s := Open(f.opt)
			s.Add(1, []byte("k"))
			require.NoError(t, s.Close())
			former := f.file()
			change(&f.opt)
			moved := filepath.Join(f.opt.Dir, f.opt.Replica+".hints")
			if moved != former {
				require.NoError(t, os.Rename(former, moved))
			}
			s = Open(f.opt)
			require.Zero(t, s.Counts())
			require.NoError(t, s.Close())
			require.FileExists(t, moved+".foreign")
			require.Contains(t, f.logs.String(), "another replica")
		})
	}
}

// TestAFileThatCannotBeWritten costs what is kept over restarts, and nothing else.
func TestAFileThatCannotBeWritten(t *testing.T) {
	f := newFixture(t, t.TempDir())
	blocked := f.file() + ".tmp"
	require.NoError(t, os.MkdirAll(filepath.Join(blocked, "full"), 0o700))
	s := Open(f.opt)
	s.Add(1, []byte("a"))
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.file.broken
	}, 10*time.Second, time.Millisecond)
	s.Add(1, []byte("b"))
	s.Mark(2)
	require.Equal(t, 2, s.Counts().Keys)
	require.Equal(t, 1, bytes.Count(f.logs.Bytes(), []byte("cannot be written")))
	require.NoError(t, os.RemoveAll(blocked))
	require.NoError(t, s.Close(), "it is tried once more at the end")
	keys, marked := f.left(Open(f.opt))
	require.Len(t, keys, 2)
	require.Len(t, marked, 1)

	require.NoError(t, os.WriteFile(f.file(), nil, 0o600))
	f.opt.Dir = filepath.Join(f.file(), "below a file")
	s = Open(f.opt)
	s.Add(1, []byte("a"))
	require.Equal(t, 1, s.Counts().Keys)
	require.NoError(t, s.Close())
}

// TestASetIsSharedByGoroutines: nothing that was added gets lost on the way.
func TestASetIsSharedByGoroutines(t *testing.T) {
	f := newFixture(t, t.TempDir())
	s := Open(f.opt)
	const writers, each = 4, 2000
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				s.Add(uint16(w), fmt.Append(nil, i))
			}
		})
	}
	seen := map[string]bool{}
	done := make(chan struct{})
	go func() { wait.Wait(); close(done) }()
	for more, round := true, 0; more || s.Counts() != (Counts{}); round++ {
		select {
		case <-done:
			more = false
		default:
		}
		batch := s.Take(100)
		if round%3 == 1 {
			s.Requeue()
			continue
		}
		for _, h := range batch.Hints {
			seen[fmt.Sprint(h.Slot, " ", string(h.Key))] = true
		}
		s.Done()
	}
	require.Len(t, seen, writers*each)
	require.NoError(t, s.Close())
	_, err := os.Stat(f.file())
	require.True(t, errors.Is(err, os.ErrNotExist))
}

func BenchmarkAdd(b *testing.B) {
	for _, name := range []string{"memory", "file"} {
		for _, known := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/known=%v", name, known), func(b *testing.B) {
				opt := Options{Replica: "b", Limit: 1 << 30}
				if name == "file" {
					opt.Dir = b.TempDir()
				}
				s := Open(opt)
				key := []byte("key-0000000000000000")
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if !known {
						le.PutUint64(key[4:], uint64(i))
					}
					s.Add(uint16(i*7919)%ring.Slots, key)
				}
				b.StopTimer()
				require.NoError(b, s.Close())
			})
		}
	}
}
