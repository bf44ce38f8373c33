package verify

import (
	"fmt"
	"slices"
	"strings"
)

// floors are what a reading that begins now may not fall behind, and where walkers are.
type floors struct {
	series  [seriesEach]floor
	walkers [kinds]walker
}

// floors is asked for when a reading begins.
func (g *group) floors() (at floors) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.series {
		at.series[i] = g.series[i].floor()
	}
	at.walkers = g.walkers
	return at
}

// audit judges a reading. Old means that some series is older than its floor, a walker not where it was when the reading began, or the whole group not there: whether that is lost or
// only stale is known when all addresses have been asked. An old reading is one of a moment all the same, or it is wrong.
func (g *group) audit(at floors, r reading) (found *Finding, old bool) {
	switch {
	case !r.whole:
		return g.wrong("values are missing, or too many: %v", r), false
	case r.shared && !r.nothing():
		return g.wrong("a token is in two of its sets at once: %v", r), false
	case r.shared:
		return nil, false
	case r.nothing():
		return nil, true
	case r.accounts == nil: // only some of the cells were read
		return g.auditTokens(r), false
	}
	total, balances, err := sum(r.accounts)
	switch {
	case err != nil:
		return g.wrong("%v: %v", err, r), false
	case total != accounts*opening:
		return g.wrong("the total of its accounts is %d and not %d: %v", total, accounts*opening, r), false
	}
	if found = g.auditTokens(r); found != nil {
		return found, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	due, found := g.auditSeries(r)
	for i := range due {
		if found == nil && due[i] != balances[i] {
			found = g.wrong("account %d holds %d and not %d, as the series say in the same answer: %v", i, balances[i], due[i], r)
		}
	}
	return found, found == nil && len(g.behind(at, r))+len(g.strays(at, r)) > 0
}

// sum adds up accounts.
func sum(replies []answer) (total int64, balances [accounts]int64, err error) {
	for i, reply := range replies {
		n, err := numberOf(reply)
		if err != nil || reply.null {
			return 0, balances, fmt.Errorf("account %d holds no amount", i)
		}
		balances[i] = n
		total += n
	}
	return total, balances, nil
}

// auditTokens judges whether each token is there once.
func (g *group) auditTokens(r reading) *Finding {
	for i, k := range tokens {
		have, want := strings.Fields(strings.Join(r.cells[i], " ")), slices.Sorted(slices.Values(k.tokens))
		if slices.Sort(have); r.cells[i] != nil && !slices.Equal(have, want) {
			return g.wrong("its %ss hold %q and not each token once: %v", k.name, have, r)
		}
	}
	return nil
}

// auditSeries judges the numbers of the series, and returns what the accounts have to hold then. The lock is held.
func (g *group) auditSeries(r reading) (due [accounts]int64, found *Finding) {
	for i := range due {
		due[i] = opening
	}
	for i := range g.series {
		s := &g.series[i]
		n, err := numberOf(r.numbers[i])
		switch {
		case err != nil:
			return due, g.wrong("series %d holds no number: %v", i, r)
		case n > s.sent:
			return due, g.wrong("transfer %d of series %d was read, but %d is the newest that was sent and not refused: %v", n, i, s.sent, r)
		}
		s.seen = max(s.seen, n)
		addTransfers(&due, i, n)
	}
	return due, nil
}

// behind are the series of which a reading has less than it may.
func (g *group) behind(at floors, r reading) (series []int) {
	if r.numbers == nil {
		return nil
	}
	for i, floor := range at.series {
		if n, _ := numberOf(r.numbers[i]); n < floor.newest() {
			series = append(series, i)
		}
	}
	return series
}

// older is the verdict on an old reading. Everywhere means that no address has what was acknowledged, or read before.
func (g *group) older(at floors, r reading, everywhere bool) *Finding {
	class, text := Stale, "it was read as it was before"
	behind, acknowledged := g.behind(at, r), false
	for _, i := range behind {
		acknowledged = acknowledged || at.series[i].acked >= at.series[i].seen
		text += fmt.Sprintf("; of series %d transfer %d had been acknowledged and %d read", i, at.series[i].acked, at.series[i].seen)
	}
	if everywhere && (acknowledged || len(behind) == 0) { // where a walker is was acknowledged, and so was the group
		class = Lost
		text = "no address has what was acknowledged, or something newer" + strings.TrimPrefix(text, "it was read as it was before")
	}
	for kind, w := range at.walkers {
		if r.accounts != nil && r.cells[kind] != nil && !w.busy && !w.ended && slices.Contains(tokens[kind].tokens, walking) {
			text += fmt.Sprintf("; the walker among its %ss was in number %d", tokens[kind].name, w.at)
		}
	}
	return g.finding(class, "%s: %v", text, r)
}
