package consensus

import (
	"encoding/binary"
	"errors"
)

// The bytes of messages, entries and snapshots. What comes from outside is decoded with bounds.

var errMalformed = errors.New("malformed")

// decoder takes bytes apart. After the first error it returns zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() { d.b, d.err = nil, errMalformed }

func (d *decoder) byte() byte {
	if len(d.b) < 1 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

// fixed reads 8 bytes.
func (d *decoder) fixed() uint64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := binary.BigEndian.Uint64(d.b)
	d.b = d.b[8:]
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// bytes reads a length and so many bytes, which are not copied.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

// rest reads what is left.
func (d *decoder) rest() []byte {
	v := d.b
	d.b = nil
	return v
}

func appendFixed(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

func appendBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}
