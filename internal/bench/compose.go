package bench

// compose makes the next pipeline. There is none if the phase is over.
func (c *client) compose(p *phase) bool {
	c.out, c.sent, c.there = c.out[:0], c.sent[:0], p.there
	switch {
	case p.load != nil && c.collections:
		c.composeCollections(p)
	case p.load != nil:
		first, n := p.claimLoad(c.prefix, p.depth, c.share.keys(c.opt.Keys))
		for i := range n {
			c.send(holdings[c.opt.holds()].load, c.share.number(first+uint64(i)), 0)
		}
	case p.echo:
		c.composeEcho(p, p.claim(p.depth))
	default:
		for range p.claim(p.depth) {
			kinds := p.read
			if p.fraction == 1 || p.fraction > 0 && c.random.Float64() < p.fraction {
				kinds = p.write
			}
			k := c.oneOf(kinds)
			c.send(k, c.pick(), c.pickField(k))
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

// pickField chooses the field, or element, that a command is about. Half of those that SADD adds are not there at first.
func (c *client) pickField(k kind) uint64 {
	fields := uint64(c.opt.Fields)
	switch {
	case !c.collections:
		return 0
	case k == sadd:
		fields *= 2
	}
	return c.random.Uint64N(fields)
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
		key, field := c.pick(), c.pickField(p.write[0])
		if p.own {
			field = temporaryFrom + uint64(c.number*c.opt.Depth+i)
		}
		c.send(p.write[0], key, field)
	}
	c.written = append(c.written, c.sent...)
}

// composeCollections writes fields, or elements, of what this client is loading, and goes on with the next key: nobody else writes to it, so
// that a large one grows command by command.
func (c *client) composeCollections(p *phase) {
	load := holdings[c.opt.holds()].load
	for len(c.sent) < p.depth {
		if c.loaded == c.opt.Fields {
			nth, n := p.claimLoad(c.prefix, 1, c.share.keys(c.opt.Keys))
			if n == 0 {
				return
			}
			c.loading, c.loaded = c.share.number(nth), 0
		}
		n := min(c.opt.fieldsAtOnce(), c.opt.Fields-c.loaded)
		c.out = c.requests.appendFields(c.out, load, c.loading, uint64(c.loaded), n)
		c.sent = append(c.sent, sent{kind: load, key: c.loading, field: uint64(c.loaded)})
		c.loaded += n
	}
}

func (c *client) send(k kind, key, field uint64) {
	c.out = c.requests.append(c.out, k, key, field)
	c.sent = append(c.sent, sent{k, key, field})
}
