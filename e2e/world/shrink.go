package world

import (
	"slices"
	"time"
)

// shrink makes a plan that fails smaller, until leaving out any one part of it has been seen not to fail. It asks of plans whether they fail, and returns one
// that did, or the first. What it is told may be wrong now and then, as it is when a world depends on Go's scheduler: then it ends with a plan that is larger than need be.
func shrink(p Plan, fails func(Plan) bool) Plan {
	for {
		before := p.String()
		for _, part := range reductions {
			p = part(p, fails)
		}
		if p.String() == before {
			return p
		}
	}
}

// leastFor is the unit in which the time of a plan is made shorter.
const leastFor = 500 * time.Millisecond

// reductions make one part of a plan smaller each. Those come first that make all later tries cheaper.
var reductions = []func(Plan, func(Plan) bool) Plan{
	number(3, func(p Plan) int { return p.Nodes }, func(p *Plan, n int) { p.Nodes = n }),
	number(1, func(p Plan) int { return p.Proxies }, func(p *Plan, n int) { p.Proxies = n }),
	number(1, func(p Plan) int { return int(p.For / leastFor) }, func(p *Plan, n int) { p.For = time.Duration(n) * leastFor }),
	set(0, func(p *Plan) *Set { return &p.Faults }),
	set(0, func(p *Plan) *Set { return &p.Bouts }),
	set(1, func(p *Plan) *Set { return &p.Clients }),
	number(1, func(p Plan) int { return p.Turns }, func(p *Plan, n int) { p.Turns = n }),
}

// number makes a number of a plan smaller: by bisection, as if whatever fails did so with more, too.
func number(least int, of func(Plan) int, to func(*Plan, int)) func(Plan, func(Plan) bool) Plan {
	return func(p Plan, fails func(Plan) bool) Plan {
		low := least // nothing below has to be tried
		for high := of(p); low < high; high = min(high, of(p)) {
			smaller := p
			middle := low + (high-low)/2
			if to(&smaller, middle); fails(smaller) {
				p = smaller
			} else {
				low = middle + 1
			}
		}
		return p
	}
}

// set leaves elements of a set out, as many together as is possible, and the last ones first: what happens after a failure does not matter to it.
func set(least int, of func(*Plan) *Set) func(Plan, func(Plan) bool) Plan {
	return func(p Plan, fails func(Plan) bool) Plan {
		for size := len(*of(&p)); size > 0; size /= 2 {
			for to := len(*of(&p)); to > 0; to -= size {
				smaller := p
				left := slices.Delete(slices.Clone(*of(&p)), max(to-size, 0), to)
				if *of(&smaller) = left; len(left) >= least && fails(smaller) {
					p = smaller
				}
			}
		}
		return p
	}
}
