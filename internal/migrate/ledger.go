package migrate

import (
	"sync"
)

// ledger knows which batches are done. They end in any order; the position is behind the last one before which all are done.
type ledger struct {
	mu    sync.Mutex
	file  stateFile
	state state // of what is done without a gap
	first int   // number of the first batch that is not done
	ahead map[int]done
	// since counts what is done without a gap, but behind the position.
	since Tally
	// examples are the first keys that were left out, some of each kind.
	examples []Example
	named    map[outcome]int
	sample   sample
}

// done is a batch that is done.
type done struct {
	after string
	tally Tally
}

// examplesOfAKind is how many keys are named that have the same fate.
const examplesOfAKind = 5

// finish takes note that a batch is done.
func (l *ledger) finish(number int, d done) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ahead[number] = d
	for {
		d, is := l.ahead[l.first]
		if !is {
			return l.file.save(l.state, false)
		}
		delete(l.ahead, l.first)
		l.first++
		l.since.add(&d.tally)
		if d.after != "" {
			l.state.Position = d.after
			l.state.Tally.add(&l.since)
			l.since = Tally{}
		}
	}
}

// tell takes note of an item for which there is more than a count.
func (l *ledger) tell(i *item, what outcome, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if what <= same {
		l.sample.offer(i)
	}
	if why != "" && l.named[what] < examplesOfAKind {
		l.named[what]++
		l.examples = append(l.examples, Example{i.key, why})
	}
}

// tally returns the counts of all that is done.
func (l *ledger) tally() Tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := l.state.Tally
	sum.add(&l.since)
	for _, d := range l.ahead {
		sum.add(&d.tally)
	}
	return sum
}

// keep saves the state, so that it can go on from there.
func (l *ledger) keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.save(l.state, true)
}
