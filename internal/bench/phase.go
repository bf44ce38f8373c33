package bench

import "sync/atomic"

// phase is a part of a trial in which all connections do the same kind of work.
type phase struct {
	name string
	// fraction is the share of writes. What is written and read with is one of these, at random.
	fraction    float64
	write, read []kind
	// echo follows each pipeline of the first of write by one of the first of read, with the same keys.
	echo bool
	// own gives each connection fields of its own, so that echo knows which there are.
	own bool
	// there: all keys, and all that they hold, were written before.
	there bool
	// load, if set, counts for each prefix, or node of a cluster, the keys that have been taken to be written.
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
	write, read := o.writesAndReads()
	switch o.Workload {
	case Load:
		return []*phase{o.loading(o.Depth)}
	case Simple:
		for _, k := range o.kinds() {
			list = append(list, only(k))
		}
	case Mixed:
		list = []*phase{{name: "mixed", fraction: o.SetFraction, write: write, read: read, there: true}}
	case Batch:
		list = []*phase{{name: "batch", write: write, read: read, echo: true}}
	}
	for _, p := range list {
		p.depth, p.counted = o.Depth, o.Count > 0
		p.left.Store(int64(o.Count))
	}
	return list
}

// only measures one kind of command. What removes something needs what adds it, which is half of that phase.
func only(k kind) *phase {
	p := &phase{name: k.op(), there: true}
	adds, removes := k.counterpart()
	switch {
	case removes:
		p.write, p.read, p.echo, p.own = []kind{adds}, []kind{k}, true, k == hdel
	case k.writes():
		p.write, p.fraction = []kind{k}, 1
	default:
		p.read = []kind{k}
	}
	return p
}

// Loading writes as many fields with one command as these bytes hold, and not much more than those with one pipeline: a server should
// neither be asked for a million small changes of one large hash, nor get it in one piece.
const (
	loadCommand  = 256 << 10
	loadPipeline = 1 << 20
)

// fieldsAtOnce is how many fields, or elements, one command of loading writes.
func (o *Options) fieldsAtOnce() int {
	return min(o.Fields, max(1, loadCommand/o.fieldLength()))
}

// fieldLength is about how many bytes of a command name a field, or an element, and what it has.
func (o *Options) fieldLength() int {
	switch o.holds() {
	case aHash:
		return o.FieldSize + o.ValueSize
	case aList:
		return o.ValueSize
	case aSortedSet:
		return o.FieldSize + scoreDigits
	}
	return o.FieldSize
}

// loading writes every key once.
func (o *Options) loading(depth int) *phase {
	return &phase{name: "load", depth: depth, load: make([]atomic.Int64, max(1, len(o.Prefixes), len(o.shares)))}
}

// preparing writes every key once without measuring it: faster than a small depth would.
func (o *Options) preparing() *phase {
	const enough = 64
	size := o.loadSize()
	depth := min(enough, maxBuffers/o.Connections/size)
	if o.collections() {
		return o.loading(max(1, min(depth, loadPipeline/size)))
	}
	return o.loading(max(o.Depth, depth))
}

// loadCommands is how many commands load a key.
func (o *Options) loadCommands() int {
	if !o.collections() {
		return 1
	}
	return (o.Fields + o.fieldsAtOnce() - 1) / o.fieldsAtOnce()
}

// loadSize is about how long a command of loading is.
func (o *Options) loadSize() int {
	switch {
	case o.holds() == aGroup:
		return groupKeys * (o.KeySize + o.ValueSize)
	case !o.collections():
		return o.KeySize + o.ValueSize
	}
	return o.KeySize + o.fieldsAtOnce()*o.fieldLength()
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
