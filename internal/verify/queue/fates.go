package queue

// lost: what was acknowledged, or seen, has been dealt with, or is there at the end. Of Popped an unknown Take may have it.
func (c *check) lost(l *life) {
	seen := len(l.takes)+len(l.claims)+len(l.returns) > 0
	switch {
	case l.gone(c.discipline), len(l.left) > 0, l.push.Outcome != Acknowledged && !seen:
	case c.discipline == Popped:
		if !c.excuses.excuse(reason{l.element, Take, "", 0}, takesFrom(l.push.Queues[0])) {
			c.add(Lost, l, "its push was acknowledged, nobody got it, it is not there, and no command of unknown outcome can have taken it")
		}
	case seen:
		c.add(Lost, l, "%s got it, nobody said that it is dealt with, and it is neither in the queue nor with anybody", append(l.takes, append(l.claims, l.returns...)...)[0].who())
	default:
		c.add(Lost, l, "its push was acknowledged, nobody got it, and it is neither in the queue nor with anybody")
	}
}

// twice: it is handed out as often as it may be, and not after it is gone.
func (c *check) twice(l *life) {
	if gone := l.removed(c.discipline); gone != nil {
		for _, ops := range [][]*Op{l.takes, l.claims, l.returns, l.left} {
			for _, op := range ops {
				if op != gone && gone.before(op) {
					c.add(Twice, l, "%s had it, and %s saw it afterwards", gone.who(), op.who())
					return
				}
			}
		}
	}
	removals := 0
	for _, op := range l.done {
		if op.Outcome == Acknowledged && !op.None {
			removals++
		}
	}
	switch again := len(l.takes) - 1; {
	case removals > 1:
		c.add(Twice, l, "it was removed %d times", removals)
	case again < 1:
	case c.discipline != Moved:
		c.add(Twice, l, "%s and %s got it as a new one", l.takes[0].who(), l.takes[1].who())
	case !c.returned(l, again):
		c.add(Twice, l, "it was handed out %d times, to %s and %s among others, and returned %d times", len(l.takes), l.takes[0].who(), l.takes[again].who(), len(l.returns))
	}
}

// returned reports whether an element may have been returned n times.
func (c *check) returned(l *life, n int) bool {
	for i := len(l.returns); i < n; i++ {
		if !c.excuses.excuse(reason{l.element, Return, "", i}, returnsTo(l.push.Queues[0])) {
			return false
		}
	}
	return true
}

// vanished: who has an element finds it, and who finds one was given it.
func (c *check) vanished(l *life) {
	for _, op := range l.done {
		if op.Outcome == Acknowledged && op.None && !c.mayBeGone(l, op) {
			c.add(Lost, l, "%s had it, and did not find it any more when it was dealt with", op.who())
		}
	}
	held := append(append([]*Op(nil), l.claims...), l.returns...)
	for _, op := range l.left {
		if op.Worker != "" {
			held = append(held, op)
		}
	}
	for _, op := range held {
		if !c.wasGiven(l, op) {
			c.add(Invented, l, "%s has it, to whom it was not given", op.who())
			return
		}
	}
}

// mayBeGone reports whether somebody may have taken an element away from its worker before he said that it is dealt with.
func (c *check) mayBeGone(l *life, done *Op) bool {
	for _, other := range l.done {
		if other != done && other.Begin < done.End && (other.Outcome == Unknown || !other.None) {
			return true
		}
	}
	if c.discipline == Grouped {
		return false
	}
	for _, back := range l.returns {
		if back.Worker == done.Worker && back.Begin < done.End {
			return true
		}
	}
	return c.excuses.any(func(op *Op) bool { return op.Kind == Return && op.Worker == done.Worker && op.Begin < done.End })
}

// wasGiven reports whether an element that is with somebody may be there. For Grouped all take as one.
func (c *check) wasGiven(l *life, seen *Op) bool {
	worker := seen.Worker
	if c.discipline == Grouped {
		worker = ""
	}
	gives := func(op *Op) bool {
		return op.Kind == Take && op.Begin < seen.End && op.Queues[0] == l.push.Queues[0] && (worker == "" || op.Worker == worker)
	}
	for _, op := range l.takes {
		if gives(op) {
			return true
		}
	}
	return c.excuses.excuse(reason{l.element, Take, worker, 0}, gives)
}

// takesFrom are the Takes that may have taken from a queue, returnsTo the Returns to one.
func takesFrom(queue string) func(*Op) bool {
	return func(op *Op) bool { return op.Kind == Take && op.mayTakeFrom(queue) }
}

func returnsTo(queue string) func(*Op) bool {
	return func(op *Op) bool { return op.Kind == Return && op.Queues[0] == queue }
}

func (op *Op) mayTakeFrom(queue string) bool {
	for _, q := range op.Queues {
		if q == queue {
			return true
		}
	}
	return false
}
