package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/history"
)

var errReply = errors.New("a reply that makes no sense")

// readReply reads a reply, in RESP2, and returns it as histories know it.
func readReply(in *bufio.Reader) (text string, isError bool, err error) {
	words, typ, err := readWords(in)
	return strings.Join(words, " "), typ == '-', err
}

// readWords reads one reply, whose type is its first byte.
func readWords(in *bufio.Reader) (words []string, typ byte, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, 0, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if len(line) == 0 {
		return nil, 0, fmt.Errorf("%w: an empty line", errReply)
	}
	typ, line = line[0], line[1:]
	switch typ {
	case '+', '-', ':':
		return []string{line}, typ, nil
	case '$', '*':
	default:
		return nil, typ, fmt.Errorf("%w: %c%s", errReply, typ, line)
	}
	n, err := strconv.Atoi(line)
	switch {
	case err != nil:
		return nil, typ, fmt.Errorf("%w: %w", errReply, err)
	case n < 0:
		return []string{history.Nil}, typ, nil
	case typ == '$':
		body := make([]byte, n+2)
		_, err = io.ReadFull(in, body)
		return []string{string(body[:n])}, typ, err
	}
	for range n {
		element, _, err := readWords(in)
		if err != nil {
			return nil, typ, err
		}
		words = append(words, element...)
	}
	return words, typ, nil
}
