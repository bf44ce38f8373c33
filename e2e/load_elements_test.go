//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/history"
)

// ledger is what clients know of a collection into which all of them put elements, each unique, and out of which all take some. It grows beyond what a history
// may have (package history checks small ones, and their order), so that it becomes an object in memory, and parts on disk.
type ledger struct {
	key             string
	push, pop, show string // commands

	mu       sync.Mutex
	put      map[string]outcome.Outcome // of each element that was sent
	taken    map[string]bool
	untold   int // elements that were taken, perhaps, by commands of unknown outcome
	problems []string
}

// newLedgers returns those of a load: a queue, a set, a sorted set.
func newLedgers(load string) (all []*ledger) {
	for _, names := range [][3]string{{"rpush", "lpop", "lrange"}, {"sadd", "spop", "smembers"}, {"zadd", "zpopmin", "zrange"}} {
		all = append(all, &ledger{key: load + ":" + names[0], push: names[0], pop: names[1], show: names[2],
			put: map[string]outcome.Outcome{}, taken: map[string]bool{}})
	}
	return all
}

// pushElement puts an element into a collection, or takes one out of it.
func (c *loadClient) pushElement(i int) {
	l := c.load.ledgers[rand.IntN(len(c.load.ledgers))]
	if rand.IntN(3) == 0 {
		c.do([][]any{{l.pop, l.key}}, func(_ int, reply string, how outcome.Outcome) { l.took(reply, how) })
		return
	}
	element := fmt.Sprint(c.id, ".", i, strings.Repeat("-", 80))
	command := []any{l.push, l.key, element}
	if l.push == "zadd" {
		command = []any{l.push, l.key, rand.IntN(100), element}
	}
	l.sending(element)
	c.do([][]any{command}, func(_ int, _ string, how outcome.Outcome) { l.sent(element, how) })
}

// sending notes an element that is about to be put there: somebody may take it before this is answered.
func (l *ledger) sending(element string) { l.sent(element, outcome.Unknown) }

func (l *ledger) sent(element string, how outcome.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put[element] = how
}

// took notes what came of taking an element.
func (l *ledger) took(reply string, how outcome.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if how == outcome.Unknown {
		l.untold++
	}
	if how != outcome.Answered || reply == history.Nil || reply == "" {
		return
	}
	element, _, _ := strings.Cut(reply, " ") // behind it may be a score
	if l.taken[element] {
		l.problems = append(l.problems, l.pop+" handed out twice: "+element)
	}
	l.taken[element] = true
}

// examine compares with what is left there, when nobody changes it any more: each element that was acknowledged was handed out, once, or is there, once, but for those
// that commands of unknown outcome have taken.
func (l *ledger) examine(left []string) {
	seen := map[string]bool{}
	for _, element := range left {
		switch {
		case seen[element]:
			l.problems = append(l.problems, "there twice: "+element)
		case l.taken[element]:
			l.problems = append(l.problems, "handed out and there: "+element)
		}
		seen[element] = true
	}
	for element := range l.taken {
		seen[element] = true
	}
	var missing []string
	for element, how := range l.put {
		switch {
		case seen[element] && how == outcome.NoEffect:
			l.problems = append(l.problems, "refused and there: "+element)
		case !seen[element] && how == outcome.Answered:
			missing = append(missing, element)
		}
		delete(seen, element)
	}
	for element := range seen {
		l.problems = append(l.problems, "never put there: "+element)
	}
	if len(missing) > l.untold {
		l.problems = append(l.problems, fmt.Sprintf("%d are gone, but only %d may have been taken by commands of unknown outcome: %.200q", len(missing), l.untold, missing))
	}
}

// requireElements checks all ledgers, and says how many elements were handed out and are there.
func (l *load) requireElements(client *redis.Client) (text string) {
	l.t.Helper()
	for _, k := range l.ledgers {
		args := []any{k.show, k.key}
		if k.show != "smembers" {
			args = append(args, 0, -1)
		}
		left := served(l.t, func() ([]string, error) { return client.Do(l.t.Context(), args...).StringSlice() })
		k.examine(left)
		require.Empty(l.t, k.problems, k.key)
		text += fmt.Sprintf("; %s: %d handed out, %d untold, %d there", k.pop, len(k.taken), k.untold, len(left))
	}
	return text
}

// TestLedgerTellsWhatIsWrong: each by itself, and what is right is not.
func TestLedgerTellsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(l *ledger)
		left  []string
		wrong string
	}{
		"right":                {func(l *ledger) { l.took("a", outcome.Answered) }, []string{"b"}, ""},
		"an unknown one":       {func(l *ledger) { l.took("", outcome.Unknown) }, []string{"a", "unknown"}, ""},
		"one that waited":      {func(l *ledger) { l.took("unknown 7", outcome.Answered) }, []string{"a", "b"}, ""},
		"twice":                {func(l *ledger) { l.took("a", outcome.Answered); l.took("a 7", outcome.Answered) }, []string{"b"}, "handed out twice: a"},
		"there twice":          {func(*ledger) {}, []string{"a", "b", "a"}, "there twice: a"},
		"back":                 {func(l *ledger) { l.took("a", outcome.Answered) }, []string{"a", "b"}, "handed out and there: a"},
		"gone":                 {func(*ledger) {}, []string{"b"}, "1 are gone, but only 0"},
		"two gone":             {func(l *ledger) { l.took("", outcome.Unknown) }, nil, "2 are gone, but only 1"},
		"refused":              {func(*ledger) {}, []string{"a", "b", "refused"}, "refused and there"},
		"refused, handed out":  {func(l *ledger) { l.took("refused", outcome.Answered) }, []string{"a", "b"}, "refused and there"},
		"invented":             {func(*ledger) {}, []string{"a", "b", "c"}, "never put there: c"},
		"none was there":       {func(l *ledger) { l.took(history.Nil, outcome.Answered) }, []string{"a", "b"}, ""},
		"nothing was done":     {func(l *ledger) { l.took("CLUSTERDOWN", outcome.NoEffect) }, []string{"a", "b"}, ""},
		"invented, handed out": {func(l *ledger) { l.took("c", outcome.Answered) }, []string{"a", "b"}, "never put there: c"},
	} {
		l := newLedgers("load")[0]
		for element, how := range map[string]outcome.Outcome{"a": outcome.Answered, "b": outcome.Answered, "refused": outcome.NoEffect, "unknown": outcome.Unknown} {
			l.sending(element)
			l.sent(element, how)
		}
		c.do(l)
		l.examine(c.left)
		if c.wrong == "" {
			require.Empty(t, l.problems, name)
			continue
		}
		require.Len(t, l.problems, 1, name)
		require.Contains(t, l.problems[0], c.wrong, name)
	}
}
