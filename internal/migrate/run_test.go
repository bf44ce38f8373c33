package migrate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
)

// end is a redis-server, as one end of a copy and as its client.
type end struct {
	*Server
	redis *redis.Client
	url   string
	dir   string
}

func startEnd(t *testing.T, args ...string) end {
	dir := t.TempDir()
	address := redistest.Start(t, append([]string{"--dir", dir}, args...)...)
	e := end{url: "redis://" + address, dir: dir, redis: redis.NewClient(&redis.Options{Addr: address})}
	t.Cleanup(func() { _ = e.redis.Close() })
	var err error
	e.Server, err = ConnectURL(t.Context(), e.url, Access{})
	require.NoError(t, err)
	t.Cleanup(e.Close)
	return e
}

// fill gives it keys of all types (redistest.Mixed).
func (e end) fill(t *testing.T, keys, elements int) {
	pipe := e.redis.Pipeline()
	for _, args := range redistest.Mixed(keys, elements) {
		pipe.Do(t.Context(), args...)
	}
	_, err := pipe.Exec(t.Context())
	require.NoError(t, err)
}

// contents are all keys, with what they are and when they expire.
func (e end) contents(t *testing.T) map[string]fingerprint {
	keys, err := e.redis.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	all := map[string]fingerprint{}
	require.NoError(t, e.load(t.Context(), 0, keys, func(items []item) error {
		for _, i := range items {
			all[i.key] = i.print()
			require.True(t, all[i.key].ok, "%q", i.key)
		}
		return nil
	}))
	return all
}

func (e end) options(t *testing.T, to end) Options {
	return Options{From: From(t.Context(), e.Server), To: to.Server, Connections: 4, Sample: 50}
}

// file saves what it has, and returns it as a source.
func (e end) file(t *testing.T, longest int) *FileSource {
	require.NoError(t, e.redis.Save(t.Context()).Err())
	f, err := FromFile(filepath.Join(e.dir, "dump.rdb"), 0, longest)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

// TestCopy: every key arrives, whatever it is, from a server as from its file.
func TestCopy(t *testing.T) {
	elements := 100_000
	if testing.Short() {
		elements = 10_000
	}
	from := startEnd(t)
	from.fill(t, 3000, elements)
	want := from.contents(t)
	for name, source := range map[string]Source{"server": From(t.Context(), from.Server), "file": from.file(t, usualLongest)} {
		t.Run(name, func(t *testing.T) {
			to := startEnd(t, "--hash-max-listpack-entries", "0", "--zset-max-listpack-entries", "0") // whose values are encoded otherwise
			told := uint64(0)
			opt := Options{From: source, To: to.Server, Connections: 4, Sample: 500, Progress: func(p Progress) { told = p.Keys }}
			report, err := Run(t.Context(), opt)
			require.NoError(t, err)
			require.EqualValues(t, len(want), report.Keys)
			require.EqualValues(t, len(want), report.Copied)
			require.EqualValues(t, len(want), told)
			require.Zero(t, report.LeftOut())
			require.Empty(t, report.Examples)
			require.Equal(t, &Verified{TargetKeys: uint64(len(want)), Compared: 500}, report.Verified)
			require.Equal(t, want, to.contents(t))
			at, err := to.redis.Do(t.Context(), "PEXPIRETIME", "key:7").Int64()
			require.NoError(t, err)
			require.EqualValues(t, redistest.Far+7, at)
		})
	}
}

// TestKeysThatAreThere: another value is left alone, unless it is to be replaced; the same one is in nobody's way, however it is encoded.
func TestKeysThatAreThere(t *testing.T) {
	from, to := startEnd(t), startEnd(t, "--hash-max-listpack-entries", "0")
	ctx := t.Context()
	for _, e := range []end{from, to} {
		require.NoError(t, e.redis.HSet(ctx, "same", "f", 1, "g", 2).Err())
		require.NoError(t, e.redis.Set(ctx, "another expiry", "x", 0).Err())
		require.NoError(t, e.redis.Set(ctx, "another value", e.url, 0).Err())
		require.NoError(t, e.redis.RPush(ctx, "another type", "a").Err())
	}
	require.NoError(t, to.redis.Expire(ctx, "another expiry", time.Hour).Err())
	require.NoError(t, to.redis.Del(ctx, "another type").Err())
	require.NoError(t, to.redis.SAdd(ctx, "another type", "a").Err())

	report, err := Run(ctx, from.options(t, to))
	require.NoError(t, err)
	require.Equal(t, Tally{Keys: 4, Same: 1, Existing: 3, Lasting: 1}, report.Tally)
	require.Len(t, report.Examples, 3)
	require.False(t, report.Verified.Wrong())
	require.NotEqual(t, from.contents(t), to.contents(t))

	opt := from.options(t, to)
	opt.Replace = true
	report, err = Run(ctx, opt)
	require.NoError(t, err)
	require.EqualValues(t, 4, report.Copied)
	require.Equal(t, from.contents(t), to.contents(t))
}

// TestWhatIsLeftOut: values that are too long, and keys of other databases are counted and named, and the others arrive.
func TestWhatIsLeftOut(t *testing.T) {
	from := startEnd(t)
	ctx := t.Context()
	from.fill(t, 500, 0)
	require.NoError(t, from.redis.XAdd(ctx, &redis.XAddArgs{Stream: "stream", Values: []string{"f", "v"}}).Err())
	require.NoError(t, from.redis.XGroupCreate(ctx, "stream", "group", "0").Err())
	want := from.contents(t)
	require.NoError(t, from.redis.SetRange(ctx, "too long", 2<<20, "x").Err())
	require.NoError(t, from.redis.Do(ctx, "CONFIG", "SET", "rdbcompression", "no").Err())
	other, err := ConnectURL(ctx, from.url+"/3", Access{})
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, other.clients[0].Set(ctx, "of another database", "x", 0).Err())

	for name, source := range map[string]Source{"server": From(ctx, from.Server), "file": from.file(t, 1<<20)} {
		t.Run(name, func(t *testing.T) {
			to := startEnd(t, "--proto-max-bulk-len", "1mb")
			report, err := Run(ctx, Options{From: source, To: to.Server, Connections: 2, Sample: 1000})
			require.NoError(t, err)
			require.EqualValues(t, len(want), report.Copied)
			require.Zero(t, report.Unsupported)
			require.EqualValues(t, 1, report.TooLong)
			require.EqualValues(t, 1, report.Elsewhere)
			require.EqualValues(t, 1, report.LeftOut())
			require.Len(t, report.Examples, 1)
			for _, e := range report.Examples {
				require.Contains(t, e.Why, map[string]string{"too long": "longer than the target takes, 1048576 bytes"}[e.Key])
			}
			require.False(t, report.Verified.Wrong())
			require.Equal(t, want, to.contents(t))
		})
	}
}

// TestResume: a copy that was interrupted goes on where it was, and is one with what was copied before.
func TestResume(t *testing.T) {
	from := startEnd(t)
	from.fill(t, 10_000, 0)
	want := from.contents(t)
	for _, name := range []string{"server", "file"} {
		t.Run(name, func(t *testing.T) {
			to := startEnd(t)
			source := func() Source {
				if name == "file" {
					return from.file(t, usualLongest)
				}
				return From(t.Context(), from.Server)
			}
			first := source()
			path := filepath.Join(t.TempDir(), "state")
			ctx, cancel := context.WithCancel(t.Context())
			opt := Options{From: first, To: to.Server, Connections: 3, Sample: 50, State: path, Progress: func(p Progress) {
				if p.Keys > 5000 {
					cancel()
				}
			}}
			report, err := Run(ctx, opt)
			require.ErrorIs(t, err, context.Canceled)
			require.Nil(t, report.Verified)
			require.Less(t, report.Keys, uint64(len(want)))
			before, err := to.redis.DBSize(t.Context()).Result()
			require.NoError(t, err)
			require.FileExists(t, path)

			again := 0
			if name == "server" { // the file's identity has the time at which it was written
				first = source()
			} else {
				f, err := FromFile(filepath.Join(from.dir, "dump.rdb"), 0, usualLongest)
				require.NoError(t, err)
				defer f.Close()
				first = f
			}
			opt = Options{From: counting{first, &again}, To: to.Server, Connections: 3, Sample: 50, State: path}
			report, err = Run(t.Context(), opt)
			require.NoError(t, err)
			require.True(t, report.Resumed)
			require.Less(t, again, len(want)-1000, "what was copied is not read again")
			require.EqualValues(t, len(want), report.Keys)
			require.EqualValues(t, len(want), report.Copied+report.Same)
			require.LessOrEqual(t, report.Same, uint64(before))
			require.Equal(t, want, to.contents(t))
			require.NoFileExists(t, path)
		})
	}
}

// counting counts the keys that a source hands out.
type counting struct {
	Source
	keys *int
}

func (c counting) next(ctx context.Context) (*batch, error) {
	b, err := c.Source.next(ctx)
	if err == nil {
		*c.keys += len(b.keys) + len(b.items)
	}
	return b, err
}

// TestStateOfAnotherCopy: a state file counts for the source and the target that it was made for.
func TestStateOfAnotherCopy(t *testing.T) {
	from, to := startEnd(t), startEnd(t)
	path := filepath.Join(t.TempDir(), "state")
	file := stateFile{path: path}
	require.NoError(t, file.save(state{From: "somebody else", To: to.String(), Position: "7"}, true))
	opt := from.options(t, to)
	opt.State = path
	_, err := Run(t.Context(), opt)
	require.ErrorIs(t, err, ErrState)
	require.ErrorContains(t, err, "somebody else")
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = Run(t.Context(), opt)
	require.ErrorContains(t, err, "cannot be read")
}

// TestVerification: keys that somebody takes away, or changes, after they were copied are found.
func TestVerification(t *testing.T) {
	from, to := startEnd(t), startEnd(t)
	from.fill(t, 100, 0)
	opt := from.options(t, to)
	opt.Sample = 1000
	source := &ending{Source: opt.From, end: func() {
		require.NoError(t, to.redis.Del(t.Context(), "key:0").Err())
		require.NoError(t, to.redis.RPush(t.Context(), "key:1", "one more").Err())
		require.NoError(t, from.redis.Del(t.Context(), "key:2").Err())
	}}
	opt.From = source
	report, err := Run(t.Context(), opt)
	require.NoError(t, err)
	require.EqualValues(t, 101, report.Verified.Compared)
	require.EqualValues(t, 2, report.Verified.Differ, report.Examples)
	require.EqualValues(t, 1, report.Verified.Changed)
	require.True(t, report.Verified.Wrong())
	require.Len(t, report.Examples, 2)
}

// ending does something when all is copied.
type ending struct {
	Source
	end func()
}

func (e *ending) elsewhere(ctx context.Context) uint64 {
	e.end()
	return e.Source.elsewhere(ctx)
}

// TestDamagedFile: what is before the damage arrives, and the damage is said.
func TestDamagedFile(t *testing.T) {
	from, to := startEnd(t), startEnd(t)
	from.fill(t, 1000, 0)
	from.file(t, usualLongest).Close()
	path := filepath.Join(from.dir, "dump.rdb")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text[:len(text)/2], 0o600))
	f, err := FromFile(path, 0, usualLongest)
	require.NoError(t, err)
	defer f.Close()
	report, err := Run(t.Context(), Options{From: f, To: to.Server, Connections: 2})
	require.ErrorContains(t, err, "ends too early")
	require.Greater(t, report.Copied, uint64(100))
	require.EqualValues(t, report.Copied, to.size(t.Context()))
}

// TestEndsThatDoNotAnswer: errors say what is wrong, and no password.
func TestEndsThatDoNotAnswer(t *testing.T) {
	url := "redis://" + redistest.Start(t, "--requirepass", "hush")
	_, err := ConnectURL(t.Context(), url, Access{})
	require.ErrorContains(t, err, "give the password")
	_, err = ConnectURL(t.Context(), url, Access{Password: "wrong"})
	require.ErrorContains(t, err, "give the password")
	s, err := ConnectURL(t.Context(), url, Access{Password: "hush"})
	require.NoError(t, err)
	s.Close()
	_, err = ConnectURL(t.Context(), "http://user:hush@host", Access{})
	require.ErrorIs(t, err, ErrURL)
	require.NotContains(t, err.Error(), "hush")
	_, err = Connect(t.Context(), []string{"127.0.0.1:1"}, 0, Access{})
	require.ErrorContains(t, err, "127.0.0.1:1")
	_, err = FromFile(filepath.Join(t.TempDir(), "none"), 0, 1)
	require.True(t, errors.Is(err, os.ErrNotExist))
}
