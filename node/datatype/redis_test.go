package datatype

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startRedis starts a redis-server for the test and returns its address. It skips the
// test where there is none, or one of another line than 7.0.
func startRedis(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed: the comparison with it is left out (apt install redis-server)")
	}
	version, err := exec.Command(path, "--version").Output()
	require.NoError(t, err)
	if !bytes.Contains(version, []byte("v=7.0.")) {
		t.Skipf("the comparison needs redis-server 7.0, here is %s", version)
	}
	port := freePort(t)
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(),
		"--save", "", "--appendonly", "no", "--loglevel", "warning")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, out)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
	})
	addr := net.JoinHostPort("127.0.0.1", port)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 10*time.Second, 10*time.Millisecond, "redis-server does not start")
	return addr
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

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
