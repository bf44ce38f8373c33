package front

import (
	"runtime"
	"sync/atomic"
	"time"
)

// bulkReads is how those clients are read that send something large: in turns, few at a time, and with pauses while others are served.
// Whoever reads much is always ready to run, and takes memory that the system has to clear; hundreds of them
// would make all others wait for a processor.
type bulkReads struct {
	turns chan struct{}
	// served counts the rounds of other clients.
	served atomic.Uint32
}

const (
	// longestWork bounds what a pause is reckoned from, where something seemed to take long.
	longestWork = time.Millisecond
	// large is from how many bytes on a command is read slowly: it pauses pauseFactor times as long as it is read. Most of what it costs others
	// is memory that nobody had before, of which a virtual machine has to find every page.
	large       = 256 << 10
	pauseFactor = 16
	// bulkRead is how many bytes are read at a time while others are served.
	bulkRead = 32 << 10
	// turnReads is after how many reads somebody else has the turn.
	turnReads = 16
)

// newBulkReads has a turn for each second processor, so that there is another one for everybody else.
func newBulkReads() *bulkReads {
	return &bulkReads{turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// read reads what has come from a client, in its turn if that is much.
func (b *bulkReads) read(c *Conn) error {
	if c.reader.Expected() <= ordinary {
		return c.reader.ReadBatch(&c.input)
	}
	b.turns <- struct{}{}
	c.stream.pacer = &pacer{bulk: b, since: time.Now(), served: b.served.Load(), times: 1}
	if c.reader.Expected() > large {
		c.stream.pacer.times = pauseFactor
	}
	defer func() {
		c.stream.pacer = nil
		<-b.turns
	}()
	return c.reader.ReadBatch(&c.input)
}

// pacer slows down who reads much, in favour of others.
type pacer struct {
	bulk   *bulkReads
	since  time.Time // when the last one ended
	served uint32    // as it was then
	reads  int       // in this turn
	times  int       // how many times as long as the work a pause is
}

// pause is called before each read. If others were served it takes at least as long as what was done since the last one, so that they have at
// least half of the time. It reports whether that was so. Who sends without end lets others have the turn now and then.
func (p *pacer) pause() bool {
	if p.reads++; p.reads > turnReads {
		p.reads = 0
		<-p.bulk.turns
		p.bulk.turns <- struct{}{} // whoever has waited is first
	}
	served := p.bulk.served.Load()
	others := served != p.served
	if others {
		time.Sleep(time.Duration(p.times) * min(time.Since(p.since), longestWork))
		p.served = served
	}
	p.since = time.Now()
	return others
}
