package main

import (
	"time"

	"github.com/quolldb/quoll/internal/admin"
)

// paceWindow is over how much of the past a rate is measured. Slots arrive as a whole, so in less it would jump.
const paceWindow = 15 * time.Second

// pace measures how fast a plan goes on, from what is seen of it from time to time.
type pace struct{ seen []sighting }

// sighting is what was done at a time, in all and for each pair of nodes.
type sighting struct {
	at    time.Time
	total int64
	by    map[[2]string]int64
}

// watched is a RingStatus as quoll ring watch shows it.
type watched struct {
	admin.RingStatus
	// BytesPerSecond is how fast it goes on at present, SecondsLeft how long it takes if it stays so; null if nothing arrives.
	BytesPerSecond int64         `json:"bytes_per_second"`
	SecondsLeft    *int64        `json:"seconds_left"`
	Moves          []watchedMove `json:"moves,omitempty"`
}

// watchedMove is a RingMove, with the same.
type watchedMove struct {
	admin.RingMove
	BytesPerSecond int64  `json:"bytes_per_second"`
	SecondsLeft    *int64 `json:"seconds_left"`
}

// see takes in a status, and says how fast things go.
func (p *pace) see(s admin.RingStatus, now time.Time) watched {
	w := watched{RingStatus: s}
	if s.Plan == nil {
		p.seen = nil
		return w
	}
	latest := sighting{now, s.Plan.BytesDone, map[[2]string]int64{}}
	for _, m := range s.Plan.Moves {
		latest.by[[2]string{m.From, m.To}] = m.BytesDone
	}
	if n := len(p.seen); n > 0 && p.seen[n-1].total > latest.total { // another plan, or one that was turned around
		p.seen = nil
	}
	for len(p.seen) > 1 && now.Sub(p.seen[1].at) >= paceWindow {
		p.seen = p.seen[1:]
	}
	p.seen = append(p.seen, latest)
	first := p.seen[0]
	w.BytesPerSecond, w.SecondsLeft = speed(s.Plan.Bytes, latest.total, first.total, now.Sub(first.at))
	for _, m := range s.Plan.Moves {
		rate, left := speed(m.Bytes, m.BytesDone, first.by[[2]string{m.From, m.To}], now.Sub(first.at))
		w.Moves = append(w.Moves, watchedMove{m, rate, left})
	}
	return w
}

// speed is how fast it went in some time, and how long it still takes then.
func speed(all, done, before int64, in time.Duration) (rate int64, left *int64) {
	if in > 0 {
		rate = int64(float64(max(done-before, 0)) / in.Seconds())
	}
	if rate > 0 {
		seconds := max(all-done, 0) / rate
		left = &seconds
	}
	return rate, left
}
