package rdb

import (
	"fmt"
)

// skip reads the value of a type up to its end, without a look at what is in it.
func (s *stream) skip(typ byte) error {
	text := s.text
	switch typ {
	case typeString, typeHashZipmap, typeListZiplist, typeIntset, typeSortedZiplist, typeHashZiplist, typeHashListpack, typeSortedListpack, typeSetListpack,
		typeHashListpackExPreview:
		return text()
	case typeList, typeSet, typeQuicklist:
		return s.times(text)
	case typeHash:
		return s.times(text, text)
	case typeQuicklist2:
		return s.times(s.oneLength, text)
	case typeSortedSet:
		return s.times(text, s.textScore)
	case typeSortedSet2:
		return s.times(text, func() error { return s.pass(8) })
	case typeStream, typeStream2, typeStream3:
		return s.skipStream(typ)
	case typeModule2:
		return s.skipModule()
	case typeHashMetadataPreview:
		return s.times(s.oneLength, text, text)
	case typeHashMetadata:
		if err := s.pass(8); err != nil {
			return err
		}
		return s.times(s.oneLength, text, text)
	case typeHashListpackEx:
		if err := s.pass(8); err != nil {
			return err
		}
		return text()
	}
	return fmt.Errorf("%w: values of type %d are not known, nor how long they are", ErrFormat, typ)
}

func (s *stream) oneLength() error { return s.lengths(1) }

// textScore is a score as Redis before 4.0 wrote it.
func (s *stream) textScore() error {
	const special = 253
	head, err := s.some(1)
	if err != nil || head[0] >= special {
		return err
	}
	return s.pass(uint64(head[0]))
}

// skipStream reads a stream: its listpacks, its counters, its groups, and in each group what is pending and for whom.
func (s *stream) skipStream(typ byte) error {
	counters, groupCounters, consumerTimes := 3, 2, uint64(8)
	if typ >= typeStream2 {
		counters, groupCounters = 8, 3
	}
	if typ >= typeStream3 {
		consumerTimes = 16
	}
	const id = 16
	pending := func() error {
		if err := s.pass(id + 8); err != nil { // and when it was delivered
			return err
		}
		return s.oneLength()
	}
	consumer := func() error {
		if err := s.text(); err != nil {
			return err
		}
		if err := s.pass(consumerTimes); err != nil {
			return err
		}
		return s.times(func() error { return s.pass(id) })
	}
	group := func() error {
		if err := s.text(); err != nil {
			return err
		}
		if err := s.lengths(groupCounters); err != nil {
			return err
		}
		if err := s.times(pending); err != nil {
			return err
		}
		return s.times(consumer)
	}
	if err := s.times(s.text, s.text); err != nil {
		return err
	}
	if err := s.lengths(counters); err != nil {
		return err
	}
	return s.times(group)
}

// skipModule reads what a module has written: its number, and then parts that say what they are.
func (s *stream) skipModule() error {
	if err := s.oneLength(); err != nil {
		return err
	}
	return s.skipParts()
}

func (s *stream) skipParts() error {
	const end, signed, unsigned, float, double, text = 0, 1, 2, 3, 4, 5
	for {
		part, err := s.length()
		if err != nil {
			return err
		}
		switch part {
		case end:
			return nil
		case signed, unsigned:
			err = s.oneLength()
		case float:
			err = s.pass(4)
		case double:
			err = s.pass(8)
		case text:
			err = s.text()
		default:
			err = fmt.Errorf("%w: part %d of what a module has written", ErrFormat, part)
		}
		if err != nil {
			return err
		}
	}
}
