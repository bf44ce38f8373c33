package register

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// FuzzForged lets commands run while the network hands over messages that were changed on
// the way. What comes of the data then nobody can say; but nothing panics, the store is
// not blamed, and no command is answered twice (process.Answer sees to that).
func FuzzForged(f *testing.F) {
	f.Add([]byte{0, 0, 4, 0, 4, 0, 4, 0, 4, 0})
	for field := range byte(16) {
		f.Add([]byte{0, 1, 0, 6, 4, 0, 4, 0, 3, 0, 5, field, 255, 3, 0, 4, 0, 5, field, 1, 3, 0, 2, 200, 3, 0})
		f.Add([]byte{0, 0, 1, 0, 3, 0, 0, 2, 0, 4, 5, field, 0, 4, 0, 5, field, 254, 4, 1, 2, 255, 3, 0})
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 400 {
			return
		}
		c := newCluster(t, 3)
		next := func() (b byte) {
			if len(script) > 0 {
				b, script = script[0], script[1:]
			}
			return b
		}
		for len(script) > 0 {
			switch next() % 6 {
			case 0:
				n := next()
				words := []string{"get k%d", "set k%d v", "append k%d v", "setnx k%d v", "del k%d", "psetex k%d 5 v"}[n%6]
				c.give(1+uint16(n)%3, fmt.Sprintf(words, n%4), exceptions[int(n/64)%len(exceptions)])
			case 1:
				c.ask(1+uint16(next())%3, "clear")
			case 2:
				c.advance(int64(next()))
			case 3:
				c.run()
			case 4:
				if n := int(next()); len(c.mail) > 0 {
					c.deliver(c.mail[n%len(c.mail)]) // it stays, and may come again
				}
			case 5:
				if field, by := next(), next(); len(c.mail) > 0 {
					m := copyOf(&c.mail[int(by)%len(c.mail)])
					forge(&m, field, by)
					c.deliver(m)
				}
			}
			c.mail = c.mail[max(0, len(c.mail)-100):]
		}
		for _, p := range c.processes {
			require.NoError(t, p.home.Err())
		}
	})
}

// forge changes one field of a message, in the way that by says.
func forge(m *Message, field, by byte) {
	extreme := uint64(int64(int8(by))) // small, or as large as can be
	ballot := record.Ballot{Counter: extreme, Incarnation: record.NewIncarnation(uint64(by), m.To)}
	version := record.Version{Ballot: m.Ballot, Seq: extreme}
	switch field % 16 {
	case 0:
		m.Kind = Kind(by)
	case 1:
		m.Result = Result(by)
	case 2:
		m.From = 1 + uint16(by)%3 // the connection tells who it is
	case 3:
		m.Epoch = extreme
	case 4:
		m.Ballot = ballot
	case 5:
		m.Round = extreme
	case 6:
		m.Key = []byte{'k', by}
	case 7:
		m.Version = version
	case 8:
		m.State = record.State{Type: record.Type(by), ExpireAt: int64(extreme), Value: []byte{by}}
	case 9:
		m.IsDelta, m.Delta = true, []byte{by, by}
	case 10:
		m.Base = version
	case 11:
		m.Promised = ballot
	case 12:
		m.Held = version
	case 13:
		m.Present = !m.Present
	case 14:
		m.Found = record.State{Type: record.Type(by), ExpireAt: int64(extreme), Value: []byte{by}}
	case 15:
		m.Floor = version
	}
}
