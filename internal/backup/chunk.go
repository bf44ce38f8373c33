package backup

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// appendChunk appends the body of a chunk. The values that were written in pieces have the numbers after last.
func appendChunk(dst []byte, c *Chunk, last uint64) []byte {
	dst = wire.AppendUint16(dst, c.Slot)
	dst = wire.AppendBallot(dst, c.Meta.Promised)
	dst = wire.AppendVersion(dst, c.Meta.Floor)
	dst = wire.AppendVersion(dst, c.Meta.Cleared)
	for i := range c.Records {
		e := &c.Records[i]
		dst = wire.AppendBytes(dst, e.Key)
		dst = wire.AppendVersion(dst, e.Version)
		var number uint64
		if inPieces(&e.State) {
			last++
			number = last
		}
		dst = wire.AppendStateAhead(dst, e.State, number)
	}
	return dst
}

// decodeChunk decodes the body of a chunk into c, whose room for records it uses
// again. Keys and values are views. ahead returns the values that were in pieces before it.
func decodeChunk(c *Chunk, body []byte, ahead func(number uint64) record.State) error {
	d := wire.NewDecoder(body)
	d.Ahead = ahead
	*c = Chunk{Slot: d.Uint16(), Records: c.Records[:0],
		Meta: record.SlotMeta{Promised: d.Ballot(), Floor: d.Version(), Cleared: d.Version()}}
	for d.More() {
		e := Entry{Key: d.Bytes(), Record: record.Record{Version: d.Version(), State: d.State()}}
		if d.Err() != nil {
			break
		}
		if d.Missing() {
			return errors.New("the value of a record is missing")
		}
		if err := e.check(c.Slot); err != nil {
			return err
		}
		c.Records = append(c.Records, e)
	}
	return d.Done()
}

// check returns what is impossible about a record of a slot.
func (e *Entry) check(slot uint16) error {
	batches := e.State.Type == record.Batch && database.Own(e.Key) // such a record is in each slot
	switch {
	case ring.SlotOf(e.Key) != slot && !batches:
		return fmt.Errorf("slot %d has a key of slot %d", slot, ring.SlotOf(e.Key))
	case e.Version.IsZero():
		return errors.New("a record has no version")
	case !e.State.Type.Known() && !batches:
		return fmt.Errorf("a record has the unknown type %d", e.State.Type)
	case !e.State.Live() && (e.State.ExpireAt != 0 || e.State.Size() > 0):
		return errors.New("a deleted record has a value")
	}
	return nil
}
