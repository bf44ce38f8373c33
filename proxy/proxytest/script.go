package proxytest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quolldb/quoll/internal/resp"
)

// PlayAll lets 20 clients at once send random commands, cut into random pieces, and compares the replies. With local there are commands of the
// proxy among them.
func PlayAll(t *testing.T, addr string, local bool) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	var clients sync.WaitGroup
	for i := range 20 {
		s := newScript(fmt.Sprint("c", i), seed+uint64(i), local)
		for range 100 << (i % 4) {
			s.step()
		}
		clients.Go(func() { s.play(t, addr) })
	}
	clients.Wait()
}

// script is what one client does: commands on keys of its own, and what they answer.
type script struct {
	name     string
	rand     *rand.Rand
	commands []byte
	replies  strings.Builder
	values   map[string]string
	local    bool // commands of the proxy, among the others
}

func newScript(name string, seed uint64, local bool) *script {
	return &script{name: name, rand: rand.New(rand.NewPCG(seed, 1)), values: map[string]string{}, local: local}
}

func (s *script) add(reply string, words ...string) {
	s.commands = resp.AppendArray(s.commands, len(words))
	for _, word := range words {
		s.commands = resp.AppendBulk(s.commands, word)
	}
	s.replies.WriteString(reply)
}

// Bulk is the reply of GET.
func Bulk(value string, exists bool) string {
	if !exists {
		return "$-1\r\n"
	}
	return string(resp.AppendBulk(nil, value))
}

// step adds a command.
func (s *script) step() {
	key := func() string { return fmt.Sprintf("%s:%d", s.name, s.rand.IntN(5)) }
	a, b := key(), key()
	value := fmt.Sprint(s.rand.Uint64())
	if s.rand.IntN(50) == 0 {
		value = strings.Repeat("v", 1<<s.rand.IntN(19))
	}
	kinds := 4
	if s.local {
		kinds = 11
	}
	switch s.rand.IntN(kinds) {
	case 0:
		s.add("+OK\r\n", "SET", a, value)
		s.values[a] = value
	case 1, 2:
		have, exists := s.values[a]
		s.add(Bulk(have, exists), "GET", a)
	case 3:
		first, one := s.values[a]
		second, two := s.values[b]
		s.add("*2\r\n"+Bulk(first, one)+Bulk(second, two), "MGET", a, b)
	case 4:
		s.add("+PONG\r\n", "PING")
	case 5:
		s.add(Bulk(value, true), "ECHO", value)
	case 6:
		s.add("-ERR unknown command 'NOSUCH', with args beginning with: \r\n", "NOSUCH")
	case 7:
		s.add(Bulk("", false), "CLIENT", "GETNAME")
	case 8:
		s.add("+OK\r\n", "CLIENT", "SETINFO", "LIB-NAME", "x")
	case 9, 10:
		s.transaction(a, value)
	}
}

// transaction adds one that sets a key, and now and then one that fails, is discarded, or has a command of the proxy in it.
func (s *script) transaction(key, value string) {
	have, exists := s.values[key]
	s.add("+OK\r\n", "MULTI")
	s.add("+QUEUED\r\n", "GET", key)
	s.add("+QUEUED\r\n", "SET", key, value)
	s.add("+QUEUED\r\n", "MGET", key)
	replies := Bulk(have, exists) + "+OK\r\n*1\r\n" + Bulk(value, true)
	switch s.rand.IntN(6) {
	case 0:
		s.add("-ERR wrong number of arguments for 'get' command\r\n", "GET")
		s.add("-EXECABORT Transaction discarded because of previous errors.\r\n", "EXEC")
		return
	case 1:
		s.add("+OK\r\n", "DISCARD")
		return
	case 2:
		s.add("+QUEUED\r\n", "PING")
		s.add("*4\r\n"+replies+"+PONG\r\n", "EXEC")
	default:
		s.add("*3\r\n"+replies, "EXEC")
	}
	s.values[key] = value
}

// play sends the commands, cut into random pieces, and compares what comes back.
func (s *script) play(t *testing.T, addr string) {
	conn, err := DialConn(addr)
	if !assert.NoError(t, err) {
		return
	}
	defer conn.Close()
	var sender sync.WaitGroup
	defer sender.Wait()
	cut := rand.New(rand.NewPCG(s.rand.Uint64(), 2))
	sender.Go(func() {
		for rest := s.commands; len(rest) > 0; {
			n := min(len(rest), 1+cut.IntN(1<<cut.IntN(17)))
			if _, err := conn.Write(rest[:n]); err != nil {
				return // the reader says what is wrong
			}
			rest = rest[n:]
		}
	})
	got := make([]byte, s.replies.Len())
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	n, err := io.ReadFull(conn, got)
	if err != nil || string(got) != s.replies.String() {
		at := 0
		for want := s.replies.String(); at < n && got[at] == want[at]; at++ {
		}
		t.Errorf("%s: reply %d of %d bytes (%v) differs at %d: %q", s.name, n, len(got), err, at, got[max(0, at-50):min(n, at+50)])
	}
}
