package rdb

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
)

// File reads what a Redis up to 7.4 writes to disk, its dump.rdb, key by key.
type File struct {
	s       *stream
	version int
	db      int
	skipped uint64

	libraries []string
}

// Entry is a key of a file.
type Entry struct {
	// DB is the number of its database.
	DB  int
	Key []byte
	// Payload is its value as DUMP returns it, nil if there is an Err. It is good until the next Entry.
	Payload []byte
	// ExpireAt is when it expires, in milliseconds since 1970, 0 if never.
	ExpireAt int64
	// Err says why there is no value: it wraps ErrKind or ErrTooLong. The other keys can be read.
	Err error
}

// What may stand in the place of the type of a value.
const (
	opSlotInfo     = 244
	opFunction     = 245
	opFunctionOld  = 246
	opModule       = 247
	opIdle         = 248
	opFrequency    = 249
	opAux          = 250
	opResize       = 251
	opExpireMillis = 252
	opExpire       = 253
	opSelect       = 254
	opEnd          = 255
)

// NewFile begins to read a file. A value, or key, may have so many bytes as it is written. The error wraps ErrFormat if it is no such file.
func NewFile(in io.Reader, limit int) (*File, error) {
	const magic, digits = "REDIS", 4
	f := &File{s: newStream(in, limit)}
	head, err := f.s.some(len(magic) + digits)
	if err != nil {
		return nil, err
	}
	f.version, err = strconv.Atoi(string(head[len(magic):]))
	if err != nil || string(head[:len(magic)]) != magic || f.version < 1 || f.version > maxVersion {
		return nil, fmt.Errorf("%w: it is no file of a Redis up to 7.4, which begins with REDIS0001 to REDIS%04d: %q", ErrFormat, maxVersion, head)
	}
	return f, nil
}

// Offset is how many bytes were read.
func (f *File) Offset() int64 { return f.s.offset }

// Libraries are the codes of the libraries of functions that were read so far. In the files of a Redis they are before all keys.
func (f *File) Libraries() []string { return f.libraries }

// Skipped is how many things were passed by that are no keys: what modules keep beside keys.
func (f *File) Skipped() uint64 { return f.skipped }

// Next returns the next key; io.EOF behind the last one, when the checksum is right. Errors wrap ErrFormat or ErrChecksum, or are those of the reader, and
// nothing can be read after one.
func (f *File) Next() (Entry, error) {
	e := Entry{}
	for {
		op, err := f.s.some(1)
		if err == nil {
			switch op[0] {
			case opEnd:
				return Entry{}, f.close()
			case opExpireMillis:
				e.ExpireAt, err = f.time(8, 1)
			case opExpire:
				e.ExpireAt, err = f.time(4, 1000)
			case opSlotInfo, opFunction, opFunctionOld, opModule, opIdle, opFrequency, opAux, opResize, opSelect:
				err = f.aside(op[0])
			default:
				e.DB = f.db
				err = f.value(&e, op[0])
				return e, err
			}
		}
		if err != nil {
			return Entry{}, err
		}
	}
}

// time reads a time of so many bytes.
func (f *File) time(size int, unit int64) (int64, error) {
	b, err := f.s.some(size)
	return littleInt(b) * unit, err
}

// aside reads what is about keys, or beside them.
func (f *File) aside(op byte) (err error) {
	switch op {
	case opSelect:
		var n uint64
		n, err = f.s.length()
		f.db = int(n)
	case opResize:
		err = f.s.lengths(2)
	case opAux:
		if err = f.s.text(); err == nil {
			err = f.s.text()
		}
	case opIdle:
		err = f.s.oneLength()
	case opFrequency:
		err = f.s.pass(1)
	case opSlotInfo:
		err = f.s.lengths(3)
	case opFunction:
		err = f.library()
	case opModule:
		f.skipped++
		if err = f.s.lengths(3); err == nil { // which one, and when it wants to read it
			err = f.s.skipParts()
		}
	default:
		err = fmt.Errorf("%w: a function as release candidates of Redis 7.0 wrote them", ErrFormat)
	}
	return err
}

// word reads a text, which is borrowed until something else is read. what is it?
func (f *File) word(what string) ([]byte, error) {
	f.s.begin()
	if err := f.s.text(); err != nil {
		return nil, err
	}
	raw, err := f.s.end()
	if err != nil {
		return nil, fmt.Errorf("%w: %s that is too long", ErrFormat, what)
	}
	return (&reader{data: raw, left: f.s.limit}).string()
}

// library reads the code of a library of functions.
func (f *File) library() error {
	code, err := f.word("a library of functions")
	if err == nil {
		f.libraries = append(f.libraries, string(code))
	}
	return err
}

// value reads a key and its value.
func (f *File) value(e *Entry, typ byte) error {
	key, err := f.word("a key")
	if err != nil {
		return err
	}
	e.Key = append([]byte(nil), key...)
	f.s.begin(typ)
	if err := f.s.skip(typ); err != nil {
		return err
	}
	body, fault := f.s.end()
	if fault == nil {
		_, fault = KindOf(body)
	}
	if e.Err = fault; fault == nil {
		f.s.kept = Seal(body)
		e.Payload = f.s.kept
	}
	return nil
}

// close compares the checksum, which Redis since 2.6 writes, 0 if it was told not to.
func (f *File) close() error {
	const firstWithSum = 5
	if f.version < firstWithSum {
		return io.EOF
	}
	sum := ^f.s.sum
	written, err := f.s.some(8)
	if err != nil {
		return err
	}
	if said := binary.LittleEndian.Uint64(written); said != 0 && said != sum {
		return fmt.Errorf("%w: the file is damaged, or not whole", ErrChecksum)
	}
	return io.EOF
}
