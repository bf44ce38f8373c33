package script

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
)

// peer is a connection to a real Redis that gives replies as they are.
type peer struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func dial(t testing.TB, address string, setup ...string) *peer {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	p := &peer{t: t, conn: conn, r: bufio.NewReader(conn)}
	for _, line := range setup {
		var args [][]byte
		for _, word := range strings.Fields(line) {
			args = append(args, []byte(word))
		}
		p.do(args)
	}
	return p
}

func (p *peer) do(args [][]byte) []byte {
	out := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(a), a)
	}
	_, err := p.conn.Write(out)
	require.NoError(p.t, err)
	return p.read(nil)
}

// read appends one complete reply.
func (p *peer) read(dst []byte) []byte {
	line, err := p.r.ReadBytes('\n')
	require.NoError(p.t, err, "Redis is gone")
	dst = append(dst, line...)
	n, _ := strconv.Atoi(string(line[1 : len(line)-2]))
	switch line[0] {
	case '$', '=':
		if n >= 0 {
			text := make([]byte, n+2)
			_, err := io.ReadFull(p.r, text)
			require.NoError(p.t, err)
			dst = append(dst, text...)
		}
	case '%', '|':
		n *= 2
		fallthrough
	case '*', '~', '>':
		for range n {
			dst = p.read(dst)
		}
		if line[0] == '|' {
			dst = p.read(dst)
		}
	}
	return dst
}

// pair is a real Redis and this package, whose commands go to the same server, in another of its databases.
type pair struct {
	t          testing.TB
	real       *peer
	two, three *peer // for commands
	resp3      bool
}

func newPair(t testing.TB, address string, resp3 bool) *pair {
	p := &pair{t: t, resp3: resp3, two: dial(t, address, "SELECT 1"), three: dial(t, address, "HELLO 3", "SELECT 1")}
	hello := "HELLO 2"
	if resp3 {
		hello = "HELLO 3"
	}
	p.real = dial(t, address, hello)
	return p
}

func (p *pair) call(args [][]byte, resp3 bool) []byte {
	by := p.two
	if resp3 {
		by = p.three
	}
	reply := by.do(args)
	switch text := string(reply); {
	case strings.HasPrefix(text, "-ERR unknown command"):
		return []byte("-ERR Unknown Redis command called from script\r\n")
	case strings.HasPrefix(text, "-ERR wrong number of arguments"):
		return []byte("-ERR Wrong number of args calling Redis command from script\r\n")
	}
	return reply
}

func sha(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

// both returns what Redis and what this package reply to EVAL script 2 k1 k2 a1 a2.
func (p *pair) both(script string) (want, got string) {
	flush := [][]byte{[]byte("FLUSHALL")}
	keys := [][]byte{[]byte("k1"), []byte("k2")}
	args := [][]byte{[]byte("a1"), []byte("10")}
	p.real.do(flush)
	want = string(p.real.do(append(append([][]byte{[]byte("EVAL"), []byte(script), []byte("2")}, keys...), args...)))
	p.real.do(flush)
	return want, string(eval(script, &Run{Keys: keys, Args: args, RESP3: p.resp3, Call: p.call}))
}

// eval is EVAL.
func eval(script string, r *Run) []byte {
	program, err := Compile([]byte(script))
	if err != nil {
		return []byte("-" + err.Error() + "\r\n")
	}
	r.SHA = sha(script)
	return program.Run(nil, r)
}

// compare runs scripts and fails where the replies differ.
func compare(t *testing.T, scripts []string) {
	address := redistest.Start(t)
	for _, resp3 := range []bool{false, true} {
		p := newPair(t, address, resp3)
		for _, s := range scripts {
			want, got := p.both(s)
			if want != got {
				t.Errorf("RESP3 %v: %s\n  Redis: %q\n  here:  %q", resp3, s, shortened(want), shortened(got))
			}
		}
	}
}

func shortened(reply string) string {
	if len(reply) > 2000 {
		return fmt.Sprintf("%s... (%d)", reply[:2000], len(reply))
	}
	return reply
}
