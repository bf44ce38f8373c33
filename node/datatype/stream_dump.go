package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/rdb"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// dumpStream serves DUMP of a stream.
func dumpStream(dst []byte, st record.State) ([]byte, record.Effect) {
	if st.Size() > maxReply {
		return refuse(dst, errMuchReply)
	}
	s, w := streamIn(st), new(rdb.StreamWriter)
	for id, fields := range s.entries(streamID{}, highestID, 0) {
		w.Entry(rdb.StreamID{Ms: id.ms, Seq: id.seq}, fields.pieces())
	}
	c := counters(s)
	w.Counters(rdb.StreamCounters{Last: rdbID(c.last), Deleted: rdbID(c.deleted), Added: uint64(c.added)}, rdbID(c.first), s.countUnder([]byte{aboutGroup}))
	for g := range s.groups() {
		s.dumpGroup(w, &g)
		if w.Size() > maxReply {
			return refuse(dst, errMuchReply)
		}
	}
	payload := rdb.Seal(w.Payload())
	if len(payload) > maxReply {
		return refuse(dst, errMuchReply)
	}
	return resp.AppendBulk(dst, payload), noEffect
}

func rdbID(id streamID) rdb.StreamID { return rdb.StreamID{Ms: id.ms, Seq: id.seq} }

func (s stream) dumpGroup(w *rdb.StreamWriter, g *group) {
	w.Group(g.name, rdbID(g.last), uint64(g.read), s.countUnder(ofGroup(aboutPending, g.number)))
	for id, p := range s.pending(g.number, streamID{}) {
		w.Pending(rdbID(id), p.delivered, uint64(p.times))
	}
	w.Consumers(s.countUnder(ofGroup(aboutConsumer, g.number)))
	for c := range s.consumers(g.number) {
		w.Consumer(c.name, c.seen, s.countUnder(ownedBy(g.number, c.number)))
		for id := range s.owned(g.number, c.number, streamID{}) {
			w.Owned(rdbID(id))
		}
	}
}

// restoredStream returns the state with the stream of a payload.
func restoredStream(value rdb.Value, req *command.Request) (st record.State, problem string) {
	r := streamRestore{e: stream{}.edit(), numbers: 1}
	r.e.silent = true
	r.e.put(headerKey, new(streamHeader).append(nil))
	if err := value.Stream(&r); err != nil {
		return st, problemOf(err)
	}
	if r.finishEntry(); r.unowned != 0 {
		return st, errBadDump
	}
	r.header.next = r.numbers
	r.e.put(headerKey, r.header.append(nil))
	next := r.e.now()
	next.list = next.settled()
	if next.size() > longestCollection(req) {
		return st, errTooLong(record.Stream)
	}
	return next.state(0), ""
}

// streamRestore makes a stream of what a payload has: it implements rdb.StreamVisitor.
type streamRestore struct {
	e       *streamEdit
	header  streamHeader
	numbers uint32 // the next number for a group or a consumer; nobody has 0

	id     streamID // of the entry that is being read
	fields []byte
	reads  bool
	length int64
	first  streamID

	group   group
	owner   uint32
	unowned int // what is pending in the group, and of no consumer yet
}

func hereID(id rdb.StreamID) streamID { return streamID{id.Ms, id.Seq} }

// finishEntry keeps the entry that was read.
func (r *streamRestore) finishEntry() {
	if r.reads {
		r.e.putEntry(r.id, r.fields)
		r.reads = false
	}
}

// Entry implements rdb.StreamVisitor.
func (r *streamRestore) Entry(id rdb.StreamID, _ int) error {
	r.finishEntry()
	if r.length > 0 && !r.id.less(hereID(id)) || hereID(id).isZero() {
		return rdb.ErrFormat
	}
	if r.id = hereID(id); r.length == 0 {
		r.first = r.id
	}
	r.length++
	r.fields, r.reads = r.fields[:0], true
	return nil
}

// Item implements rdb.StreamVisitor.
func (r *streamRestore) Item(item []byte) error {
	r.fields = parts.AppendLengthened(r.fields, item)
	return nil
}

// Counters implements rdb.StreamVisitor.
func (r *streamRestore) Counters(c rdb.StreamCounters) error {
	r.finishEntry()
	r.header.last, r.header.deleted, r.header.added = hereID(c.Last), hereID(c.Deleted), int64(c.Added)
	if c.Added > math.MaxInt64 || r.header.last.less(r.id) {
		return rdb.ErrFormat
	}
	return nil
}

// Group implements rdb.StreamVisitor.
func (r *streamRestore) Group(name []byte, last rdb.StreamID, read uint64) error {
	r.group = group{name: name, number: r.numbers, last: hereID(last), read: int64(read)}
	switch {
	case read == rdb.NotWritten:
		c := streamCounters{r.header, r.length, r.first, r.id}
		r.group.read = c.upTo(r.group.last)
	case read > math.MaxInt64 && read != rdb.UnknownRead:
		return rdb.ErrFormat
	}
	if r.e.find(groupKey(name)).found || r.unowned != 0 {
		return rdb.ErrFormat
	}
	r.numbers++
	r.e.putGroup(&r.group)
	return nil
}

// Pending implements rdb.StreamVisitor.
func (r *streamRestore) Pending(id rdb.StreamID, delivered int64, times uint64) error {
	key := pendingKey(r.group.number, hereID(id))
	if r.e.find(key).found || delivered < 0 {
		return rdb.ErrFormat
	}
	r.e.put(key, pending{0, delivered, int64(times)}.append(nil))
	r.unowned++
	return nil
}

// Consumer implements rdb.StreamVisitor.
func (r *streamRestore) Consumer(name []byte, seen int64) error {
	key := consumerKey(r.group.number, name)
	if r.e.find(key).found || seen < 0 {
		return rdb.ErrFormat
	}
	c := consumer{name, r.numbers, seen}
	r.e.put(key, c.append(nil))
	r.owner = r.numbers
	r.numbers++
	return nil
}

// Owned implements rdb.StreamVisitor.
func (r *streamRestore) Owned(id rdb.StreamID) error {
	p, found := r.e.pendingOf(r.group.number, hereID(id))
	if !found || p.owner != 0 {
		return rdb.ErrFormat
	}
	p.owner = r.owner
	r.e.put(pendingKey(r.group.number, hereID(id)), p.append(nil))
	r.e.put(ownedKey(r.group.number, r.owner, hereID(id)), nil)
	r.unowned--
	return nil
}
