package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Each calls what it is given with the items of the value: a string, the elements of a list, the members of a set, those of a sorted set with their scores, or the
// fields of a hash, each followed by its value; of a stream what tells it from any other one. They are borrowed. That none is there twice is not looked at, nor, as in Redis, what is behind the value. An error of the
// call ends it; all others wrap ErrFormat or ErrTooLong.
func (v Value) Each(item func(item []byte, score float64) error) error {
	r, items, size := &reader{data: v.body, left: v.limit}, 0, 0
	err := v.visit(r, func(value []byte, score float64) error {
		items++
		if size += len(value); size > v.limit {
			return ErrTooLong
		}
		return item(value, score)
	})
	if err == nil && items == 0 {
		err = fmt.Errorf("%w: it has no items", ErrFormat)
	}
	return err
}

func (v Value) visit(r *reader, item func(item []byte, score float64) error) error {
	plain := func(value []byte) error { return item(value, 0) }
	switch v.typ {
	case typeString:
		return readStrings(r, 1, plain)
	case typeList, typeSet:
		return counted(r, 1, plain)
	case typeHash:
		return counted(r, 2, plain)
	case typeSortedSet, typeSortedSet2:
		return v.scored(r, item)
	case typeQuicklist, typeQuicklist2:
		return v.quicklist(r, plain)
	case typeStream, typeStream2, typeStream3:
		return v.Stream(streamItems{plain})
	}
	return v.packed(r, item)
}

// readStrings reads so many strings.
func readStrings(r *reader, n int, item visitor) error {
	for range n {
		value, err := r.string()
		if err == nil {
			err = item(value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// counted reads a number, and that many times some strings.
func counted(r *reader, times int, item visitor) error {
	n, err := r.length()
	if err != nil {
		return err
	}
	return readStrings(r, n*times, item)
}

// scored reads members and their scores.
func (v Value) scored(r *reader, item func(member []byte, score float64) error) error {
	n, err := r.length()
	for ; err == nil && n > 0; n-- {
		var member []byte
		var score float64
		if member, err = r.string(); err != nil {
			break
		}
		if v.typ == typeSortedSet {
			score, err = textScore(r)
		} else {
			score, err = binaryScore(r)
		}
		if err == nil {
			err = item(member, score)
		}
	}
	return err
}

func binaryScore(r *reader) (float64, error) {
	b, err := r.take(8)
	if err != nil {
		return 0, err
	}
	return checked(math.Float64frombits(binary.LittleEndian.Uint64(b)))
}

// textScore reads a score as Redis before 4.0 wrote it.
func textScore(r *reader) (float64, error) {
	const minusInf, plusInf, nan = 255, 254, 253
	head, err := r.take(1)
	if err != nil {
		return 0, err
	}
	switch head[0] {
	case minusInf:
		return math.Inf(-1), nil
	case plusInf:
		return math.Inf(1), nil
	case nan:
		return checked(math.NaN())
	}
	text, err := r.take(int(head[0]))
	if err != nil {
		return 0, err
	}
	return parsedScore(text)
}

func parsedScore(text []byte) (float64, error) {
	score, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !math.IsInf(score, 0) {
		return 0, fmt.Errorf("%w: a score that is no number", ErrFormat)
	}
	return checked(score)
}

// checked refuses a score that is no number.
func checked(score float64) (float64, error) {
	if math.IsNaN(score) {
		return 0, fmt.Errorf("%w: a score that is no number", ErrFormat)
	}
	return score, nil
}

// quicklist reads the nodes of a list: packed ones, or (in the second version) single elements.
func (v Value) quicklist(r *reader, item visitor) error {
	const plain, packed = 1, 2
	n, err := r.length()
	for ; err == nil && n > 0; n-- {
		container := uint64(packed)
		if v.typ == typeQuicklist2 {
			if container, _, err = r.head(); err != nil {
				return err
			}
		}
		var node []byte
		if node, err = r.string(); err != nil {
			return err
		}
		switch {
		case container == plain && len(node) > 0:
			err = item(node)
		case container != packed:
			err = fmt.Errorf("%w: node %d of a list", ErrFormat, container)
		case v.typ == typeQuicklist:
			err = ziplist(node, item)
		default:
			err = listpack(node, item)
		}
	}
	return err
}

// packed reads a value that is one string.
func (v Value) packed(r *reader, item func(item []byte, score float64) error) error {
	packed, err := r.string()
	if err != nil {
		return err
	}
	plain := func(value []byte) error { return item(value, 0) }
	pairs := pairs{item: func(field, value []byte) error {
		if err := plain(field); err != nil {
			return err
		}
		return plain(value)
	}}
	if v.Kind == SortedSet {
		pairs.item = func(member, text []byte) error {
			score, err := parsedScore(text)
			if err != nil {
				return err
			}
			return item(member, score)
		}
	}
	switch v.typ {
	case typeListZiplist:
		return ziplist(packed, plain)
	case typeSetListpack:
		return listpack(packed, plain)
	case typeIntset:
		return intset(packed, plain)
	case typeHashZipmap:
		err = zipmap(packed, pairs.add)
	case typeHashZiplist, typeSortedZiplist:
		err = ziplist(packed, pairs.add)
	default:
		err = listpack(packed, pairs.add)
	}
	if err == nil && pairs.half {
		err = fmt.Errorf("%w: half a pair", ErrFormat)
	}
	return err
}

// pairs makes pairs of items.
type pairs struct {
	item  func(first, second []byte) error
	first []byte
	half  bool
}

func (p *pairs) add(item []byte) error {
	if p.half = !p.half; p.half {
		p.first = append(p.first[:0], item...)
		return nil
	}
	return p.item(p.first, item)
}
