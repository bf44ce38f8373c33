package verify

import (
	"strconv"
)

// series are transfers within a group, numbered 1, 2, 3, …, one at a time: the next one begins when the one before it is acknowledged, or refused, which gives its
// number back. The transaction that does one sets the key of the series to its number. One of unknown outcome is the last of its series: it may be done at
// any later moment. The lock of the group guards it.
type series struct {
	sent  int64 // the newest number that was sent and not refused
	acked int64 // the newest that was acknowledged
	seen  int64 // the newest that was read by anybody
	busy  bool  // one is under way
	ended bool
}

func (s *series) floor() floor { return floor{acked: s.acked, seen: s.seen} }

// transfer is what one does: a pure function of its number, so that the number says what the accounts of the group hold.
type transfer struct {
	from, to int // accounts
	amount   int64
}

const (
	accounts = 8
	amounts  = 7
	// period is how many transfers of a series after each other add up to nothing: each amount was taken from each account once, and given to each.
	period = accounts * amounts
	// opening is what each account holds at first. No account gets below zero: a series takes 28 from it within a period, at most.
	opening = 1000
)

// nth returns a transfer of a series.
func nth(series int, n int64) transfer {
	from := int((n + int64(series)) % accounts)
	return transfer{from, (from + 1 + series%(accounts-1)) % accounts, 1 + n%amounts}
}

// addTransfers adds to balances what the first n transfers of a series did.
func addTransfers(balances *[accounts]int64, series int, n int64) {
	for i := n - n%period + 1; i <= n; i++ {
		t := nth(series, i)
		balances[t.from] -= t.amount
		balances[t.to] += t.amount
	}
}

// begin returns a series that is free with the number of its next transfer, or false: all are busy or ended.
func (g *group) begin() (which int, n int64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range g.series {
		g.turn++
		which = g.turn % len(g.series)
		if s := &g.series[which]; !s.busy && !s.ended {
			s.busy = true
			s.sent++
			return which, s.sent, true
		}
	}
	return 0, 0, false
}

// refuse notes that a transfer was not done. Its number is the next one's.
func (g *group) refuse(which int, n int64) *Finding {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.series[which]
	s.busy, s.sent = false, n-1
	if s.seen >= n {
		return g.wrong("transfer %d of series %d was read, but it was answered with an error or null", n, which)
	}
	return nil
}

// doubt notes that nobody knows whether a transfer is done, or will be. It reports whether all series have ended.
func (g *group) doubt(which int) (over bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.series[which].busy, g.series[which].ended = false, true
	for i := range g.series {
		if !g.series[i].ended {
			return false
		}
	}
	return true
}

// acknowledge notes that a transfer was done, by a transaction that found the number before.
func (g *group) acknowledge(which int, n int64, before answer) *Finding {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.series[which]
	s.busy, s.acked = false, n
	found, err := numberOf(before)
	switch {
	case err != nil || found >= n:
		return g.wrong("transfer %d of series %d found the number %s of a transfer before it", n, which, before)
	case found < n-1:
		return g.finding(Lost, "transfer %d of series %d, which was acknowledged, was not there when the next one was done: that found %s", n-1, which, before)
	}
	return nil
}

// numberOf is what the key of a series says: 0 if there is none.
func numberOf(reply answer) (int64, error) {
	if reply.null {
		return 0, nil
	}
	n, err := strconv.ParseInt(reply.text, 10, 64)
	if err == nil && n <= 0 {
		err = strconv.ErrRange
	}
	return n, err
}
