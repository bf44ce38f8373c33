package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
)

// notInRedis70 are the commands and subcommands that we support and Redis 7.0 does not have:
// clients of today send the latter when they connect.
var notInRedis70 = []string{"client|no-touch", "client|setinfo", "waitaof"}

// laterOptions are the arities of commands that know an option of a later Redis, WITHSCORE of 7.2, by those that they have in Redis 7.0.
var laterOptions = map[string]string{"zrank": "3", "zrevrank": "3"}

// inRedis70 are the commands that both have.
func inRedis70() []*Command {
	return slices.DeleteFunc(slices.Clone(Supported()), func(c *Command) bool { return slices.Contains(notInRedis70, c.Name) })
}

func TestInfoEqualsRedis(t *testing.T) {
	redis := startRedis(t)
	for _, resp3 := range []bool{false, true} {
		redis.hello(t, resp3)
		for _, c := range inRedis70() {
			mine := mustDecode(t, AppendInfo(nil, c, resp3)).([]any)
			theirs := redis.do(t, "COMMAND", "INFO", c.Name).([]any)[0].([]any)
			if arity, later := laterOptions[c.Name]; later {
				require.Equal(t, arity, theirs[1])
				theirs[1] = "-" + arity
			}
			require.Equal(t, theirs[:9], mine[:9], c.Name)

			wanted := map[string]any{}
			for _, sub := range theirs[9].([]any) {
				wanted[sub.([]any)[0].(string)] = sub
			}
			require.Equal(t, len(c.Subcommands) > 0, len(wanted) > 0, c.Name)
			for _, sub := range mine[9].([]any) {
				if name := sub.([]any)[0].(string); !slices.Contains(notInRedis70, name) {
					require.Equal(t, wanted[name], sub, name)
				}
			}
		}
	}
}

// Where there are no subcommands the entries are the same byte for byte.
func TestInfoBytesEqualRedis(t *testing.T) {
	redis := startRedis(t)
	for _, resp3 := range []bool{false, true} {
		redis.hello(t, resp3)
		for _, name := range []string{"get", "set", "mset", "copy", "lcs", "scan", "auth", "nosuchcommand"} {
			redis.do(t, "COMMAND", "INFO", name)
			header := "*1\r\n"
			require.Equal(t, header+string(AppendInfo(nil, Lookup([]byte(name)), resp3)), redis.raw.String(), name)
		}
	}
}

func TestDocsEqualRedis(t *testing.T) {
	redis := startRedis(t)
	for _, resp3 := range []bool{false, true} {
		redis.hello(t, resp3)
		for _, c := range inRedis70() {
			mine := append([]byte("*2\r\n"), AppendDocs(nil, c, resp3)...)
			requireSameDocs(t, redis.do(t, "COMMAND", "DOCS", c.Name), mustDecode(t, mine))
		}
	}
	redis.do(t, "COMMAND", "DOCS", "time")
	require.Equal(t, "%1\r\n"+string(AppendDocs(nil, Lookup([]byte("time")), true)), redis.raw.String())
}

// requireSameDocs compares two replies of COMMAND DOCS field by field, except for
// those that we leave out on purpose.
func requireSameDocs(t *testing.T, theirs, mine any) {
	t.Helper()
	all, ours := pairs(theirs), pairs(mine)
	for name, doc := range ours {
		if slices.Contains(notInRedis70, name) {
			continue
		}
		want, got := pairs(all[name]), pairs(doc)
		delete(want, "history")
		delete(want, "arguments")
		if want["subcommands"] != nil {
			requireSameDocs(t, want["subcommands"], got["subcommands"])
			delete(want, "subcommands")
			delete(got, "subcommands")
		}
		require.Equal(t, want, got, name)
	}
}

// pairs makes a map of a flat list of keys and values.
func pairs(list any) map[string]any {
	m := map[string]any{}
	for pair := range slices.Chunk(list.([]any), 2) {
		m[pair[0].(string)] = pair[1]
	}
	return m
}

func TestNamesAndAritiesEqualRedis(t *testing.T) {
	redis := startRedis(t)
	wanted := map[string]string{}
	for _, entry := range redis.do(t, "COMMAND").([]any) {
		fields := entry.([]any)
		name := fields[0].(string)
		group := pairs(redis.do(t, "COMMAND", "DOCS", name).([]any)[1])["group"]
		wanted[name] = fmt.Sprint(fields[1], " ", group)
	}
	mine := map[string]string{}
	for _, c := range All() {
		if slices.Contains(notInRedis70, c.Name) {
			continue
		}
		arity := strconv.Itoa(c.Arity)
		if earlier, later := laterOptions[c.Name]; later {
			arity = earlier
		}
		mine[c.Name] = fmt.Sprint(arity, " ", c.Group)
	}
	require.Equal(t, wanted, mine)
}

// TestSubcommandsEqualRedis: each subcommand of Redis is either there, or said to be refused.
func TestSubcommandsEqualRedis(t *testing.T) {
	redis := startRedis(t)
	var wanted, mine []string
	for _, entry := range redis.do(t, "COMMAND").([]any) {
		for _, sub := range entry.([]any)[9].([]any) {
			wanted = append(wanted, sub.([]any)[0].(string))
		}
	}
	for _, c := range All() {
		for _, sub := range c.Subcommands {
			if !slices.Contains(notInRedis70, sub.Name) {
				mine = append(mine, sub.Name)
			}
		}
		for _, w := range c.Without {
			for _, name := range strings.Fields(w.Names) {
				mine = append(mine, c.Name+"|"+name)
			}
		}
	}
	require.ElementsMatch(t, wanted, mine)
}

// redisServer is a connection to a real redis-server.
type redisServer struct {
	conn net.Conn
	in   *bufio.Reader
	raw  strings.Builder // the bytes of the last reply
}

// startRedis starts a redis-server 7.0 for the length of the test, and skips the
// test where there is none.
func startRedis(t *testing.T) *redisServer {
	t.Helper()
	conn, err := net.Dial("tcp", redistest.Start(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	r := &redisServer{conn: conn}
	r.in = bufio.NewReader(conn)
	return r
}

func (r *redisServer) hello(t *testing.T, resp3 bool) {
	t.Helper()
	if resp3 {
		r.do(t, "HELLO", "3")
	}
}

// do sends a command and decodes the reply.
func (r *redisServer) do(t *testing.T, args ...string) any {
	t.Helper()
	_, err := io.WriteString(r.conn, strings.Join(args, " ")+"\r\n")
	require.NoError(t, err)
	r.raw.Reset()
	reply, err := decode(r.in, &r.raw)
	require.NoError(t, err)
	return reply
}

func mustDecode(t *testing.T, reply []byte) any {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(string(reply)))
	value, err := decode(in, io.Discard)
	require.NoError(t, err)
	require.Zero(t, in.Buffered(), "bytes behind the reply")
	return value
}

// decode reads one reply and copies its bytes to raw. Strings and numbers are
// strings, simple strings have their "+"; aggregates are lists, those of RESP3
// (sets, maps) flat and without their type, which the byte comparisons cover.
func decode(in *bufio.Reader, raw io.Writer) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	_, _ = io.WriteString(raw, line)
	kind, text := line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch kind {
	case '+', ':':
		return strings.TrimPrefix(string(kind), ":") + text, nil
	case '_':
		return nil, nil
	case '-':
		return nil, errors.New(text)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, err
	}
	switch kind {
	case '$':
		value := make([]byte, n+2)
		_, err := io.ReadFull(in, value)
		_, _ = raw.Write(value)
		return string(value[:n]), err
	case '%':
		n *= 2
	case '*', '~':
	default:
		return nil, fmt.Errorf("unexpected reply %q", line)
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = decode(in, raw); err != nil {
			return nil, err
		}
	}
	return list, nil
}
