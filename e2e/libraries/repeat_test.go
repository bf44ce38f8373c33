//go:build unix

package libraries

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// words are the error words that Redis, or Quoll, has for commands that were not executed, or may have been.
var words = []string{"CLUSTERDOWN", "TRYAGAIN", "LOADING", "READONLY", "MASTERDOWN", "NOREPLICAS", "MISCONF", "NOTDONE", "UNKNOWN", "ERR", lost}

// inPipelines are those that Quoll sends to a command that came with others, and UNKNOWN: no library may repeat anything on them.
var inPipelines = []string{"MISCONF", "NOTDONE", "UNKNOWN", "ERR"}

// repeats is what a library sends again by itself, on one word.
type repeats struct {
	// alone: the command that came alone.
	alone bool
	// first and last: commands of a pipeline that were executed, if its first or its last one got the word. itself: only the one that got it.
	first, last, itself bool
}

// String is a cell of the table.
func (r repeats) String() string {
	var list []string
	for _, what := range []struct {
		is   bool
		text string
	}{{r.alone, "alone"}, {r.first || r.last, "**pipeline**"}, {r.itself, "pipelined"}} {
		if what.is {
			list = append(list, what.text)
		}
	}
	if list == nil {
		return "–"
	}
	return strings.Join(list, ", ")
}

// TestWhatLibrariesRepeat sees it, and compares docs/clients.md with what it saw.
func TestWhatLibrariesRepeat(t *testing.T) {
	page := read(t, "../../docs/clients.md")
	head := "| | " + strings.Join(words, " | ") + " |"
	t.Log(head)
	eachLibrary(t, func(t *testing.T, l library) {
		cells := []string{l.name}
		server := startServer(t)
		same := l.dial(t, server.port)
		for _, word := range words {
			dial := func() client { return same }
			if word == lost { // which some do not get over
				dial = func() client { return l.dial(t, server.port) }
			}
			seen := observe(t, server, dial, word)
			cells = append(cells, seen.String())
			if slices.Contains(inPipelines, word) || l.careful && word == lost {
				require.Equal(t, repeats{}, seen, "on %s", word)
			}
		}
		row := "| " + strings.Join(cells, " | ") + " |"
		t.Log(row)
		require.Contains(t, page, row+"\n", "the table in docs/clients.md must have this row")
	})
	require.Contains(t, page, head+"\n|", "the table in docs/clients.md must have these columns")
}

// observe has a server answer with a word to one INCR alone, and to the first and the last of a pipeline.
func observe(t *testing.T, server *server, dial func() client, word string) (seen repeats) {
	alone := refused(word, "alone")
	err := dial().incr(alone)
	seen.alone = server.times(alone) > 1
	require.Equal(t, !seen.alone, err != nil, "what is not repeated must be told: %v", err)
	require.NotZero(t, server.times(alone))

	for position, executed := range map[int]*bool{0: &seen.first, 2: &seen.last} {
		keys := numbered(fmt.Sprintf("done/%s/%d/", strings.Fields(word)[0], position), 3)
		bad := refused(word, fmt.Sprint("pipelined", position))
		keys[position] = bad
		_ = dial().pipe(keys...) // a lost connection is not an error of the library's own everywhere
		require.NotZero(t, server.times(bad))
		for _, key := range keys {
			*executed = *executed || key != bad && server.times(key) > 1
		}
		again := server.times(bad) > 1
		if word == lost { // the command was executed
			*executed = *executed || again
		}
		seen.itself = seen.itself || again && !*executed
	}
	return seen
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}
