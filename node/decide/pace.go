package decide

import (
	"time"

	"github.com/quolldb/quoll/ring/change"
)

// pace says how many slots are joint at a time: about as many as move in four seconds. So members always have something to do, also if slots are small and what takes time is to
// report and decide; and where slots are large few are on their way, and a pause or an abort comes soon.
type pace struct {
	plan string
	at   time.Time // when it was judged last
	left int       // how many slots had yet to arrive then
	each int       // how many a member collects at a time, or gives
}

const (
	leastEach, mostEach = 64, 1024
	// mostJoint bounds the slots that are joint in all: what is known of them is part of every version of the ring.
	mostJoint = 4096
	// judgeEvery is how often the pace is judged, and growth by how much it grows at most.
	judgeEvery = time.Second
	growth     = 4
	// inSeconds is for how long what is joint lasts.
	inSeconds = 4
)

// limits returns the bounds of the next wave.
func (p *pace) limits(d *change.Document, now time.Time, alive func(uint16) bool) change.Limits {
	if p.plan != d.Plan.ID {
		*p = pace{plan: d.Plan.ID, at: now, left: len(d.Left()), each: leastEach}
	} else if passed := now.Sub(p.at); passed >= judgeEvery {
		moves := d.Left()
		collectors := map[uint16]bool{}
		for _, m := range moves {
			for _, id := range change.Collectors(m.From, m.To) {
				collectors[id] = true
			}
		}
		moved := float64(p.left-len(moves)) / passed.Seconds() / float64(max(len(collectors), 1))
		p.each = min(max(int(inSeconds*moved), leastEach), growth*p.each, mostEach)
		p.at, p.left = now, len(moves)
	}
	return change.Limits{Joint: mostJoint, PerSource: p.each, PerTarget: p.each, Alive: alive}
}

// full is what was joint when a wave had begun. The next one waits until there is room for some slots: every wave is a version of the ring, which all nodes and proxies
// take up, and that costs as much for one slot as for a thousand.
type full struct {
	plan  string
	each  int
	joint int
	at    time.Time
}

const (
	// A wave begins when a roomFor-th part of the slots has arrived that were joint, or holdWave after the last one: those that are joint last for seconds.
	roomFor  = 4
	holdWave = 500 * time.Millisecond
)

// holds reports whether the next wave is to wait. More than before may move at once if the pace allows it.
func (f *full) holds(d *change.Document, each int, now time.Time) bool {
	return f.plan == d.Plan.ID && each <= f.each && now.Sub(f.at) < holdWave && len(d.Joint) > f.joint-f.joint/roomFor
}
