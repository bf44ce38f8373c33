package verify

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
)

// pool holds the registers and counters that there are. One whose next value cannot be foreseen, or that was
// found wrong, is replaced by a new one.
type pool struct {
	mu        sync.Mutex
	prefix    string
	evicts    bool        // keys may be evicted
	made      int         // keys
	fields    int         // of hashes that several share
	scores    int         // of sorted sets that several share
	registers []*register // in use
	counters  []*counter  // in use
	resting   []judged    // not written any more, but right as far as is known
	blamed    []judged    // those with findings, of which there is nothing more to learn
}

// judged is what a read of a register or counter is judged by.
type judged interface {
	name() string
	holder() string
	get() []any
	value(command []any, reply answer) (value answer, found *Finding)
	floor() floor
	read(at floor, reply answer) (found *Finding, old bool)
	older(at floor, reply answer, everywhere bool) *Finding
}

func (p *pool) open(prefix string, registers, counters int) {
	p.prefix = prefix
	for i := range registers {
		p.registers = append(p.registers, p.newRegister(i))
	}
	for i := range counters {
		p.counters = append(p.counters, p.newCounter(i))
	}
}

// newRegister returns the next register at a place. Of five there are two keys, a field of a shared hash, a score of a shared sorted set, and a hash: an odd number,
// so that each client, who has every eighth or so, has some of each.
func (p *pool) newRegister(i int) *register {
	switch i % 5 {
	case 1:
		return &register{evicts: p.evicts, place: p.field()}
	case 2:
		return &register{evicts: p.evicts, place: place{key: p.key("row"), fields: rowFields}}
	case 4:
		return &register{evicts: p.evicts, place: p.score()}
	}
	return &register{evicts: p.evicts, place: place{key: p.key("register")}}
}

// newCounter returns the next counter at a place: of four there are two keys, a field and a score.
func (p *pool) newCounter(i int) *counter {
	switch i % 4 {
	case 1:
		return &counter{evicts: p.evicts, place: p.field()}
	case 3:
		return &counter{evicts: p.evicts, place: p.score()}
	}
	return &counter{evicts: p.evicts, place: place{key: p.key("counter")}}
}

func (p *pool) key(kind string) string {
	p.made++
	return fmt.Sprint(p.prefix, kind, ":", p.made)
}

// fieldsEach bounds how many registers and counters share a hash or a sorted set.
const fieldsEach = 8

// field returns a field that is not used yet, score a score.
func (p *pool) field() place {
	p.fields++
	return p.share("hash", p.fields-1, false)
}

func (p *pool) score() place {
	p.scores++
	return p.share("scores", p.scores-1, true)
}

// share returns the place of the nth field or score.
func (p *pool) share(kind string, n int, scored bool) place {
	return place{fmt.Sprint(p.prefix, kind, ":", n/fieldsEach+1), []string{fmt.Sprint("f", n%fieldsEach+1)}, scored}
}

// register returns the one that is in use at a place.
func (p *pool) register(i int) *register {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.registers[i]
}

// counter returns one of those in use.
func (p *pool) counter() *counter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counters[rand.IntN(len(p.counters))]
}

// any returns something to read: mostly what is in use.
func (p *pool) any() judged {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch n := rand.IntN(10); {
	case n == 0 && len(p.resting) > 0:
		return p.resting[rand.IntN(len(p.resting))]
	case n <= 2:
		return p.counters[rand.IntN(len(p.counters))]
	}
	return p.registers[rand.IntN(len(p.registers))]
}

// retire stops the use of a register or counter, and goes on with a new one in its place. It reports whether there is something
// to learn of it: nobody has blamed it before.
func (p *pool) retire(j judged, blame bool) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.blamed, j) {
		return false
	}
	for i, r := range p.registers {
		if judged(r) == j {
			p.registers[i] = p.newRegister(i)
			p.resting = append(p.resting, j)
		}
	}
	for i, c := range p.counters {
		if judged(c) == j {
			p.counters[i] = p.newCounter(i)
			p.resting = append(p.resting, j)
		}
	}
	if blame {
		p.blamed = append(p.blamed, j)
		p.resting = slices.DeleteFunc(p.resting, func(other judged) bool { return other == j })
	}
	return true
}

// all returns everything that is to be read back.
func (p *pool) all() []judged {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(p.resting)
	for _, r := range p.registers {
		all = append(all, r)
	}
	for _, c := range p.counters {
		all = append(all, c)
	}
	return all
}

// keys returns the names of all keys that may exist.
func (p *pool) keys() []string {
	keys := map[string]bool{}
	for _, j := range append(p.all(), p.blamed...) {
		keys[j.holder()] = true
	}
	return slices.Collect(maps.Keys(keys))
}
