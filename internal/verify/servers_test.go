package verify

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scripted is a server that answers each line it reads that begins with a star with the next text; at "hang up" it
// closes the connection, and of "silence" it says nothing.
func scripted(t *testing.T, answers ...string) *servers {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	next := make(chan string, len(answers))
	for _, a := range answers {
		next <- a
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go converse(conn, next)
		}
	}()
	s := newServers(Options{Addresses: []string{listener.Addr().String()}})
	t.Cleanup(s.close)
	return s
}

func converse(conn net.Conn, next <-chan string) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for in.Scan() {
		if !strings.HasPrefix(in.Text(), "*") {
			continue
		}
		switch a := <-next; a {
		case "hang up":
			return
		case "silence":
		default:
			_, _ = conn.Write([]byte(a))
		}
	}
}

func TestAnswers(t *testing.T) {
	for sent, want := range map[string]answer{
		"+OK\r\n": {text: "OK"}, ":-12\r\n": {text: "-12"}, "$-1\r\n": {null: true}, "$0\r\n\r\n": {}, "$5\r\na\r\nb\n\r\n": {text: "a\r\nb\n"},
		"*0\r\n": {}, "*4\r\n$1\r\nf\r\n$1\r\n7\r\n+g\r\n:8\r\n": {text: "f 7 g 8"}, "*3\r\n$-1\r\n$0\r\n\r\n$3\r\na b\r\n": {text: `(nil) "" "a\x20b"`},
		"*-1\r\n": {null: true}, "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\ne\r\n$1\r\nx\r\n*0\r\n": {text: "s 1-0 e x"},
	} {
		got, err := scripted(t, sent).do(t.Context(), 0, "GET", "k")
		require.NoError(t, err, "%q", sent)
		require.Equal(t, want, got, "%q", sent)
	}
}

func TestARefusalDidNothing(t *testing.T) {
	s := scripted(t, "-ERR no\r\n", "+OK\r\n", "-UNKNOWN who knows\r\n", "+OK\r\n")
	_, err := s.do(t.Context(), 0, "SET", "k", 1)
	require.EqualError(t, err, "ERR no")
	require.NotErrorIs(t, err, errUnknown)
	_, err = s.do(t.Context(), 0, "SET", "k", 1)
	require.NoError(t, err, "the connection is as good as before")
	_, err = s.do(t.Context(), 0, "SET", "k", 1)
	require.ErrorIs(t, err, errUnknown)
	_, err = s.do(t.Context(), 0, "SET", "k", 1)
	require.NoError(t, err)
}

// TestWhatHasNoAnswerIsUnknown, and the next command has a new connection.
func TestWhatHasNoAnswerIsUnknown(t *testing.T) {
	for _, broken := range []string{"hang up", "$5\r\nab", "*1\r\n*-1\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "*1\r\n-ERR a\r\n", "*1001\r\n", "*-2\r\n", "%1\r\n+a\r\n+b\r\n", "HTTP/1.1 400\r\n", "\r\n", ":x\r\n", "$99999999\r\n", "$1\r\nabc\r\n", "+a\n", "-" + strings.Repeat("x", longestLine)} {
		s := scripted(t, broken, "+OK\r\n")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // for what never ends
		_, err := s.do(ctx, 0, "SET", "k", 1)
		cancel()
		require.ErrorIs(t, err, errUnknown, "%.40q", broken)
		got, err := s.do(t.Context(), 0, "SET", "k", 1)
		require.NoError(t, err, "%.40q", broken)
		require.Equal(t, "OK", got.text)
	}
}

func TestNoAnswerInTimeIsUnknown(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := scripted(t, "silence").do(ctx, 0, "SET", "k", 1)
	require.ErrorIs(t, err, errUnknown)
}

// TestNotConnectedDidNothing: neither is a password that is refused an unknown outcome.
func TestNotConnectedDidNothing(t *testing.T) {
	nobody := newServers(Options{Addresses: []string{"127.0.0.1:1"}})
	_, err := nobody.do(t.Context(), 0, "SET", "k", 1)
	require.Error(t, err)
	require.NotErrorIs(t, err, errUnknown)

	s := scripted(t, "-WRONGPASS no\r\n", "+OK\r\n", ":1\r\n")
	s.password = "hush"
	_, err = s.do(t.Context(), 0, "INCR", "k")
	require.ErrorContains(t, err, "WRONGPASS")
	require.NotErrorIs(t, err, errUnknown)
	require.ErrorContains(t, explain("h:1", err), "does not take the password")
	got, err := s.do(t.Context(), 0, "INCR", "k")
	require.NoError(t, err)
	require.Equal(t, "1", got.text)
}
