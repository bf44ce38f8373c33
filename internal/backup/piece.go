package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// Unread stands for a large object that a Reader was not asked to build: its size in bytes, and nothing else.
type Unread int

// Size implements record.Object.
func (u Unread) Size() int { return int(u) }

// AppendTo implements record.Object. It appends nothing.
func (u Unread) AppendTo(dst []byte) []byte { return dst }

// Reader implements record.Object. There is nothing to read.
func (u Unread) Reader() io.Reader { return bytes.NewReader(nil) }

// Memory implements record.Object.
func (u Unread) Memory() int { return 0 }

// pieceSize is the length of the pieces of an object, and objects that are shorter than apart are in the states of their records.
const (
	pieceSize = 256 << 10
	apart     = 1 << 20
)

// inPieces reports whether the object of a state is written in pieces.
func inPieces(s *record.State) bool { return s.Object != nil && s.Object.Size() >= apart }

// object writes the object of a state in pieces, if it is large.
func (w *Writer) object(s *record.State) error {
	if !inPieces(s) {
		return nil
	}
	w.number++
	size, r := s.Object.Size(), s.Object.Reader()
	for offset := 0; offset < size; offset += pieceSize {
		start := w.begin(kindPiece)
		w.buf = append(wire.AppendUvarint(w.buf, w.number), byte(s.Type))
		w.buf = wire.AppendUvarint(wire.AppendUvarint(w.buf, uint64(size)), uint64(offset))
		at := len(w.buf)
		w.buf = append(w.buf, make([]byte, min(pieceSize, size-offset))...)
		if _, err := io.ReadFull(r, w.buf[at:]); err != nil {
			return fmt.Errorf("an object cannot be read: %w", err)
		}
		if err := w.end(start); err != nil {
			return err
		}
	}
	return nil
}

// pieces makes objects of their pieces, which are followed by the chunk that they belong to.
type pieces struct {
	number  uint64 // of the object that came last
	typ     record.Type
	size    int
	have    int
	builder record.Builder // nil: nobody wants it
	whole   []record.State
	first   uint64 // the number of the first one of whole
}

// coming reports whether the last object has not come whole.
func (p *pieces) coming() bool { return p.have < p.size }

// reset begins with the next chunk.
func (p *pieces) reset() { p.whole, p.first = p.whole[:0], p.number+1 }

var errPiece = errors.New("a piece of an object is not the next one")

// add takes a piece, of which nothing is kept.
func (p *pieces) add(body []byte, build func(record.Type, int) (record.Builder, error)) (err error) {
	d := wire.NewDecoder(body)
	number, typ, size, offset := d.Uvarint(), record.Type(d.Byte()), d.Uvarint(), d.Uvarint()
	content := d.Rest()
	if err := d.Err(); err != nil {
		return err
	}
	if len(content) == 0 || size > 1<<50 || offset > size || uint64(len(content)) > size-offset {
		return errPiece
	}
	if !p.coming() && offset == 0 && number == p.number+1 {
		p.number, p.typ, p.size, p.have, p.builder = number, typ, int(size), 0, nil
		if build != nil {
			if p.builder, err = build(typ, p.size); err != nil {
				return err
			}
		}
	}
	if number != p.number || typ != p.typ || size != uint64(p.size) || offset != uint64(p.have) {
		return errPiece
	}
	p.have += len(content)
	if p.builder != nil {
		if _, err := p.builder.Write(content); err != nil {
			return err
		}
	}
	if p.coming() {
		return nil
	}
	object := record.Object(Unread(p.size))
	if p.builder != nil {
		if object, err = p.builder.Object(); err != nil {
			return err
		}
	}
	p.whole, p.builder = append(p.whole, record.State{Type: typ, Object: object}), nil
	return nil
}

// next returns the object that a record refers to, and its type: nothing if it is not the next one.
func (p *pieces) next(number uint64) record.State {
	if len(p.whole) == 0 || number != p.first {
		return record.State{}
	}
	next := p.whole[0]
	p.whole, p.first = p.whole[1:], p.first+1
	return next
}
