//go:build unix

package differential

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// patience is how long a reply may take: far longer than a command's time-out.
const patience = 15 * time.Second

// link is one connection to one server, looked at as bytes.
type link struct {
	net.Conn
	in *bufio.Reader
	// id is what CLIENT ID answers.
	id string
}

func dial(address string) (*link, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	l := &link{Conn: conn, in: bufio.NewReader(conn)}
	reply, err := l.do("CLIENT", "ID")
	if err != nil {
		return nil, err
	}
	l.id = strings.Trim(reply, ":\r\n")
	return l, nil
}

// named returns the id or the addr of the connection, by which other clients name it.
func (l *link) named(what string) string {
	if what == "id" {
		return l.id
	}
	return l.LocalAddr().String()
}

// do sends one command and returns its reply.
func (l *link) do(args ...string) (string, error) {
	if err := l.send(encode(args)); err != nil {
		return "", err
	}
	return l.reply()
}

func (l *link) send(request []byte) error {
	_ = l.SetDeadline(time.Now().Add(patience))
	_, err := l.Write(request)
	return err
}

// reply returns the bytes of the next reply.
func (l *link) reply() (string, error) {
	var raw bytes.Buffer
	err := copyReply(&raw, l.in)
	return raw.String(), err
}

// rest closes the sending side and returns all that the server still sends.
func (l *link) rest() string {
	_ = l.Conn.(*net.TCPConn).CloseWrite()
	all, _ := io.ReadAll(l.in)
	return string(all)
}

// encode returns a command as an array of bulk strings.
func encode(args []string) []byte {
	request := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, arg := range args {
		request = fmt.Appendf(request, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return request
}

// copyReply copies one reply, with everything that is nested in it.
func copyReply(raw *bytes.Buffer, in *bufio.Reader) error {
	line, err := in.ReadString('\n')
	raw.WriteString(line)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=':
		if n >= 0 {
			_, err = io.CopyN(raw, in, int64(n)+2)
		}
		return err
	case '%':
		n *= 2
	case '*', '~', '>':
	case '+', '-', ':', '_', '#', ',', '(':
		return nil
	default:
		return fmt.Errorf("a reply that begins with %q", line)
	}
	for range n {
		if err := copyReply(raw, in); err != nil {
			return err
		}
	}
	return nil
}
