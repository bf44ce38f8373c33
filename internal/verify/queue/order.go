package queue

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// stay is when an element was in its queue for certain: from the end of its push to the beginning of the Take that handed it out.
type stay struct {
	*life
	from, to int64
	taker    *Op // nil if it is still there
}

// stays are those of a queue, in order of from.
type stays []stay

// latest returns, of the elements that were there before a time, the one that was there longest; nil if there is none.
func (s stays) latest(longest []int, before int64) *stay {
	n, _ := slices.BinarySearchFunc(s, before, func(one stay, at int64) int {
		if one.from < at {
			return -1
		}
		return 1
	})
	if n == 0 {
		return nil
	}
	return &s[longest[n-1]]
}

// longest has for each number of elements, from the front, the one among them that was there longest.
func (s stays) longest() []int {
	longest := make([]int, len(s))
	for i := range s {
		longest[i] = i
		if i > 0 && s[longest[i-1]].to >= s[i].to {
			longest[i] = longest[i-1]
		}
	}
	return longest
}

// until says how it ended.
func (s *stay) until() string {
	if s.taker == nil {
		return "and it is still there"
	}
	return fmt.Sprintf("and %s, who got it, asked at %d and was answered at %d", s.taker.who(), s.taker.Begin, s.taker.End)
}

// mostDisorder bounds how many elements of a queue are told to be in the wrong order: one that stays behind has all others pass it.
const mostDisorder = 5

// order judges the order in which elements left their queues, and what a Take that found none says.
func (c *check) order() {
	queues := map[string]stays{}
	for _, name := range c.names {
		if l := c.lives[name]; l.push != nil && !l.refused {
			if s, ok := c.stayOf(l); ok {
				queues[l.push.Queues[0]] = append(queues[l.push.Queues[0]], s)
			}
		}
	}
	for _, s := range queues {
		slices.SortStableFunc(s, func(a, b stay) int { return int(a.from - b.from) })
	}
	for i := range c.ops {
		if op := &c.ops[i]; op.Outcome == Acknowledged && len(op.Elements) > 1 && (op.Kind == Take || op.Kind == Left && op.Worker == "") {
			c.within(op)
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(queues)) {
		c.orderOf(queue, queues[queue])
	}
}

// stayOf says when an element was in its queue. Of one whose push is not acknowledged that is not known, nor of one that was, or may have been, somewhere else meanwhile.
func (c *check) stayOf(l *life) (s stay, ok bool) {
	s = stay{life: l, from: l.push.End, to: math.MaxInt64}
	if l.push.Outcome != Acknowledged || c.discipline == Moved && len(l.returns) > 0 {
		return s, false
	}
	for _, op := range l.takes {
		if op.Begin < s.to {
			s.to, s.taker = op.Begin, op
		}
	}
	return s, s.taker != nil || slices.ContainsFunc(l.left, func(op *Op) bool { return op.Worker == "" })
}

// orderOf finds the elements of a queue that were passed, until none is left.
func (c *check) orderOf(queue string, s stays) {
	for found := 0; found < mostDisorder; {
		late, fault, op := c.passed(queue, s)
		if late == nil {
			return
		}
		l := late.life
		s = slices.DeleteFunc(slices.Clone(s), func(one stay) bool { return one.life == l })
		switch {
		case c.discipline == Moved && c.returned(l, 1): // it may have been away in between
		case fault == Unseen:
			found++
			c.add(Unseen, l, "it was there all the time while %s, who asked for %q, was answered that there is nothing: it was acknowledged at %d, that was asked at %d and answered at %d, %s", op.who(), op.Queues, l.push.End, op.Begin, op.End, late.until())
		default:
			found++
			c.add(Disorder, l, "its push had ended before that of %q began, which %s got before anybody got this one", op.Elements[0], op.who())
		}
	}
}

// passed returns an element that was still there when one behind it had been taken, or nothing been found; nil if there is none.
func (c *check) passed(queue string, s stays) (late *stay, fault Fault, op *Op) {
	longest := s.longest()
	for i := range c.ops {
		op := &c.ops[i]
		if op.Kind != Take || op.Outcome != Acknowledged {
			continue
		}
		if len(op.Elements) == 0 && op.mayTakeFrom(queue) {
			if late := s.latest(longest, op.Begin); late != nil && late.to > op.End {
				return late, Unseen, op
			}
		}
		for _, element := range op.Elements {
			if l := c.lives[element]; l.push == nil || l.refused || l.push.Queues[0] != queue {
				continue
			} else if late := s.latest(longest, l.push.Begin); late != nil && late.to > op.End {
				return late, Disorder, &Op{Elements: []string{element}, Worker: op.Worker}
			}
		}
	}
	return nil, "", nil
}

// within judges the order of several elements in one answer. One that was returned is in front, of which nothing can be said.
func (c *check) within(op *Op) {
	if c.discipline == Moved && c.excuses.any(returnsTo(op.Queues[0])) {
		return
	}
	var ahead *life // of those in front the one whose push began last
	for _, element := range op.Elements {
		l := c.lives[element]
		if l.push == nil || l.refused || len(l.returns) > 0 {
			continue
		}
		if ahead != nil && l.push.before(ahead.push) {
			c.add(Disorder, l, "its push had ended before that of %q began, behind which it is in the answer to %s", ahead.element, op.who())
			return
		}
		if ahead == nil || l.push.Begin > ahead.push.Begin {
			ahead = l
		}
	}
}
