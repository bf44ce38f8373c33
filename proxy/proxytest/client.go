package proxytest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/resp"
)

// Client is a client that looks at bytes.
type Client struct {
	t testing.TB
	net.Conn
	// In is what is read from.
	In *bufio.Reader
}

// Dial connects. The connection is closed when the test ends, and can be used for ten seconds.
func Dial(t testing.TB, addr string) *Client {
	t.Helper()
	conn, err := DialConn(addr)
	require.NoError(t, err)
	return newClient(t, conn)
}

func newClient(t testing.TB, conn net.Conn) *Client {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	return &Client{t: t, Conn: conn, In: bufio.NewReader(conn)}
}

// Send sends commands, one a line, words separated by spaces; "" is an empty word.
func (c *Client) Send(lines ...string) {
	c.t.Helper()
	var out []byte
	for _, line := range lines {
		words := strings.Fields(line)
		out = resp.AppendArray(out, len(words))
		for _, word := range words {
			out = resp.AppendBulk(out, strings.ReplaceAll(word, `""`, ""))
		}
	}
	_, err := c.Write(out)
	require.NoError(c.t, err)
}

// Do sends one command and returns its whole reply.
func (c *Client) Do(line string) string {
	c.t.Helper()
	c.Send(line)
	return c.Reply()
}

// Reply reads one reply and returns its bytes.
func (c *Client) Reply() string {
	c.t.Helper()
	text, err := ReadReply(c.In)
	require.NoError(c.t, err)
	return text
}

// Rest reads until the server closes the connection.
func (c *Client) Rest() string {
	c.t.Helper()
	text, err := io.ReadAll(c.In)
	require.NoError(c.t, err)
	return string(text)
}

// ReadReply reads one reply and returns its bytes.
func ReadReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return line, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return line, nil
		}
		body := make([]byte, n+2)
		_, err := io.ReadFull(in, body)
		return line + string(body), err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return line, nil
	}
	var all bytes.Buffer
	all.WriteString(line)
	for range n {
		part, err := ReadReply(in)
		if err != nil {
			return "", fmt.Errorf("in %q: %w", all.String(), err)
		}
		all.WriteString(part)
	}
	return all.String(), nil
}
