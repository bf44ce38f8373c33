package register

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// flatStore is a store that takes no memory for what is overwritten.
type flatStore struct {
	meta    record.SlotMeta
	records map[string]*record.Record
}

func (s *flatStore) Slot(uint16) (record.SlotMeta, error) { return s.meta, nil }

func (s *flatStore) PutSlot(_ uint16, meta record.SlotMeta) error {
	s.meta = meta
	return nil
}

func (s *flatStore) Get(_ uint16, key []byte) (record.Record, bool, error) {
	if rec := s.records[string(key)]; rec != nil {
		return *rec, true, nil
	}
	return record.Record{}, false, nil
}

func (s *flatStore) Names(uint16, database.ID, func([]byte) bool) error {
	panic("nobody reads all keys here")
}

func (s *flatStore) Stage(_ uint16, version record.Version, changes []record.Change) error {
	for i := range changes {
		c := &changes[i]
		rec := s.records[string(c.Key)]
		if rec == nil {
			rec = new(record.Record)
			s.records[string(c.Key)] = rec
		}
		value := append(rec.State.Value[:0], c.State.Value...)
		rec.Version, rec.State = version, c.State
		rec.State.Value = value
	}
	return nil
}

func (s *flatStore) Delete(_ uint16, key []byte) error          { delete(s.records, string(key)); return nil }
func (s *flatStore) Clear(_ uint16, meta record.SlotMeta) error { s.meta = meta; return nil }
func (s *flatStore) Reset(_ uint16, meta record.SlotMeta) error { s.meta = meta; return nil }

// flat is a slot with three replicas in memory, of which the first leads, and where everything arrives at once.
type flat struct {
	process  // as the Env of the home
	stores   [3]flatStore
	replicas [3]Acceptor
	lead     Home
	in       Input
	write    Write
	messages [2][]Message // that are on their way, and those that are being delivered
	replies  [2][]Message
	answered int
}

func newFlat(t require.TestingT) *flat {
	f := &flat{process: process{cluster: newCluster(t, 3), id: 1}}
	for i := range f.stores {
		f.stores[i].records = make(map[string]*record.Record)
		replica, err := NewAcceptor(0, &f.stores[i], datatype.Apply)
		require.NoError(t, err)
		f.replicas[i] = replica
	}
	f.lead = NewHome(&f.process, &testTiming, 0, 1, record.NewIncarnation(1, 1), NewConfig(1, []uint16{1, 2, 3}, nil), &f.replicas[0])
	f.in.Moment = Moment{Now: f.wall, Mono: f.mono, Instant: true}
	return f
}

// execute is give and run.
func (f *flat) execute(r *Request) {
	f.give(r)
	f.run()
}

// give gives the home a request.
func (f *flat) give(r *Request) {
	f.in.Happening, f.in.Request, f.in.Except = Asked, r, AllOthers
	f.step()
}

// run goes on until nothing is in flight.
func (f *flat) run() {
	for len(f.messages[0])+len(f.replies[0]) > 0 {
		messages, replies := f.messages[0], f.replies[0]
		f.messages[0], f.messages[1] = f.messages[1][:0], messages
		f.replies[0], f.replies[1] = f.replies[1][:0], replies
		for i := range replies {
			f.in.Happening, f.in.Reply = Replied, &replies[i]
			f.step()
		}
		for i := range messages {
			f.deliver(&messages[i])
		}
	}
	f.ready.bytes = f.ready.bytes[:0]
}

// deliver has a replica execute a request.
func (f *flat) deliver(m *Message) {
	a, s := &f.replicas[m.To-1], &f.stores[m.To-1]
	f.replies[0] = append(f.replies[0], Message{})
	reply := &f.replies[0][len(f.replies[0])-1]
	err := a.Step(m, reply, &f.write)
	if err == nil && f.write.Wanted() {
		err = a.Persisted(&f.write, f.write.To(s))
	}
	if err != nil {
		panic(err)
	}
	reply.From = m.To
}

// step lets something happen to the home, and keeps what it sends.
func (f *flat) step() {
	out := &f.ready
	f.lead.Step(&f.in, out)
	for out.Write.Wanted() {
		f.in.Happening, f.in.Err = Persisted, out.Write.To(&f.stores[0])
		f.lead.Step(&f.in, out)
	}
	for i := range out.Messages {
		for _, to := range []uint16{2, 3} {
			m := out.Messages[i].Message
			m.To = to
			f.messages[0] = append(f.messages[0], m)
		}
	}
	for i := range out.Votes {
		f.replies[0] = append(f.replies[0], out.Votes[i])
		f.replies[0][len(f.replies[0])-1].From = 1
	}
	f.answered += len(out.Answers)
	out.Votes = out.Votes[:0]
	kept := out.bytes // what is on its way borrows from it
	out.Sent()
	out.bytes = kept
}

// BenchmarkBatch is what a batch that writes three keys costs its home and three replicas, beside a write of one key.
func BenchmarkBatch(b *testing.B) {
	value := []byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
	var args [][]byte
	for i := range 3 {
		args = append(args, fmt.Appendf(nil, "{group:000000000042}:%d", i), value)
	}
	args = append([][]byte{[]byte("MSET")}, args...)
	effects := make([]record.Effect, 3)
	for i := range effects {
		effects[i] = record.Effect{Kind: record.Replaced, State: record.State{Type: record.String, Value: value}}
	}
	run := func(dst []byte, _ []record.Record, _ int64) ([]byte, []record.Effect, error) {
		return append(dst, "+OK\r\n"...), effects, nil
	}
	b.Run("three keys", func(b *testing.B) {
		f := newFlat(b)
		cmd := command.Request{Op: command.OpMSet, Args: args}
		keys := make([][]byte, 3)
		b.ReportAllocs()
		for b.Loop() {
			r := NewRequest(&cmd, nil, 0, f.mono)
			keys[0], keys[1], keys[2] = r.cmd.Args[1], r.cmd.Args[3], r.cmd.Args[5]
			r.Together(keys, run)
			f.execute(r)
		}
		require.Equal(b, b.N, f.answered)
	})
	b.Run("one key", func(b *testing.B) {
		f := newFlat(b)
		cmd := command.Request{Op: command.OpSet, Args: [][]byte{[]byte("SET"), args[1], value}}
		b.ReportAllocs()
		for b.Loop() {
			f.execute(NewRequest(&cmd, nil, 0, f.mono))
		}
		require.Equal(b, b.N, f.answered)
	})
}
