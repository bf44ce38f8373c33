package queue

import (
	"fmt"
	"maps"
	"slices"
)

// life is all that was done with an element.
type life struct {
	element                            string
	push                               *Op
	takes, claims, returns, done, left []*Op // acknowledged, but for done, of which there are unknown ones, too
	refused                            bool
}

// gone reports whether it may have been dealt with.
func (l *life) gone(d Discipline) bool {
	if d == Popped {
		return len(l.takes) > 0
	}
	return slices.ContainsFunc(l.done, func(op *Op) bool { return op.Outcome == Unknown || !op.None })
}

// removed is an operation that has surely removed it, nil if none has.
func (l *life) removed(d Discipline) *Op {
	if d == Popped && len(l.takes) > 0 {
		return l.takes[0]
	}
	for _, op := range l.done {
		if op.Outcome == Acknowledged && !op.None {
			return op
		}
	}
	return nil
}

// check is one check under way.
type check struct {
	discipline Discipline
	ops        []Op
	lives      map[string]*life
	names      []string // of elements, sorted, so that the same history gives the same result
	excuses    excuses
	result     Result
}

// Check judges a history. No operation may be under way.
func Check(d Discipline, ops []Op) Result {
	c := &check{discipline: d, ops: ops, lives: map[string]*life{}}
	c.read()
	c.names = slices.Sorted(maps.Keys(c.lives))
	for _, name := range c.names {
		l := c.lives[name]
		if l.push == nil || l.refused {
			continue // it is invented, and nothing else can be said of it
		}
		c.lost(l)
		c.twice(l)
		c.vanished(l)
	}
	c.order()
	c.result.Excused = c.excuses.used()
	return c.result
}

// read sorts the operations by element.
func (c *check) read() {
	for i := range c.ops {
		if op := &c.ops[i]; op.Kind == Push {
			l := c.life(op.Elements[0])
			l.push, l.refused = op, op.Outcome == Refused
		}
	}
	for i := range c.ops {
		op := &c.ops[i]
		switch op.Outcome {
		case Unknown:
			c.result.Unknown++
			c.excuses.add(op)
			if op.Kind == Done {
				l := c.life(op.Elements[0])
				l.done = append(l.done, op)
			}
		case Acknowledged:
			c.acknowledged(op)
		}
	}
}

func (c *check) acknowledged(op *Op) {
	seen := map[string]bool{}
	for _, element := range op.Elements {
		l := c.life(element)
		switch {
		case op.Kind == Push:
			c.result.Pushed++
			continue
		case op.Kind == Done:
			l.done = append(l.done, op)
			continue
		case !c.known(l, op):
			continue
		case seen[element]:
			c.add(Twice, l, "it is twice in the answer to one command, to %s", op.who())
		}
		seen[element] = true
		switch op.Kind {
		case Take:
			c.result.Taken++
			l.takes = append(l.takes, op)
		case Claim:
			c.result.Again++
			l.claims = append(l.claims, op)
		case Return:
			c.result.Again++
			l.returns = append(l.returns, op)
		case Left:
			l.left = append(l.left, op)
		}
	}
}

// known reports whether an element that was seen was pushed, to that queue.
func (c *check) known(l *life, seen *Op) bool {
	switch {
	case l.push == nil:
		c.addTo(Invented, seen.Queues[0], l, "%s saw it, and nobody pushed it", seen.who())
	case l.refused:
		c.addTo(Invented, seen.Queues[0], l, "%s saw it, and its push was refused", seen.who())
	case seen.Queues[0] != l.push.Queues[0]:
		c.addTo(Invented, seen.Queues[0], l, "%s saw it in this queue, and it was pushed to %s", seen.who(), l.push.Queues[0])
	case seen.End < l.push.Begin:
		c.addTo(Invented, seen.Queues[0], l, "%s saw it before it was pushed", seen.who())
	default:
		return true
	}
	return false
}

func (c *check) life(element string) *life {
	l := c.lives[element]
	if l == nil {
		l = &life{element: element}
		c.lives[element] = l
	}
	return l
}

func (op *Op) who() string {
	if op.Worker == "" {
		return "a client"
	}
	return op.Worker
}

func (c *check) add(fault Fault, l *life, format string, args ...any) {
	c.addTo(fault, l.push.Queues[0], l, format, args...)
}

func (c *check) addTo(fault Fault, queue string, l *life, format string, args ...any) {
	c.result.Violations = append(c.result.Violations, Violation{fault, queue, l.element, fmt.Sprintf(format, args...)})
}
