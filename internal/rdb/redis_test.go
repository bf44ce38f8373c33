package rdb

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/redistest"
)

const testLimit = 64 << 20

// server is a connection to a real redis-server.
type server struct {
	conn net.Conn
	in   *bufio.Reader
}

func startRedis(t *testing.T, args ...string) *server {
	conn, err := net.Dial("tcp", redistest.Start(t, args...))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &server{conn, bufio.NewReader(conn)}
}

// do sends a command and returns a simple or bulk reply.
func (s *server) do(t require.TestingT, args ...string) string {
	request := fmt.Sprintf("*%d\r\n", len(args))
	for _, arg := range args {
		request += fmt.Sprintf("$%d\r\n%s\r\n", len(arg), arg)
	}
	_, err := io.WriteString(s.conn, request)
	require.NoError(t, err)
	line, err := s.in.ReadString('\n')
	require.NoError(t, err)
	line = strings.TrimSuffix(line, "\r\n")
	if line[0] != '$' {
		return line
	}
	n, err := strconv.Atoi(line[1:])
	require.NoError(t, err)
	if n < 0 {
		return "(nil)"
	}
	value := make([]byte, n+2)
	_, err = io.ReadFull(s.in, value)
	require.NoError(t, err)
	return string(value[:n])
}

// read returns the items of a payload.
func read(t require.TestingT, payload string) (kind Kind, items []string, scores []float64) {
	v, err := Open([]byte(payload), testLimit)
	require.NoError(t, err)
	require.NoError(t, v.Each(func(item []byte, score float64) error {
		items, scores = append(items, string(item)), append(scores, score)
		return nil
	}))
	return v.Kind, items, scores
}

// item draws what may be an item of a value, of any length and encoding.
func item(t *rapid.T) string {
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		return strconv.Itoa(rapid.IntRange(-100, 300).Draw(t, "small"))
	case 1:
		bits := rapid.IntRange(1, 63).Draw(t, "bits")
		return strconv.Itoa(rapid.IntRange(-1<<bits, 1<<bits-1).Draw(t, "number"))
	case 2:
		return strings.Repeat(rapid.StringN(1, 3, 9).Draw(t, "part"), rapid.IntRange(0, 3000).Draw(t, "times"))
	case 3:
		return rapid.SampledFrom([]string{"", "0", "-0", "00", "+1", "12", "8191", "8192", "-4096", "-4097", "9223372036854775807", "-9223372036854775808",
			"9223372036854775808", "1.5", strings.Repeat("x", 63), strings.Repeat("x", 64), strings.Repeat("x", 4095), strings.Repeat("x", 4096),
			strings.Repeat("y", 20000)}).Draw(t, "edge")
	}
	return string(rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "bytes"))
}

// sample is a value of a kind, without anything twice.
type sample struct {
	kind   Kind
	items  []string
	scores []float64
}

func draw(t *rapid.T) (s sample) {
	s.kind = Kind(rapid.IntRange(int(String), int(Hash)).Draw(t, "kind"))
	n, seen, each := rapid.SampledFrom([]int{1, 2, 5, 100, 200}).Draw(t, "items"), map[string]bool{}, item
	if s.kind == Set && rapid.Bool().Draw(t, "numbers") {
		bits := rapid.SampledFrom([]int{10, 20, 40}).Draw(t, "bits")
		each = func(t *rapid.T) string { return strconv.Itoa(rapid.IntRange(-1<<bits, 1<<bits).Draw(t, "n")) }
	}
	for range n {
		value := each(t)
		if s.kind != List && seen[value] {
			continue
		}
		seen[value] = true
		s.items, s.scores = append(s.items, value), append(s.scores, 0)
		switch s.kind {
		case String:
			return s
		case Hash:
			s.items, s.scores = append(s.items, item(t)), append(s.scores, 0)
		case SortedSet:
			s.scores[len(s.scores)-1] = rapid.SampledFrom([]float64{0, 1, -1, 1.5, 1e300, -1e-300, 0.1, 123456789012345678, math.Inf(1), math.Inf(-1),
				rapid.Float64().Draw(t, "score")}).Draw(t, "s")
		}
	}
	return s
}

// command returns what makes a Redis have it.
func (s sample) command(key string) []string {
	if s.kind == SortedSet {
		args := []string{"ZADD", key}
		for i, member := range s.items {
			args = append(args, strconv.FormatFloat(s.scores[i], 'g', 17, 64), member)
		}
		return args
	}
	return append([]string{map[Kind]string{String: "SET", List: "RPUSH", Set: "SADD", Hash: "HSET"}[s.kind], key}, s.items...)
}

// payload is the value as it is written here.
func (s sample) payload() []byte {
	n := len(s.items)
	if s.kind == Hash {
		n /= 2
	}
	out := Begin(nil, s.kind, n)
	for i, item := range s.items {
		if out = AppendItem(out, []byte(item)); s.kind == SortedSet {
			out = AppendScore(out, s.scores[i])
		}
	}
	return Seal(out)
}

// same compares with items that were read, in their order where the kind has one.
func (s sample) same(t require.TestingT, kind Kind, items []string, scores []float64) {
	require.Equal(t, s.kind, kind)
	if kind == String || kind == List {
		require.Equal(t, s.items, items)
		return
	}
	require.Equal(t, s.entries(), sample{kind, items, scores}.entries())
	require.Len(t, items, len(s.items))
}

func (s sample) entries() map[string]any {
	all := map[string]any{}
	for i := 0; i < len(s.items); i++ {
		if s.kind == Hash {
			all[s.items[i]] = s.items[i+1]
			i++
		} else {
			all[s.items[i]] = s.scores[i]
		}
	}
	return all
}

// TestAsRedis: what a Redis dumps, in whichever encoding it has it, is read here, and it restores what is written here.
func TestAsRedis(t *testing.T) {
	for name, args := range map[string][]string{
		"as it is":   nil,
		"packed":     {"--hash-max-listpack-entries", "1000", "--hash-max-listpack-value", "100000", "--zset-max-listpack-entries", "1000", "--zset-max-listpack-value", "100000", "--list-max-listpack-size", "-5"},
		"not packed": {"--hash-max-listpack-entries", "0", "--zset-max-listpack-entries", "0", "--set-max-intset-entries", "0", "--list-max-listpack-size", "1", "--rdbcompression", "no"},
	} {
		t.Run(name, func(t *testing.T) {
			redis := startRedis(t, append(args, "--enable-debug-command", "yes")...)
			rapid.Check(t, func(t *rapid.T) {
				redis.do(t, "DEBUG", "QUICKLIST-PACKED-THRESHOLD", rapid.SampledFrom([]string{"100", "1000000"}).Draw(t, "plain"))
				s := draw(t)
				redis.do(t, "DEL", "k", "l")
				require.NotContains(t, redis.do(t, s.command("k")...), "ERR")
				kind, items, scores := read(t, redis.do(t, "DUMP", "k"))
				s.same(t, kind, items, scores)

				written := string(s.payload())
				kind, items, scores = read(t, written)
				s.same(t, kind, items, scores)
				require.Equal(t, "+OK", redis.do(t, "RESTORE", "l", "0", written))
				kind, items, scores = read(t, redis.do(t, "DUMP", "l"))
				s.same(t, kind, items, scores)
				if s.kind == String && len(s.items[0]) <= 20 {
					require.Equal(t, redis.do(t, "DUMP", "k"), written, "short strings are as Redis has them")
				}
			})
		})
	}
}

// TestOldEncodings: what older versions wrote is read as Redis reads it.
func TestOldEncodings(t *testing.T) {
	redis := startRedis(t)
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t)
		var payload []byte
		switch text := s.textScores(); s.kind {
		case List:
			payload = rapid.SampledFrom([][]byte{
				sealed(typeListZiplist, ziplistOf(s.items)),
				Seal(append(AppendItem([]byte{typeQuicklist, 2}, ziplistOf(s.items[:1])), AppendItem(nil, ziplistOf(s.items))...)),
			}).Draw(t, "list")
			if payload[0] == typeQuicklist {
				s.items = append([]string{s.items[0]}, s.items...)
			}
		case Hash:
			payload = rapid.SampledFrom([][]byte{sealed(typeHashZiplist, ziplistOf(s.items)), sealed(typeHashZipmap, zipmapOf(s.items))}).Draw(t, "hash")
		case SortedSet:
			payload = sealed(typeSortedZiplist, ziplistOf(text))
		default:
			return
		}
		redis.do(t, "DEL", "k")
		require.Equal(t, "+OK", redis.do(t, "RESTORE", "k", "0", string(payload)))
		kind, items, scores := read(t, redis.do(t, "DUMP", "k"))
		s.same(t, kind, items, scores)
		kind, items, scores = read(t, string(payload))
		s.same(t, kind, items, scores)
	})
}

// textScores returns members and their scores as texts.
func (s sample) textScores() (all []string) {
	for i, member := range s.items {
		all = append(all, member, strconv.FormatFloat(s.scores[i], 'g', 17, 64))
	}
	return all
}

func sealed(typ byte, packed []byte) []byte { return Seal(AppendItem([]byte{typ}, packed)) }
