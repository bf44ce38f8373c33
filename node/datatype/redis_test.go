package datatype

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// redisConn is a connection that pipelines commands and reads raw replies.
type redisConn struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

func dialRedis(t *testing.T, addr string, hello string) *redisConn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	c := &redisConn{Conn: conn, in: bufio.NewReaderSize(conn, 1<<16)}
	c.send("HELLO", hello)
	require.NoError(t, c.flush())
	_, err = c.read(nil)
	require.NoError(t, err)
	return c
}

func (c *redisConn) send(args ...string) {
	c.out = fmt.Appendf(c.out, "*%d\r\n", len(args))
	for _, arg := range args {
		c.out = fmt.Appendf(c.out, "$%d\r\n%s\r\n", len(arg), arg)
	}
}

func (c *redisConn) flush() error {
	_, err := c.Write(c.out)
	c.out = c.out[:0]
	return err
}

// read appends one raw reply to dst.
func (c *redisConn) read(dst []byte) ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return dst, err
	}
	dst = append(dst, line...)
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return dst, nil
		}
		dst = append(dst, make([]byte, n+2)...)
		_, err = io.ReadFull(c.in, dst[len(dst)-n-2:])
		return dst, err
	case '%':
		n *= 2
		fallthrough
	case '*', '~':
		for range n {
			if dst, err = c.read(dst); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}
