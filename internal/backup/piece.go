package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// Unread stands for a large value that a Reader was not asked to build: its size in bytes, and nothing else.
type Unread int

// Size implements record.Object.
func (u Unread) Size() int { return int(u) }

// AppendTo implements record.Object. It appends nothing.
func (u Unread) AppendTo(dst []byte) []byte { return dst }

// Reader implements record.Object. There is nothing to read.
func (u Unread) Reader() io.Reader { return bytes.NewReader(nil) }

// Memory implements record.Object.
func (u Unread) Memory() int { return 0 }

// pieceSize is the length of the pieces of a value, and values that are shorter than apart are in the states of their records.
const (
	pieceSize = 256 << 10
	apart     = 1 << 20
)

// inPieces reports whether the value of a state is written in pieces.
func inPieces(s *record.State) bool { return s.Size() >= apart }

// value writes the value of a state in pieces, if it is large.
func (w *Writer) value(s *record.State) error {
	if !inPieces(s) {
		return nil
	}
	w.number++
	size, r := s.Size(), s.Reader()
	for offset := 0; offset < size; offset += pieceSize {
		start := w.begin(kindPiece)
		w.buf = wire.AppendForm(wire.AppendUvarint(w.buf, w.number), s.Type, s.Object == nil)
		w.buf = wire.AppendUvarint(wire.AppendUvarint(w.buf, uint64(size)), uint64(offset))
		at := len(w.buf)
		w.buf = append(w.buf, make([]byte, min(pieceSize, size-offset))...)
		if _, err := io.ReadFull(r, w.buf[at:]); err != nil {
			return fmt.Errorf("a value cannot be read: %w", err)
		}
		if err := w.end(start); err != nil {
			return err
		}
	}
	return nil
}

// pieces makes values of their pieces, which are followed by the chunk that they belong to.
type pieces struct {
	number  uint64 // of the value that came last
	typ     record.Type
	plain   bool
	size    int
	have    int
	builder record.Builder // nil: nobody wants it
	whole   []record.State
	first   uint64 // the number of the first one of whole
}

// coming reports whether the last value has not come whole.
func (p *pieces) coming() bool { return p.have < p.size }

// reset begins with the next chunk.
func (p *pieces) reset() { p.whole, p.first = p.whole[:0], p.number+1 }

var errPiece = errors.New("a piece of a value is not the next one")

// Build returns a builder for a large value of a type: plain bytes, or an object.
type Build func(t record.Type, plain bool, size int) (record.Builder, error)

// add takes a piece, of which nothing is kept.
func (p *pieces) add(body []byte, build Build) (err error) {
	d := wire.NewDecoder(body)
	number := d.Uvarint()
	typ, plain := d.Form()
	size, offset := d.Uvarint(), d.Uvarint()
	content := d.Rest()
	if err := d.Err(); err != nil {
		return err
	}
	if len(content) == 0 || size > 1<<50 || offset > size || uint64(len(content)) > size-offset {
		return errPiece
	}
	if !p.coming() && offset == 0 && number == p.number+1 {
		p.number, p.typ, p.plain, p.size, p.have, p.builder = number, typ, plain, int(size), 0, nil
		if build != nil {
			if p.builder, err = build(typ, plain, p.size); err != nil {
				return err
			}
		}
	}
	if number != p.number || typ != p.typ || plain != p.plain || size != uint64(p.size) || offset != uint64(p.have) {
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
	value := record.State{Type: typ, Object: Unread(p.size)}
	if p.builder != nil {
		if value, err = p.builder.State(); err != nil {
			return err
		}
	}
	p.whole, p.builder = append(p.whole, value), nil
	return nil
}

// next returns the value that a record refers to, and its type: nothing if it is not the next one.
func (p *pieces) next(number uint64) record.State {
	if len(p.whole) == 0 || number != p.first {
		return record.State{}
	}
	next := p.whole[0]
	p.whole, p.first = p.whole[1:], p.first+1
	return next
}
