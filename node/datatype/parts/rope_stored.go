package parts

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// The parts of a rope (record.Parted) are its segments. One that is above others holds nothing else, and the others hold their bytes.

// Root implements record.Parted. An empty rope, which is no object of a key, has none.
func (r *Rope) Root() record.Part {
	if r.root == nil {
		return nil
	}
	return r.root
}

// Stored implements record.Part.
func (s *segment) Stored() *record.Place { return &s.stored }

// Parts implements record.Part.
func (s *segment) Parts() int { return len(s.kids) }

// Source implements record.Parted: all of a rope is in memory.
func (r *Rope) Source() record.Source { return nil }

// Part implements record.Part.
func (s *segment) Part(i int) record.Part { return s.kids[i] }

// AppendPart implements record.Part.
func (s *segment) AppendPart(dst []byte) []byte { return buffer.Append(dst, s.bytes) }

// AssembleRope makes the rope whose root a store keeps at a place, and notes in its parts where they are. An error is one of the source, or says that
// what was read is no rope.
func AssembleRope(root record.Place, from record.Source) (*Rope, error) {
	s, height, size, err := assembleSegment(root, from, deepest)
	if err != nil {
		return nil, err
	}
	return &Rope{root: s, height: height, size: size}, nil
}

// assembleSegment returns a segment, its height, and how many bytes it has.
func assembleSegment(at record.Place, from record.Source, levels int) (s *segment, height, size int, err error) {
	var content []byte
	var below []record.Place
	err = from.Read(at, func(c []byte, b []record.Place) error {
		content, below = c, b
		return nil
	})
	if err != nil {
		return nil, 0, 0, err
	}
	if len(below) == 0 {
		if len(content) == 0 || len(content) > ropePart {
			return nil, 0, 0, errPart
		}
		return &segment{bytes: content, stored: at}, 0, len(content), nil
	}
	if len(below) > ropeFanout || len(content) > 0 || levels == 0 {
		return nil, 0, 0, errPart
	}
	s = &segment{kids: make([]*segment, len(below)), stored: at}
	for i, at := range below {
		kid, h, n, err := assembleSegment(at, from, levels-1)
		if err != nil {
			return nil, 0, 0, err
		}
		last := i == len(below)-1
		if i > 0 && h+1 != height || !last && n != room(h) {
			return nil, 0, 0, errPart
		}
		s.kids[i], height, size = kid, h+1, size+n
	}
	return s, height, size, nil
}
