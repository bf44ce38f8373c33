//go:build unix

package libraries

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// lost stands for an error word: the command is executed, and the connection closed instead of an answer.
const lost = "connection lost"

// server answers as a Redis does, but an INCR of a key WORD/... gets that error the first time. It counts how often each key was sent.
type server struct {
	port string
	// closeListener lets nobody connect any more.
	closeListener func()

	mu   sync.Mutex
	sent map[string]int
}

func startServer(t *testing.T) *server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	s := &server{port: port, closeListener: func() { _ = listener.Close() }, sent: map[string]int{}}
	t.Cleanup(s.closeListener)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go s.serve(conn)
		}
	}()
	return s
}

// refused returns the key to which an INCR gets an error word, the first time.
func refused(word, rest string) string {
	return "refused/" + strings.ReplaceAll(word, " ", "_") + "/" + rest
}

// serve ends when the connection does, or something is not understood, which the library's test notices. Commands that were sent together are
// answered together.
func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	in, out := bufio.NewReader(conn), bufio.NewWriter(conn)
	for {
		args, err := readCommand(in)
		if err != nil {
			return
		}
		reply, ok := s.answer(args)
		if !ok {
			return
		}
		_, _ = out.WriteString(reply)
		if in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

// answer executes a command. It reports false if the connection is to be lost.
func (s *server) answer(args []string) (string, bool) {
	switch strings.ToUpper(args[0]) {
	case "HELLO":
		if len(args) > 1 && args[1] == "3" {
			return "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n", true
		}
		return "*6\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:2\r\n", true
	case "CLUSTER":
		return "-ERR This instance has cluster support disabled\r\n", true
	case "PING":
		return "+PONG\r\n", true
	case "INCR", "INCRBY": // redis-py has but the second
		return s.incr(args[1])
	}
	return "+OK\r\n", true
}

func (s *server) incr(key string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[key]++
	kind, rest, _ := strings.Cut(key, "/")
	word, _, _ := strings.Cut(rest, "/")
	switch {
	case kind != "refused" || s.sent[key] > 1:
		return fmt.Sprintf(":%d\r\n", s.sent[key]), true
	case word == strings.ReplaceAll(lost, " ", "_"):
		return "", false
	}
	return "-" + word + " said by a test\r\n", true
}

func (s *server) times(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[key]
}

// readCommand reads an array of bulk strings, which is all that libraries send.
func readCommand(in *bufio.Reader) ([]string, error) {
	n, err := readLength(in, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := readLength(in, '$')
		if err != nil {
			return nil, err
		}
		text := make([]byte, size+2)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, err
		}
		args[i] = string(text[:size])
	}
	return args, nil
}

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("%q does not begin with %c", line, kind)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}
