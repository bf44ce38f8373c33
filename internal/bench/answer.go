package bench

import "fmt"

// answer takes the answer of one command.
func (c *client) answer(s *sent) error {
	r, err := c.in.next()
	if err != nil {
		return err
	}
	if s.kind == exec {
		return c.transaction(s, r)
	}
	if r.kind == '-' {
		c.recorder.failed(s.kind, 1, string(r.text))
		return nil
	}
	switch {
	case (s.kind == set || s.kind == mset || s.kind == evalsha) && r.kind == '+':
	case r.kind == ':' && kindTable[s.kind].number:
		c.judge(s, r.n)
	case s.kind == get && r.kind == '$':
		err = c.value(s, s.key, int(r.n))
	case s.kind == hget && r.kind == '$':
		err = c.value(s, valueNumber(s.key, s.field), int(r.n))
	case (s.kind == lpop || s.kind == zscore) && r.kind == '$':
		err = c.some(s, int(r.n))
	case s.kind == hgetall && r.kind == '*' && r.n%2 == 0:
		err = c.hash(s, int(r.n/2))
	case s.kind == zrange && r.kind == '*':
		err = c.members(s, int(r.n))
	default:
		err = fmt.Errorf("%w: %s was answered with %q", errNotRESP, s.kind.op(), string(r.kind)+string(r.text))
	}
	c.answered(s)
	return err
}

// answered counts a command whose answer is there.
func (c *client) answered(s *sent) {
	if c.wait != nil && s.kind.writes() {
		c.unconfirmed[s.kind]++
	} else {
		c.ready[s.kind]++
	}
}

// judge looks at a number that a command was answered with.
func (c *client) judge(s *sent, n int64) {
	if !c.opt.Check {
		return
	}
	switch {
	case s.kind == hincrby && (n <= 0 || n%step(s.key) != 0), s.kind == hdel && n > 1, n < 0:
		c.recorder.isWrong(s.kind)
	case s.kind == hset && c.there && n > 0, (s.kind == hdel || s.kind == sismember) && n == 0: // it was not there
		c.recorder.isMissing(s.kind)
	}
}

// value takes a value of n bytes, and looks whether it is the one with a number if that is asked for.
func (c *client) value(s *sent, number uint64, n int) error {
	if n < 0 {
		c.recorder.isMissing(s.kind)
		return nil
	}
	c.checking, c.differs = number, c.opt.Check && n != c.opt.ValueSize
	if err := c.in.body(n, c.body); err != nil {
		return err
	}
	if c.differs {
		c.recorder.isWrong(s.kind)
	}
	return nil
}

// some takes a value of n bytes of which nothing is known but that there is one.
func (c *client) some(s *sent, n int) error {
	if n < 0 {
		c.recorder.isMissing(s.kind)
		return nil
	}
	return c.in.body(n, nil)
}

// members takes n members of a sorted set. From the last ranks on there are fewer than were asked for.
func (c *client) members(s *sent, n int) error {
	for range n {
		size, err := c.bulk()
		if err != nil {
			return err
		}
		if err := c.in.body(size, nil); err != nil {
			return err
		}
	}
	if n == 0 {
		c.recorder.isMissing(s.kind)
	}
	if n > rangeLength {
		c.recorder.isWrong(s.kind)
	}
	return nil
}

// hash takes all fields of a hash, n of them with their values. With Check each of the fields that must be there has to be there once, with
// its value; others are let be.
func (c *client) hash(s *sent, n int) error {
	var count int
	var sum uint64
	wrong := false
	for range n {
		field, known, err := c.field()
		if err != nil {
			return err
		}
		size, err := c.bulk()
		if err != nil {
			return err
		}
		body := c.body
		if known {
			c.checking, c.differs = valueNumber(s.key, field), size != c.opt.ValueSize
			count, sum = count+1, sum+mix(field)
		} else {
			body = nil
		}
		if err := c.in.body(size, body); err != nil {
			return err
		}
		wrong = wrong || known && c.differs
	}
	switch {
	case !c.opt.Check:
		if n == 0 {
			c.recorder.isMissing(s.kind)
		}
	case wrong, count > c.opt.Fields, count == c.opt.Fields && sum != c.requests.fields.sum:
		c.recorder.isWrong(s.kind)
	case count < c.opt.Fields:
		c.recorder.isMissing(s.kind)
	}
	return nil
}

// field takes the name of a field, and returns its number if it is one that must be there and that is to be checked.
func (c *client) field() (number uint64, known bool, err error) {
	size, err := c.bulk()
	if err != nil {
		return 0, false, err
	}
	if !c.opt.Check || size != c.opt.FieldSize {
		return 0, false, c.in.body(size, nil)
	}
	c.name = c.name[:0]
	if err := c.in.body(size, c.naming); err != nil {
		return 0, false, err
	}
	number, known = c.requests.fields.number(c.name)
	return number, known, nil
}

// bulk takes the beginning of a bulk string within an answer, and returns its length.
func (c *client) bulk() (size int, err error) {
	r, err := c.in.next()
	switch {
	case err != nil:
		return 0, err
	case r.kind != '$' || r.n < 0:
		return 0, fmt.Errorf("%w: an answer has %q in it", errNotRESP, string(r.kind)+string(r.text))
	}
	return int(r.n), nil
}

// confirmed takes the answer of WAIT.
func (c *client) confirmed() error {
	r, err := c.in.next()
	failure := ""
	switch {
	case err != nil:
		return err
	case r.kind == ':' && r.n >= int64(c.opt.Wait):
	case r.kind == ':':
		failure = fmt.Sprintf("WAIT: %d replicas acknowledged, not %d", r.n, c.opt.Wait)
	case r.kind == '-':
		failure = "WAIT: " + string(r.text)
	default:
		return fmt.Errorf("%w: WAIT was answered with %q", errNotRESP, string(r.kind)+string(r.text))
	}
	for k, n := range c.unconfirmed {
		switch {
		case n == 0:
		case failure != "":
			c.recorder.failed(kind(k), n, failure)
		default:
			c.ready[k] += n
		}
	}
	c.unconfirmed = [kinds]int{}
	return nil
}
