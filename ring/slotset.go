package ring

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// SlotSet is a set of slots. As text it is a list of ranges: 0-5460,10923.
type SlotSet [Slots / 64]uint64

// Add adds a slot, which is below Slots.
func (s *SlotSet) Add(slot uint16) { s[slot/64] |= 1 << (slot % 64) }

// Remove removes a slot, which is below Slots.
func (s *SlotSet) Remove(slot uint16) { s[slot/64] &^= 1 << (slot % 64) }

// Has reports whether a slot is in the set; a number that is no slot is not.
func (s *SlotSet) Has(slot uint16) bool {
	return slot < Slots && s[slot/64]>>(slot%64)&1 == 1
}

// Len returns the number of slots in the set.
func (s *SlotSet) Len() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// Union adds the slots of another set.
func (s *SlotSet) Union(other *SlotSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// Missing returns the slots that are not in the set.
func (s *SlotSet) Missing() SlotSet {
	var missing SlotSet
	for i := range s {
		missing[i] = ^s[i]
	}
	return missing
}

// String returns the set as text.
func (s SlotSet) String() string {
	var text strings.Builder
	for first := uint16(0); first < Slots; first++ {
		if !s.Has(first) {
			continue
		}
		last := first
		for s.Has(last + 1) {
			last++
		}
		if text.Len() > 0 {
			text.WriteByte(',')
		}
		fmt.Fprint(&text, first)
		if last > first {
			fmt.Fprintf(&text, "-%d", last)
		}
		first = last
	}
	return text.String()
}

// MarshalText implements encoding.TextMarshaler.
func (s SlotSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *SlotSet) UnmarshalText(text []byte) error {
	*s = SlotSet{}
	if len(text) == 0 {
		return nil
	}
	for part := range strings.SplitSeq(string(text), ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.ParseUint(from, 10, 16)
		last, err2 := strconv.ParseUint(to, 10, 16)
		if err1 != nil || err2 != nil || first > last || last >= Slots {
			return fmt.Errorf("%q is not a range of slots", part)
		}
		for slot := first; slot <= last; slot++ {
			s.Add(uint16(slot))
		}
	}
	return nil
}
