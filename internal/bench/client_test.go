package bench

import (
	"bytes"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// canned is a connection that answers every write with the same bytes.
type canned struct {
	net.Conn
	answer []byte
	left   []byte
}

func (c *canned) Write(p []byte) (int, error) { c.left = c.answer; return len(p), nil }

func (c *canned) Read(p []byte) (int, error) {
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

// TestNoAllocations: a generator that leaves garbage measures its own collector.
func TestNoAllocations(t *testing.T) {
	opt := sensible()
	opt.Depth, opt.Check, opt.Fields = 16, true, 1
	values, fields := newValues(opt.ValueSize), newFields(opt.Fields, opt.FieldSize)
	value := string(values.append(nil, valueNumber(0, 0)))
	var answers [kinds][]byte
	for k, answer := range [kinds]string{
		set: "+OK", get: "$64\r\n" + value, hset: ":0", hget: "$64\r\n" + value, hgetall: "*2\r\n$8\r\nf0000000\r\n$64\r\n" + value, hincrby: ":1", hdel: ":1", hadd: ":1",
		rpush: ":1", lpush: ":1", lpop: "$1\r\nx", sadd: ":1", sismember: ":1", zadd: ":0", zscore: "$1\r\n5", zrange: "*1\r\n$1\r\nm",
		exec: "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n+OK\r\n+OK", mset: "+OK", evalsha: "+OK",
	} {
		answers[k] = bytes.Repeat([]byte(answer+"\r\n"), opt.Depth)
	}
	for k := range hadd {
		opt.Commands = []string{k.op()}
		conn := new(canned)
		c := newClient(conn, &opt, 0, values, &fields, &recorder{tally: newTally()})
		ph := opt.phases()[0]
		require.Zero(t, testing.AllocsPerRun(200, func() {
			c.compose(ph)
			conn.answer = answers[c.sent[0].kind]
			if err := c.exchange(); err != nil {
				t.Fatal(err)
			}
		}), k.op())
		require.Positive(t, c.recorder.answers(k), k.op())
	}
}
