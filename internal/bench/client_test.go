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
	for k := range hadd {
		opt := sensible()
		opt.Depth, opt.Check, opt.Fields, opt.Commands = 16, true, 1, []string{k.op()}
		values, fields := newValues(opt.ValueSize), newFields(opt.Fields, opt.FieldSize)
		value := string(values.append(nil, valueNumber(0, 0)))
		answer := map[kind]string{
			set: "+OK", get: "$64\r\n" + value, hset: ":0", hget: "$64\r\n" + value, hgetall: "*2\r\n$8\r\nf0000000\r\n$64\r\n" + value, hincrby: ":1", hdel: ":1",
		}[k]
		conn := &canned{answer: bytes.Repeat([]byte(answer+"\r\n"), opt.Depth)}
		c := newClient(conn, &opt, 0, values, &fields, &recorder{tally: newTally()})
		ph := opt.phases()[0]
		require.Zero(t, testing.AllocsPerRun(200, func() {
			c.compose(ph)
			if err := c.exchange(); err != nil {
				t.Fatal(err)
			}
		}), k.op())
		require.Positive(t, c.recorder.answers(k), k.op())
	}
}
