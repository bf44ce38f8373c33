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
	opt.Depth, opt.Check = 16, true
	values := newValues(opt.ValueSize)
	for name, ph := range map[string]*phase{"SET": {fraction: 1, depth: opt.Depth}, "GET": {fraction: 0, depth: opt.Depth}} {
		answer := bytes.Repeat([]byte("+OK\r\n"), opt.Depth)
		if name == "GET" {
			answer = bytes.Repeat([]byte("$64\r\n"+string(values.append(nil, 0))+"\r\n"), opt.Depth)
		}
		c := newClient(&canned{answer: answer}, &opt, 0, values, &recorder{tally: newTally()})
		require.Zero(t, testing.AllocsPerRun(200, func() {
			c.compose(ph)
			if err := c.exchange(); err != nil {
				t.Fatal(err)
			}
		}), name)
	}
}
