package rdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readFile reads all of a file.
func readFile(in io.Reader, limit int) (all []Entry, err error) {
	f, err := NewFile(in, limit)
	if err != nil {
		return nil, err
	}
	for {
		e, err := f.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all, err
		}
		e.Payload = bytes.Clone(e.Payload)
		all = append(all, e)
	}
}

// saved is the file of a redis-server that was given some commands, and what it dumps of each key.
func saved(t *testing.T, commands [][]string, args ...string) (file []byte, dumps map[string]string) {
	dir := t.TempDir()
	redis := startRedis(t, append([]string{"--dir", dir}, args...)...)
	dumps = map[string]string{}
	for _, c := range commands {
		require.NotContains(t, redis.do(t, c...), "ERR", c[0])
		if c[0] != "XGROUP" && c[0] != "EVAL" && c[0] != "SELECT" {
			dumps[c[1]] = redis.do(t, "DUMP", c[1])
		}
		if c[0] == "EVAL" { // the stream has a group now
			dumps["stream"] = redis.do(t, "DUMP", "stream")
		}
	}
	require.Equal(t, "+OK", redis.do(t, "SAVE"))
	file, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	require.NoError(t, err)
	return file, dumps
}

// everything is a key of each type and encoding, and of each database.
func everything() [][]string {
	large := func(command string, score bool) []string {
		args := []string{command, "large " + command}
		for i := range 1000 {
			if score {
				args = append(args, strconv.Itoa(i))
			}
			args = append(args, fmt.Sprintf("element %d", i))
		}
		return args
	}
	return [][]string{
		{"SET", "a", "value"}, {"SET", "number", "12"}, {"SET", "number 16", "1200"}, {"SET", "number 32", "120000"}, {"SET", "long", strings.Repeat("x", 100000)},
		{"SET", "a\x00\xff\r\n", "binary"}, {"SET", "-5", "its key is a number"}, {"SET", "", "of no name"},
		{"SET", "expires", "x", "PXAT", "33000000000123"},
		{"RPUSH", "list", "a", "1", strings.Repeat("y", 9000)}, large("RPUSH", false),
		{"SADD", "integers", "1", "-70000", "5000000000"}, {"SADD", "set", "a", "b"}, large("SADD", false),
		{"ZADD", "sorted", "1", "a", "-inf", "b"}, large("ZADD", true),
		{"HSET", "hash", "f", "v", "g", "12"}, append(large("HSET", false), "odd", "even"),
		{"XADD", "stream", "1-1", "f", "v"}, {"XGROUP", "CREATE", "stream", "g", "0"}, {"EVAL", "redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'stream', '>')", "0"},
		{"SELECT", "3"}, {"SET", "of another database", "x"},
	}
}

// TestFileOfRedis: the keys of a file are those that the server had, byte for byte as it dumps them.
func TestFileOfRedis(t *testing.T) {
	for name, args := range map[string][]string{
		"as it is": nil, "lru": {"--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru"}, "lfu": {"--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lfu"},
		"no checksum": {"--rdbchecksum", "no"},
	} {
		t.Run(name, func(t *testing.T) {
			file, dumps := saved(t, everything(), args...)
			all, err := readFile(bytes.NewReader(file), testLimit)
			require.NoError(t, err)
			require.Len(t, all, len(dumps))
			for _, e := range all {
				want, db, expires := dumps[string(e.Key)], 0, int64(0)
				switch string(e.Key) {
				case "expires":
					expires = 33000000000123
				case "of another database":
					db = 3
				}
				require.NoError(t, e.Err)
				require.Equal(t, want, string(e.Payload), "%q", e.Key)
				require.Equal(t, db, e.DB)
				require.Equal(t, expires, e.ExpireAt)
			}
			for _, cut := range []int{9, 100, len(file) - 9, len(file) - 1} {
				_, err = readFile(bytes.NewReader(file[:cut]), testLimit)
				require.ErrorIs(t, err, ErrFormat, cut)
			}
			if name != "no checksum" {
				damaged := bytes.Clone(file)
				damaged[bytes.Index(damaged, []byte("value"))] ^= 1
				_, err = readFile(bytes.NewReader(damaged), testLimit)
				require.ErrorIs(t, err, ErrChecksum)
			}
		})
	}
}

// TestFileOfLongValues: what is longer than the limit is said, and the rest is read.
func TestFileOfLongValues(t *testing.T) {
	file, dumps := saved(t, [][]string{{"SET", "long", strings.Repeat("xy", 5000)}, {"SET", "short", "x"}}, "--rdbcompression", "no")
	all, err := readFile(bytes.NewReader(file), 5000)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, e := range all {
		if string(e.Key) == "long" {
			require.ErrorIs(t, e.Err, ErrTooLong)
			require.Nil(t, e.Payload)
		} else {
			require.Equal(t, dumps["short"], string(e.Payload))
		}
	}
}

// TestOldFiles: times in seconds, scores as texts, no checksum. And what later versions have: functions, slots, modules, hashes whose fields expire.
func TestOldFiles(t *testing.T) {
	all, err := readFile(strings.NewReader("REDIS0003\xfe\x02\xfd\x01\x00\x00\x00\x03\x01z\x02\x01a\x011\x01b\xfe\xff"), testLimit)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.EqualValues(t, 1000, all[0].ExpireAt)
	require.Equal(t, 2, all[0].DB)
	kind, items, _ := read(t, string(all[0].Payload))
	require.Equal(t, SortedSet, kind)
	require.Equal(t, []string{"a", "b"}, items)

	module := "\x81\x45\x27\x89\x2d\x22\xd1\x1f\xc0" // nine letters and a version
	f, err := NewFile(strings.NewReader("REDIS0012"+"\xf5\x03abc"+"\xf4\x01\x02\x03"+"\xf7"+module+"\x02\x01\x05\x02ab\x00"+
		"\x07\x01m"+module+"\x01\x05\x02\x06\x03abcd\x04abcdefgh\x05\x02xy\x00"+
		"\x18\x01hxxxxxxxx\x01\x05\x01f\x01v"+"\x19\x01ixxxxxxxx\x02lp"+"\x00\x01k\x01v\xff\x00\x00\x00\x00\x00\x00\x00\x00"), testLimit)
	require.NoError(t, err)
	for _, want := range []string{"not a type that is supported: value of a module", "hash whose fields expire", "hash whose fields expire"} {
		e, err := f.Next()
		require.NoError(t, err)
		require.ErrorIs(t, e.Err, ErrKind)
		require.ErrorContains(t, e.Err, want)
	}
	e, err := f.Next()
	require.NoError(t, err)
	require.Equal(t, "k", string(e.Key))
	require.EqualValues(t, 1, f.Skipped())
	require.Equal(t, []string{"abc"}, f.Libraries())
	_, err = f.Next()
	require.ErrorIs(t, err, io.EOF)
}

// TestNoFile: what is no such file is said to be none.
func TestNoFile(t *testing.T) {
	for _, text := range []string{"", "REDIS", "REDIS0099\xff", "QUOLL0010\xff", "REDISabcd"} {
		_, err := readFile(strings.NewReader(text), testLimit)
		require.ErrorIs(t, err, ErrFormat, text)
	}
}

// FuzzFile: whatever a file says, it is read within bounds, and what it says of a key can be opened.
func FuzzFile(f *testing.F) {
	f.Add([]byte("\xfe\x02\xfd\x01\x00\x00\x00\x03\x01z\x02\x01a\x011\x01b\xfe\xff\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\xf5\x03abc\xf4\x01\x02\x03\xfb\x01\x02\xfa\x01a\x01b\xf8\x05\xf9\x07\x00\x01k\xc3\x04\x0a\x00a\xe0\x00"))
	f.Add([]byte("\xf7\x01\x02\x01\x05\x02ab\x00\x07\x01m\x01\x01\x05\x02\x06\x03abcd\x04abcdefgh\x05\x02xy\x00\x18\x01hxxxxxxxx\x01\x05\x01f\x01v"))
	f.Add([]byte("\x15\x01s\x01\x01a\x01b\x01\x01\x01\x00\x00\x00\x00\x00\x01\x01g\x01\x01\x01\x00\x01\x01cxxxxxxxxxxxxxxxx\x00"))
	f.Add([]byte("\x12\x01l\x01\x02\x0b\x0b\x00\x00\x00\x02\x00\x81a\x02\x05\x01\xff"))
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, body []byte) {
		all, err := readFile(bytes.NewReader(append([]byte("REDIS0012"), body...)), limit)
		if err != nil {
			require.True(t, errors.Is(err, ErrFormat) || errors.Is(err, ErrChecksum) || errors.Is(err, ErrTooLong), err)
		}
		for _, e := range all {
			require.LessOrEqual(t, len(e.Key), limit)
			require.LessOrEqual(t, len(e.Payload), limit+footer)
			if e.Err != nil {
				require.True(t, errors.Is(e.Err, ErrKind) || errors.Is(e.Err, ErrTooLong), e.Err)
				continue
			}
			_, err := Open(e.Payload, limit)
			require.NoError(t, err)
		}
	})
}
