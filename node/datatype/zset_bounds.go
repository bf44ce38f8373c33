package datatype

// scoreBound is an end of a range of scores, which it is part of unless it is open.
type scoreBound struct {
	score float64
	open  bool
}

// scoreRange is a range of scores.
type scoreRange struct{ min, max scoreBound }

// parseScoreRange reads the ends of a range.
func parseScoreRange(low, high []byte) (r scoreRange, ok bool) {
	if r.min, ok = parseBound(low); ok {
		r.max, ok = parseBound(high)
	}
	return r, ok
}

// above reports whether a member is not below the range, below whether it is not above it.
func (r scoreRange) above(s scored) bool {
	return s.score > r.min.score || !r.min.open && s.score == r.min.score
}

func (r scoreRange) below(s scored) bool {
	return s.score < r.max.score || !r.max.open && s.score == r.max.score
}

// empty reports whether no member can be in the range.
func (r scoreRange) empty() bool {
	return r.min.score > r.max.score || r.min.score == r.max.score && (r.min.open || r.max.open)
}

// lexBound is an end of a range of members, which it is part of unless it is open: a member, or what is before (-1) or behind (1) all of them.
type lexBound struct {
	member []byte
	open   bool
	beyond int
}

// lexRange is a range of members of equal scores, in the order of their bytes.
type lexRange struct{ min, max lexBound }

// parseLexRange reads the ends of a range.
func parseLexRange(low, high []byte) (r lexRange, ok bool) {
	if r.min, ok = parseLexBound(low); ok {
		r.max, ok = parseLexBound(high)
	}
	return r, ok
}

func parseLexBound(b []byte) (bound lexBound, ok bool) {
	switch {
	case len(b) == 0:
		return bound, false
	case b[0] == '+' || b[0] == '-':
		if bound.beyond = 1; b[0] == '-' {
			bound.beyond = -1
		}
		bound.open = true
		return bound, len(b) == 1
	}
	return lexBound{member: b[1:], open: b[0] == '('}, b[0] == '(' || b[0] == '['
}

// compare returns where a bound is, seen from another one.
func (b lexBound) compare(c lexBound) int {
	if b.beyond != 0 || c.beyond != 0 {
		return b.beyond - c.beyond
	}
	return scored{member: b.member}.compare(scored{member: c.member})
}

func (r lexRange) above(s scored) bool {
	c := lexBound{member: s.member}.compare(r.min)
	return c > 0 || c == 0 && !r.min.open
}

func (r lexRange) below(s scored) bool {
	c := lexBound{member: s.member}.compare(r.max)
	return c < 0 || c == 0 && !r.max.open
}

func (r lexRange) empty() bool {
	c := r.min.compare(r.max)
	return c > 0 || c == 0 && (r.min.open || r.max.open)
}

// bounds is a range of scores, or of members.
type bounds interface {
	above(s scored) bool
	below(s scored) bool
	empty() bool
}

// ranks returns the first rank in a range, and the one behind the last, without so many at its beginning, or at its end if it is asked for in reverse; a negative
// number leaves none. Members of different scores are in no order: what is then in a range of members depends on where it is looked for, as it does in Redis.
func (z zset) ranks(b bounds, reverse bool, offset int64) (from, to int) {
	n := z.count()
	if n == 0 || b.empty() || !b.below(z.at(0)) || !b.above(z.at(n-1)) || offset < 0 || offset >= int64(n) {
		return 0, 0
	}
	skipped := int(offset)
	if reverse {
		if to = z.last(n, b.below) + 1; to <= skipped || !b.above(z.at(to-1)) {
			return 0, 0
		}
		to -= skipped
		return z.last(to, func(s scored) bool { return !b.above(s) }) + 1, to
	}
	if from = z.first(0, b.above); from+skipped >= n || !b.below(z.at(from)) {
		return 0, 0
	}
	from += skipped
	return from, z.first(from, func(s scored) bool { return !b.below(s) })
}
