package bench

import "sync/atomic"

// phase is a part of a trial in which all connections do the same kind of work.
type phase struct {
	name string
	// fraction is the share of writes.
	fraction float64
	// echo reads what the pipeline before has written.
	echo bool
	// load, if set, counts for each prefix the keys that have been taken to be written.
	load []atomic.Int64
	// depth is the number of commands in a pipeline.
	depth int

	// left is how many commands are still to be sent, if that is counted.
	counted bool
	left    atomic.Int64
	// stop ends the phase: each connection finishes its pipeline.
	stop atomic.Bool
}

// phases returns those of one trial.
func (o *Options) phases() []*phase {
	var list []*phase
	switch o.Workload {
	case Load:
		return []*phase{o.loading(o.Depth)}
	case Simple:
		list = []*phase{{name: "SET", fraction: 1}, {name: "GET", fraction: 0}}
	case Mixed:
		list = []*phase{{name: "mixed", fraction: o.SetFraction}}
	case Batch:
		list = []*phase{{name: "batch", echo: true}}
	}
	for _, p := range list {
		p.depth, p.counted = o.Depth, o.Count > 0
		p.left.Store(int64(o.Count))
	}
	return list
}

// loading writes every key once.
func (o *Options) loading(depth int) *phase {
	return &phase{name: "load", depth: depth, load: make([]atomic.Int64, max(1, len(o.Prefixes)))}
}

// preparing writes every key once without measuring it: faster than a small depth would.
func (o *Options) preparing() *phase {
	const enough = 64
	return o.loading(max(o.Depth, min(enough, maxBuffers/o.Connections/(o.KeySize+o.ValueSize))))
}

// claim takes up to n commands of what is left, and returns how many.
func (p *phase) claim(n int) int {
	switch {
	case p.stop.Load():
		return 0
	case !p.counted:
		return n
	}
	return int(max(0, min(int64(n), p.left.Add(-int64(n))+int64(n))))
}

// claimLoad takes up to n keys of a prefix to be written, and returns the first one and how many.
func (p *phase) claimLoad(prefix, n, keys int) (first uint64, taken int) {
	if p.stop.Load() {
		return 0, 0
	}
	at := int(p.load[prefix].Add(int64(n))) - n
	return uint64(at), max(0, min(n, keys-at))
}
