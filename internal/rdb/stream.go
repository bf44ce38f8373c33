package rdb

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
)

// stream reads a file from its beginning to its end, sums up what it has read, and keeps what it is told to keep.
type stream struct {
	in     *bufio.Reader
	sum    uint64 // of all that was read, for checksum's polynomial
	offset int64

	keep  bool
	kept  []byte
	limit int  // of kept
	over  bool // more than that was to be kept, and nothing is
}

// window is how much is looked at at once: memory grows with what arrives, not with a length that was said.
const window = 64 << 10

func newStream(in io.Reader, limit int) *stream {
	return &stream{in: bufio.NewReaderSize(in, window), sum: ^uint64(0), limit: limit}
}

// begin keeps what is read from now on, after what it is given.
func (s *stream) begin(first ...byte) {
	s.keep, s.over, s.kept = true, false, append(s.kept[:0], first...)
}

// end returns what was kept, which is good until begin, or ErrTooLong.
func (s *stream) end() ([]byte, error) {
	s.keep = false
	if s.over {
		return nil, ErrTooLong
	}
	return s.kept, nil
}

// pass reads n bytes.
func (s *stream) pass(n uint64) error {
	for n > 0 {
		piece, err := s.in.Peek(int(min(n, window)))
		if err != nil {
			return ended(err)
		}
		s.take(piece)
		n -= uint64(len(piece))
		_, _ = s.in.Discard(len(piece)) // they are there
	}
	return nil
}

func (s *stream) take(piece []byte) {
	s.sum = crc64.Update(s.sum, jones, piece)
	s.offset += int64(len(piece))
	switch {
	case !s.keep || s.over:
	case len(s.kept)+len(piece) > s.limit:
		s.over, s.kept = true, s.kept[:0]
	default:
		s.kept = append(s.kept, piece...)
	}
}

// some reads a few bytes, which are the caller's.
func (s *stream) some(n int) ([]byte, error) {
	few := make([]byte, n)
	if _, err := io.ReadFull(s.in, few); err != nil {
		return nil, ended(err)
	}
	s.take(few)
	return few, nil
}

// ended says what the end of the file means before its end.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the file ends too early", ErrFormat)
	}
	return err
}

// head reads a length, or the number of an encoding.
func (s *stream) head() (n uint64, isEncoding bool, err error) {
	raw, err := s.some(1)
	if err != nil {
		return 0, false, err
	}
	rest, err := s.some(tailOf(raw[0]))
	if err != nil {
		return 0, false, err
	}
	return (&reader{data: append(raw, rest...)}).head()
}

// length reads a length.
func (s *stream) length() (uint64, error) {
	n, isEncoding, err := s.head()
	if err == nil && isEncoding {
		err = fmt.Errorf("%w: an encoding instead of a length", ErrFormat)
	}
	return n, err
}

// lengths reads some of them.
func (s *stream) lengths(times int) error {
	var err error
	for ; err == nil && times > 0; times-- {
		_, err = s.length()
	}
	return err
}

// text reads a string.
func (s *stream) text() error {
	n, isEncoding, err := s.head()
	switch {
	case err != nil:
		return err
	case !isEncoding:
		return s.pass(n)
	}
	switch n {
	case encInt8, encInt16, encInt32:
		return s.pass(1 << n)
	case encLZF:
		n, err := s.length()
		if err == nil {
			_, err = s.length()
		}
		if err != nil {
			return err
		}
		return s.pass(n)
	}
	return fmt.Errorf("%w: encoding %d of a string", ErrFormat, n)
}

// times reads a number, and that many times what it is given.
func (s *stream) times(each ...func() error) error {
	n, err := s.length()
	for ; err == nil && n > 0; n-- {
		for _, one := range each {
			if err = one(); err != nil {
				return err
			}
		}
	}
	return err
}
