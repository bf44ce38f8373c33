package bench

// compose makes the next pipeline. There is none if the phase is over.
func (c *client) compose(p *phase) bool {
	c.out, c.sent, c.there = c.out[:0], c.sent[:0], p.there
	switch {
	case p.load != nil && c.hashes:
		c.composeHashes(p)
	case p.load != nil:
		first, n := p.claimLoad(c.prefix, p.depth, c.opt.Keys)
		for i := range n {
			c.send(set, first+uint64(i), 0)
		}
	case p.echo:
		c.composeEcho(p, p.claim(p.depth))
	default:
		for range p.claim(p.depth) {
			kinds := p.read
			if p.fraction == 1 || p.fraction > 0 && c.random.Float64() < p.fraction {
				kinds = p.write
			}
			c.send(c.oneOf(kinds), c.pick(), c.pickField())
		}
	}
	return len(c.sent) > 0
}

func (c *client) oneOf(some []kind) kind {
	if len(some) == 1 {
		return some[0]
	}
	return some[c.random.IntN(len(some))]
}

func (c *client) pickField() uint64 {
	if !c.hashes {
		return 0
	}
	return c.random.Uint64N(uint64(c.opt.Fields))
}

// composeEcho writes n keys, or reads those that the pipeline before has written.
func (c *client) composeEcho(p *phase, n int) {
	if len(c.written) > 0 {
		for _, w := range c.written[:min(n, len(c.written))] {
			c.send(p.read[0], w.key, w.field)
		}
		c.written = c.written[:0]
		return
	}
	for i := range n {
		key, field := c.pick(), c.pickField()
		if p.own {
			field = temporaryFrom + uint64(c.number*c.opt.Depth+i)
		}
		c.send(p.write[0], key, field)
	}
	c.written = append(c.written, c.sent...)
}

// composeHashes writes fields of the hash that this client is writing, and goes on with the next one: nobody else writes to it, so that
// a large one grows command by command.
func (c *client) composeHashes(p *phase) {
	for len(c.sent) < p.depth {
		if c.loaded == c.opt.Fields {
			key, n := p.claimLoad(c.prefix, 1, c.opt.Keys)
			if n == 0 {
				return
			}
			c.loading, c.loaded = key, 0
		}
		n := min(c.opt.fieldsAtOnce(), c.opt.Fields-c.loaded)
		c.out = c.requests.appendFields(c.out, c.loading, uint64(c.loaded), n)
		c.sent = append(c.sent, sent{kind: hset, key: c.loading, field: uint64(c.loaded)})
		c.loaded += n
	}
}

func (c *client) send(k kind, key, field uint64) {
	c.out = c.requests.append(c.out, k, key, field)
	c.sent = append(c.sent, sent{k, key, field})
}
