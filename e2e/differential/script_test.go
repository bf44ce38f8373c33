//go:build unix

package differential

import (
	"fmt"
	"strconv"
	"strings"
)

// form is how a step reaches the servers.
type form byte

// The forms, as they are written in scripts.
const (
	// array is a command as clients send it.
	array form = '>'
	// inline is a command as people type it.
	inline form = '~'
	// raw are bytes, after which the client sends no more: args[0].
	raw form = '!'
	// expire lets the key args[0] expire and waits until it has on both servers.
	expire form = '@'
	// iterate is a whole SCAN with the options args.
	iterate form = '%'
)

// step is one command of a script, on one of its connections. In an argument <id N> and
// <addr N> stand for CLIENT ID and the address of connection N.
type step struct {
	conn int
	form form
	args []string
	// joined says that it is sent together with the step before (if that is on the same
	// connection): pipelined.
	joined bool
}

// script is a sequence of commands. It is written one step a line, quoted as for
// redis-cli:
//
//	1> SET a "line\r\n"      connection 1, as an array
//	+1> GET a                in one write with the step before
//	2~ GET a                 inline
//	2! "*1\r\n$x\r\n"        bytes; then the client sends no more
//	1@ a                     the key expires
//	1% MATCH a* COUNT 2      a whole iteration with SCAN
type script []step

func (s step) String() string {
	text := fmt.Sprintf("%d%c", s.conn, s.form)
	if s.joined {
		text = "+" + text
	}
	for _, arg := range s.args {
		text += " " + quote(arg)
	}
	return text
}

func (s script) String() string {
	var text strings.Builder
	for _, step := range s {
		fmt.Fprintln(&text, step)
	}
	return text.String()
}

// parseScript reads what String writes.
func parseScript(text string) (script, error) {
	var all script
	for line := range strings.Lines(text) {
		var s step
		line, s.joined = strings.CutPrefix(strings.TrimSpace(line), "+")
		if line == "" {
			continue
		}
		head, rest, _ := strings.Cut(line, " ")
		conn, err := strconv.Atoi(head[:len(head)-1])
		if err != nil {
			return nil, fmt.Errorf("%q does not begin with a connection's number", line)
		}
		s.conn, s.form = conn, form(head[len(head)-1])
		if s.args, err = splitWords(rest); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// quote writes an argument so that redis-cli, and the server for an inline command, read
// it back.
func quote(arg string) string {
	plain := arg != ""
	var text strings.Builder
	text.WriteByte('"')
	for i := range len(arg) {
		switch c := arg[i]; {
		case c == '"' || c == '\\':
			text.WriteString("\\" + string(c))
			plain = false
		case c == '\r':
			text.WriteString(`\r`)
			plain = false
		case c == '\n':
			text.WriteString(`\n`)
			plain = false
		case c < ' ' || c > '~':
			fmt.Fprintf(&text, `\x%02x`, c)
			plain = false
		default:
			text.WriteByte(c)
			plain = plain && c != ' ' && c != '\''
		}
	}
	if plain {
		return arg
	}
	return text.String() + `"`
}

// splitWords undoes quote for a line of arguments.
func splitWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(line, " ")
			words, line = append(words, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, err
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), line[len(quoted):]
	}
	return words, nil
}
