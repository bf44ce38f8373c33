package verify

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/quolldb/quoll/internal/history"
)

// group is a few keys of one slot between which amounts and tokens move. It is safe for concurrent use, and does nothing by itself. Accounts hold amounts, numbers
// are the keys of the series, and cells those in which tokens are.
type group struct {
	name              string
	accounts, numbers []string
	cells             [kinds][]string

	mu      sync.Mutex
	turn    int
	series  [seriesEach]series
	walkers [kinds]walker
}

// seriesEach bounds how many transfers of a group are under way at once, and after how many unknown outcomes there is a new group.
const seriesEach = 12

// newGroup returns one whose keys begin with a name, in which a tag decides on their slot.
func newGroup(name string) *group {
	keys := func(kind string, n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint(name, ":", kind, ":", i))
		}
		return names
	}
	g := &group{name: name, accounts: keys("account", accounts), numbers: keys("number", seriesEach)}
	for i, k := range tokens {
		g.cells[i] = keys(k.name, k.cells)
	}
	return g
}

// strings are the keys that hold one, in the order in which they are read.
func (g *group) strings() []string {
	return slices.Concat(g.accounts, g.numbers, g.cells[seats], g.cells[steps])
}

// keys are all there are.
func (g *group) keys() []string {
	return append(g.strings(), slices.Concat(g.cells[sets], g.cells[lists], g.cells[lanes])...)
}

// open are the commands that create it, to be done at once. All tokens are in the first cells.
func (g *group) open() (commands [][]any) {
	set := []any{"MSET"}
	for _, account := range g.accounts {
		set = append(set, account, opening)
	}
	for i, k := range tokens {
		if k.add == "" {
			set = append(set, g.cells[i][0], k.tokens[0])
			continue
		}
		commands = append(commands, command(k.add, g.cells[i][:1], k.tokens...))
	}
	return append(commands, set)
}

// get is the command that reads all strings at once.
func (g *group) get() []any { return command("MGET", g.strings()) }

// getAll are commands that read all, to be done at once.
func (g *group) getAll() (commands [][]any) {
	for _, key := range g.strings() {
		commands = append(commands, []any{"GET", key})
	}
	for _, key := range g.cells[sets] {
		commands = append(commands, []any{"SMEMBERS", key})
	}
	for _, key := range slices.Concat(g.cells[lists], g.cells[lanes]) {
		commands = append(commands, []any{"LRANGE", key, 0, -1})
	}
	return commands
}

// command puts one together.
func command(name string, keys []string, more ...string) []any {
	words := []any{name}
	for _, key := range slices.Concat(keys, more) {
		words = append(words, key)
	}
	return words
}

// wrong is a finding about it.
func (g *group) wrong(format string, args ...any) *Finding { return g.finding(Wrong, format, args...) }

func (g *group) finding(class Class, format string, args ...any) *Finding {
	return &Finding{class, g.name, fmt.Sprintf(format, args...)}
}

// reading is what a group held at one moment, says one who read it.
type reading struct {
	by                string // the command that was answered with it
	answers           []answer
	whole             bool // there were as many answers as were due
	shared            bool // it is what two cells have in common
	accounts, numbers []answer
	cells             [kinds][]string // what is in each, or in all of a kind together, separated by spaces; nil if they were not read
}

// readValues takes the answer to get.
func readValues(reply answer) reading {
	r := reading{by: "MGET"}
	for _, word := range strings.Fields(reply.text) {
		r.answers = append(r.answers, answer{text: word, null: word == history.Nil})
	}
	return r.divide(seats, steps)
}

// readAll takes the answers to getAll.
func readAll(replies []answer) reading {
	return reading{by: "EXEC", answers: replies}.divide(seats, steps, sets, lists, lanes)
}

// divide says which answers are about what.
func (r reading) divide(cells ...int) reading {
	due := accounts + seriesEach
	for _, kind := range cells {
		due += tokens[kind].cells
	}
	if r.whole = len(r.answers) == due; !r.whole {
		return r
	}
	r.accounts, r.numbers = r.answers[:accounts], r.answers[accounts:accounts+seriesEach]
	rest := r.answers[accounts+seriesEach:]
	for _, kind := range cells {
		for _, reply := range rest[:tokens[kind].cells] {
			if reply.null {
				reply.text = ""
			}
			r.cells[kind] = append(r.cells[kind], reply.text)
		}
		rest = rest[tokens[kind].cells:]
	}
	return r
}

// nothing reports whether none of it is there.
func (r reading) nothing() bool {
	return !slices.ContainsFunc(r.answers, func(a answer) bool { return !a.null && a.text != "" })
}

// String shows all of it.
func (r reading) String() string {
	words := func(answers []answer) string {
		var all []string
		for _, a := range answers {
			all = append(all, a.word())
		}
		return strings.Join(all, " ")
	}
	if !r.whole {
		return fmt.Sprintf("%s was answered with %d values: %.600s", r.by, len(r.answers), words(r.answers))
	}
	if r.accounts == nil {
		return fmt.Sprintf("%s was answered: %s", r.by, words(r.answers))
	}
	text := fmt.Sprintf("%s was answered: accounts %s; series %s", r.by, words(r.accounts), words(r.numbers))
	for i, k := range tokens {
		if r.cells[i] != nil {
			text += fmt.Sprintf("; %ss %q", k.name, r.cells[i])
		}
	}
	return text
}
