package verify

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/resp"
)

// connection is a connection to a server. One command at a time is under way on it.
type connection struct {
	net.Conn
	in  *bufio.Reader
	out []byte
	// transactions is how many were begun.
	transactions int
}

// Bounds of an answer: nobody writes longer values here.
const (
	longestLine  = 16 << 10
	longestValue = 1 << 20
	longestArray = 1000
	deepestArray = 5 // entries of streams
)

// errForeign: that is no answer to what was asked.
var errForeign = errors.New("it is no answer in Redis' protocol")

func newConnection(conn net.Conn) *connection {
	return &connection{Conn: conn, in: bufio.NewReaderSize(conn, longestLine)}
}

func (c *connection) close() { _ = c.Close() }

// ask sends a command and waits for its answer until a time. A refusal leaves the connection as it was; after another
// error it is of no use.
func (c *connection) ask(end time.Time, args ...any) (answer, error) {
	if err := c.SetDeadline(end); err != nil {
		return answer{}, err
	}
	if err := c.send(args); err != nil {
		return answer{}, err
	}
	return c.read()
}

// send writes commands in one piece.
func (c *connection) send(commands ...[]any) error {
	c.out = c.out[:0]
	for _, args := range commands {
		c.out = resp.AppendArray(c.out, len(args))
		for _, arg := range args {
			c.out = resp.AppendBulk(c.out, fmt.Sprint(arg))
		}
	}
	_, err := c.Write(c.out)
	return err
}

// read takes an answer.
func (c *connection) read() (answer, error) {
	line, err := c.line()
	if err != nil {
		return answer{}, err
	}
	switch text := line[1:]; line[0] {
	case '+':
		return answer{text: text}, nil
	case '-':
		return answer{}, refusal(text)
	case ':':
		if _, ok := resp.ParseInt([]byte(text)); !ok {
			return answer{}, fmt.Errorf("%w: %.40q", errForeign, line)
		}
		return answer{text: text}, nil
	case '$':
		n, ok := resp.ParseInt([]byte(text))
		switch {
		case ok && n == -1:
			return answer{null: true}, nil
		case ok && n >= 0 && n <= longestValue:
			return c.value(int(n))
		}
	case '*':
		n, ok := resp.ParseInt([]byte(text))
		switch {
		case ok && n == -1:
			return answer{null: true}, nil
		case ok && n >= 0 && n <= longestArray:
			words, err := c.words(nil, int(n), 1)
			return answer{text: strings.Join(words, " ")}, err
		}
	}
	return answer{}, fmt.Errorf("%w: %.40q", errForeign, line)
}

// line takes a line with at least one letter.
func (c *connection) line() (string, error) {
	raw, err := c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("%w: %.40q…", errForeign, raw)
	case errors.Is(err, io.EOF) && len(raw) > 0:
		return "", io.ErrUnexpectedEOF
	case err != nil:
		return "", err
	}
	line, whole := strings.CutSuffix(string(raw), "\r\n")
	if !whole || line == "" {
		return "", fmt.Errorf("%w: %.40q", errForeign, raw)
	}
	return line, nil
}

// value takes the bytes of a value and the end of the line behind them.
func (c *connection) value(n int) (answer, error) {
	raw := make([]byte, n+2)
	if _, err := io.ReadFull(c.in, raw); err != nil {
		return answer{}, err
	}
	if string(raw[n:]) != "\r\n" {
		return answer{}, fmt.Errorf("%w: a value that does not end", errForeign)
	}
	return answer{text: string(raw[:n])}, nil
}

// words takes n answers, and appends each as a word. Of an array among them, to some depth, it takes the words in their place.
func (c *connection) words(to []string, n, depth int) ([]string, error) {
	for range n {
		next, err := c.in.Peek(1)
		switch {
		case err != nil:
			return nil, err
		case next[0] == '-', next[0] == '*' && depth == deepestArray, len(to) > longestArray*deepestArray:
			return nil, fmt.Errorf("%w: %.1q in an array", errForeign, next)
		case next[0] == '*':
			to, err = c.inner(to, depth+1)
		default:
			var element answer
			if element, err = c.read(); err == nil {
				to = append(to, element.word())
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return to, nil
}

// inner takes the words of an array within another one.
func (c *connection) inner(to []string, depth int) ([]string, error) {
	line, err := c.line()
	if err != nil {
		return nil, err
	}
	n, ok := resp.ParseInt([]byte(line[1:]))
	if !ok || n < 0 || n > longestArray {
		return nil, fmt.Errorf("%w: %.40q in an array", errForeign, line)
	}
	return c.words(to, int(n), depth)
}
