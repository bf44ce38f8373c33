package queue

// excuses are the operations of unknown outcome. Each of them explains as much as it may have done, an element or a few. Which one explains what is found as a matching:
// what another one explains as well gives way.
type excuses struct {
	ops    []*excuse
	claims map[reason]*claim
}

// excuse is an operation, and what it explains.
type excuse struct {
	op        *Op
	explained []*claim
}

// reason is what is to be explained: that something happened to an element, at a worker, for the nth time.
type reason struct {
	element string
	kind    Kind
	worker  string
	n       int
}

// claim is a reason, and which operations explain it.
type claim struct {
	can      func(*Op) bool
	explains bool
}

func (e *excuses) add(op *Op) { e.ops = append(e.ops, &excuse{op: op}) }

// any reports whether there is such an operation.
func (e *excuses) any(is func(*Op) bool) bool {
	for _, x := range e.ops {
		if is(x.op) {
			return true
		}
	}
	return false
}

// excuse reports whether there is an operation that explains it, and nothing else that needs it. The same reason is explained once.
func (e *excuses) excuse(why reason, can func(*Op) bool) bool {
	if known := e.claims[why]; known != nil {
		return known.explains
	}
	if e.claims == nil {
		e.claims = map[reason]*claim{}
	}
	wanted := &claim{can: can}
	wanted.explains = e.place(wanted, map[*excuse]bool{})
	e.claims[why] = wanted
	return wanted.explains
}

// place finds an operation for a claim that was not asked yet, and moves another claim if it has to.
func (e *excuses) place(wanted *claim, asked map[*excuse]bool) bool {
	for _, x := range e.ops {
		if !asked[x] && len(x.explained) < max(1, x.op.Most) && wanted.can(x.op) {
			x.explained = append(x.explained, wanted)
			return true
		}
	}
	for _, x := range e.ops {
		if asked[x] || !wanted.can(x.op) {
			continue
		}
		asked[x] = true
		for i, other := range x.explained {
			if e.place(other, asked) {
				x.explained[i] = wanted
				return true
			}
		}
	}
	return false
}

// used is how many reasons were explained.
func (e *excuses) used() (n int) {
	for _, x := range e.ops {
		n += len(x.explained)
	}
	return n
}
