package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// scripted is a connection of a client that has said everything, and keeps what it hears.
type scripted struct {
	net.Conn
	io.Reader
	heard  bytes.Buffer
	closed chan struct{}
}

func (s *scripted) Read(p []byte) (int, error)       { return s.Reader.Read(p) }
func (s *scripted) Write(p []byte) (int, error)      { return s.heard.Write(p) }
func (s *scripted) SetWriteDeadline(time.Time) error { return nil }
func (s *scripted) SetReadDeadline(time.Time) error  { return nil }
func (s *scripted) Close() error                     { close(s.closed); return nil }
func (s *scripted) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: "remote"} }
func (s *scripted) LocalAddr() net.Addr              { return &net.UnixAddr{Name: "local"} }

// FuzzSession: no bytes make a session panic, what it answers is RESP, and there is one
// answer to each command.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		"*1\r\n$9223372036854775800\r\nPING\r\n", "*3000000000\r\n", "PING\r\nGET a\r\n", "*-1\r\nPING\r\n*0\r\nPING\r\n",
		"HELLO 3 AUTH default x SETNAME y\r\nCLIENT LIST\r\nCLIENT INFO\r\n", "HELLO 3\r\nGET none\r\nINFO\r\nCONFIG GET *\r\nLCS a b IDX\r\n",
		"MSET a 1 b\r\nMSET a 1 b 2\r\nMGET a b\r\nDEL a b\r\n", "SCAN 0 MATCH [a-\\ COUNT 5 TYPE string\r\nKEYS *\r\nSCAN 18446744073709551615\r\n",
		"CLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nRESET\r\n", "COPY a a REPLACE\r\nLCS a b IDX\r\n", "INFO all\r\nCONFIG GET *\r\nCOMMAND DOCS\r\nCOMMAND\r\n",
		"COMMAND GETKEYS MSET a b c d\r\nCOMMAND LIST FILTERBY PATTERN *\r\nMEMORY USAGE a\r\nSLOWLOG GET -1\r\nCLUSTER KEYSLOT {}\r\n",
		"MULTI\r\nSET a 1\r\nMSET a 1 b\r\nPING\r\nOBJECT ENCODING a\r\nEXEC\r\nWATCH a {a}b b\r\nMULTI\r\nEXEC\r\n", "WATCH a\r\nSET a 1\r\nMULTI\r\nSINTERCARD 9 a\r\nGET a\r\nEXEC\r\nEXEC x\r\n",
		"MULTI\r\nHELLO 3\r\nCLIENT INFO\r\nMEMORY USAGE a\r\nCOMMAND INFO get\r\nINFO\r\nEXEC\r\nMULTI\r\nFLUSHALL\r\nKEYS *\r\nRESET\r\nMULTI\r\nCLIENT REPLY OFF\r\nEXEC\r\n",
		"CLIENT KILL ID 1 SKIPME no\r\nPING\r\n", "\"\" \"\"\r\n", "\"a\\r\\nb\" \"c\\r\\n+OK\\r\\n\"\r\n", "AUTH pw\r\nPING\r\nQUIT\r\nPING\r\n",
		"CLIENT SETNAME \"a\\nb\"\r\nCLIENT \"\\r\\n+OK\\r\\n\"\r\nHELLO 3 \"\\r\\n\"\r\nLATENCY GRAPH \"\\r\\n\"\r\nECHO \"\\r\\n\"\r\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, input []byte, guarded bool) {
		cfg := Config{}
		if guarded {
			cfg.Password = "pw"
		}
		conn := &scripted{Reader: bytes.NewReader(input), closed: make(chan struct{})}
		server := listen(t, cfg, proxytest.NewCluster(), conn)
		<-conn.closed
		require.Zero(t, server.Stats().Panics.Load())

		replies := 0
		var err error
		for rest := conn.heard.Bytes(); len(rest) > 0; replies++ {
			before := rest
			rest, err = skipReply(rest)
			require.NoError(t, err, "%q", before)
		}
		commands, faults := countCommands(input)
		require.LessOrEqual(t, replies, commands+1)
		lower := strings.ToLower(string(input))
		silent := strings.Contains(lower, "reply") || strings.Contains(lower, "quit") || strings.Contains(lower, "kill")
		if !guarded && !silent && !strings.Contains(lower, `\x`) {
			require.Equal(t, commands+faults, replies)
		}
	})
}

// countCommands counts the commands in a stream, and whether a violation of the protocol
// ends it.
func countCommands(stream []byte) (commands, faults int) {
	reader, batch := resp.NewReader(bytes.NewReader(stream), resp.Limits{}), new(resp.Batch)
	for {
		if err := reader.ReadBatch(batch); errors.As(err, new(*resp.ProtocolError)) {
			return commands, 1
		} else if err != nil {
			return commands, 0
		}
		commands += batch.Len()
	}
}

var errReply = errors.New("not a reply")

// skipReply returns what follows the first reply, of RESP2 or RESP3.
func skipReply(b []byte) (rest []byte, err error) {
	line, rest, found := bytes.Cut(b, []byte("\r\n"))
	if !found || len(line) == 0 || bytes.ContainsAny(line, "\r\n") {
		return nil, errReply
	}
	kind, text := line[0], string(line[1:])
	switch kind {
	case '+', '-':
		return rest, nil
	case '_':
		return rest, want(text == "")
	case '#':
		return rest, want(text == "t" || text == "f")
	case ',':
		_, err := strconv.ParseFloat(text, 64)
		return rest, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, err
	}
	switch kind {
	case ':':
		return rest, nil
	case '$', '=':
		if n == -1 {
			return rest, nil
		}
		if n < 0 || n+2 > int64(len(rest)) || string(rest[n:n+2]) != "\r\n" || kind == '=' && string(rest[:4]) != "txt:" {
			return nil, errReply
		}
		return rest[n+2:], nil
	case '%':
		n *= 2
	case '*', '~':
		if n == -1 {
			return rest, nil
		}
	default:
		return nil, errReply
	}
	for ; n > 0 && err == nil; n-- {
		rest, err = skipReply(rest)
	}
	return rest, err
}

func want(yes bool) error {
	if yes {
		return nil
	}
	return errReply
}

// FuzzScan: whatever cursor and options a client gives, it gets an error, or an iteration
// that ends; from the start it is of the keys that match, each of them.
func FuzzScan(f *testing.F) {
	for _, seed := range [][2]string{
		{"0", ""}, {"0", "COUNT\n1"}, {"0", "MATCH\nk[1-3]*\nCOUNT\n100000000"}, {"0", "TYPE\nstring"}, {"0", "TYPE\nhash"}, {"0", "match\n*\ncount\n0"},
		{"18446744073709551615", ""}, {"18446744073709551616", ""}, {"4611686018427387904", ""}, {"4611686018427387903", ""}, {"-1", ""}, {"00", ""},
		{"", ""}, {" 0", ""}, {"0x10", ""}, {"1_0", ""}, {"0", "COUNT"}, {"0", "COUNT\n9223372036854775808"}, {"0", "MATCH\n\nMATCH\n*"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	cluster := proxytest.NewCluster()
	for i := range 30 {
		cluster.Data[fmt.Sprint("k", i)] = "v"
	}
	cluster.Data[""], cluster.Data["\x00\r\n\xff"] = "v", "v"
	conn := &scripted{Reader: bytes.NewReader(nil), closed: make(chan struct{})}
	server := listen(f, Config{}, cluster, conn)
	<-conn.closed
	s := server.last
	f.Fuzz(func(t *testing.T, cursor, options []byte) {
		var rest [][]byte
		if len(options) > 0 {
			rest = bytes.Split(options, []byte("\n"))
		}
		from, err := scan.ParseCursor(cursor)
		opts, badOptions := scan.Parse(rest, true)
		if err == nil {
			err = badOptions
		}
		found := map[string]bool{}
		for pages := 0; ; pages++ {
			require.LessOrEqual(t, pages, len(cluster.Data), "an iteration that does not end")
			reply := runScan(s, nil, append([][]byte{[]byte("SCAN"), cursor}, rest...))
			require.Equal(t, err != nil, reply[0] == '-')
			if err != nil {
				return
			}
			var keys []string
			cursor, keys = parsePage(t, reply)
			for _, key := range keys {
				found[key] = true
			}
			if string(cursor) == "0" {
				break
			}
		}
		for key := range cluster.Data {
			matches := opts.Matches([]byte(key)) && (opts.Type == nil || strings.EqualFold(string(opts.Type), "string"))
			require.False(t, found[key] && !matches)
			require.False(t, from == 0 && matches && !found[key])
		}
	})
}

// parsePage takes the reply of SCAN apart.
func parsePage(t *testing.T, reply []byte) (cursor []byte, keys []string) {
	rest, err := skipReply(reply)
	require.NoError(t, err)
	require.Empty(t, rest)
	rest, isPage := bytes.CutPrefix(reply, []byte("*2\r\n"))
	require.True(t, isPage)
	after, _ := skipReply(rest)
	cursor = bulkValue(rest[:len(rest)-len(after)])
	_, rest, _ = bytes.Cut(after, []byte("\r\n"))
	for len(rest) > 0 {
		after, _ = skipReply(rest)
		keys = append(keys, string(bulkValue(rest[:len(rest)-len(after)])))
		rest = after
	}
	return cursor, keys
}
