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

// readReply reads the reply to a command of a kind, in RESP2, and returns it as histories know it.
func readReply(in *bufio.Reader, kind history.Kind) (text string, isError bool, err error) {
	words, typ, err := readWords(in)
	if err != nil {
		return "", false, err
	}
	if kind == history.HGetAll && typ == '*' {
		var hash history.Hash
		for i := 0; i+1 < len(words); i += 2 {
			hash = hash.Set(words[i], words[i+1])
		}
		return string(hash.Sorted()), false, nil
	}
	return strings.Join(words, " "), typ == '-', nil
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
