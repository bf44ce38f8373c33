//go:build unix

package libraries

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scriptedLibraries are those of Debian 12. A script, started with the port, says which version it is, and then answers each line with a line: "ok" and the
// result, or "error" and what went wrong. "careful" behind the port chooses careful settings.
var scriptedLibraries = []library{
	{"redis-py 4.3.4", true, dialScript("/usr/bin/python3", "testdata/redis_py.py")},
	{"node-redis 4.5.1", true, dialScript("node", "testdata/node_redis.js")},
	{"phpredis 5.3.7", true, dialScript("php", "testdata/phpredis.php")},
	{"redis-rb 4.8.0", false, dialScript("ruby", "testdata/redis_rb.rb")},
	{"redis-rb 4.8.0, `reconnect_attempts: 0`", true, dialScript("ruby", "testdata/redis_rb.rb", "careful")},
}

// errScript is what the library said.
var errScript = errors.New("the library said")

type script struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func dialScript(interpreter, file string, settings ...string) func(*testing.T, string) client {
	return func(t *testing.T, port string) client {
		path, err := exec.LookPath(interpreter)
		if err != nil {
			t.Skipf("%s is not installed", interpreter)
		}
		cmd := exec.Command(path, append([]string{file, port}, settings...)...)
		cmd.Env, cmd.Stderr = append(os.Environ(), "NODE_PATH=/usr/share/nodejs"), os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = in.Close() // its end
			_ = cmd.Wait()
		})
		s := script{t, in, bufio.NewReader(out)}
		first, err := s.out.ReadString('\n')
		switch version := strings.TrimSpace(first); {
		case err != nil:
			t.Skipf("%s ended at once: the library is not installed (%v)", file, err)
		case !strings.Contains(strings.SplitN(t.Name(), "/", 2)[1], strings.ReplaceAll(version, " ", "_")):
			t.Skipf("this is %s: docs/clients.md speaks of another version", version)
		}
		return s
	}
}

func (s script) ask(args ...string) (string, error) {
	_, err := fmt.Fprintln(s.in, strings.Join(args, " "))
	require.NoError(s.t, err)
	line, err := s.out.ReadString('\n')
	require.NoError(s.t, err, "the script has ended")
	verdict, text, _ := strings.Cut(strings.TrimSpace(line), " ")
	if verdict != "ok" {
		return "", fmt.Errorf("%w: %s", errScript, text)
	}
	return text, nil
}

func (s script) set(key, value string) error {
	_, err := s.ask("set", key, value)
	return err
}

func (s script) get(key string) (string, error) { return s.ask("get", key) }

func (s script) incr(key string) error {
	_, err := s.ask("incr", key)
	return err
}

func (s script) pipe(keys ...string) error {
	_, err := s.ask(append([]string{"pipe"}, keys...)...)
	return err
}

func (s script) tx(keys ...string) error {
	_, err := s.ask(append([]string{"tx"}, keys...)...)
	return err
}

func (s script) scan(pattern string) (int, error) {
	text, err := s.ask("scan", pattern)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
