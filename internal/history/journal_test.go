package history

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// journal is three appends of one client, then a pipeline of three.
func journal() *Recorder {
	r := NewRecorder()
	r.Journal("k")
	record(r, with(Append, "1;"), "2", with(Append, "2;"), true, with(Append, "3;"), false)
	for i, call := range r.Client().Pipeline([]Command{with(Append, "4;"), with(Append, "5;"), with(Append, "6;")}) {
		end(call, []any{"4", "6", true}[i])
	}
	return r
}

func TestJournalIsRight(t *testing.T) {
	for _, value := range []string{"1;4;5;", "1;4;5;6;", "1;4;5;2;", "1;4;5;6;2;", "1;4;5;2;6;"} {
		require.NoError(t, journal().CheckJournal("k", value), value)
	}
	require.Zero(t, journal().Check(0).Keys, "a journal is none of its business")
}

func TestJournalIsWrong(t *testing.T) {
	for value, complaint := range map[string]string{
		"1;4;":       "lost an acknowledged token:\n",
		"1;4;5;3;":   "told that nothing was done",
		"1;4;5;x":    "appended by nobody",
		"1;4;5;2;2;": "twice, again at 10",
		"4;1;5;":     "a token ends at 2, but the reply was another",
		"1;2;4;5;":   "a token ends at 6, but the reply was another",
		"":           "lost an acknowledged token",
	} {
		err := journal().CheckJournal("k", value)
		require.ErrorContains(t, err, complaint, value)
		if strings.Contains(complaint, "\n") {
			require.ErrorContains(t, err, "APPEND k 5;", "it shows which")
		}
	}
}

func TestJournalInWrongOrder(t *testing.T) {
	r := NewRecorder()
	record(r, with(Append, "1;"), "4", with(Append, "2;"), "2")
	require.ErrorContains(t, r.CheckJournal("k", "2;1;"), "the second of these came before the first")

	r = NewRecorder()
	for i, call := range r.Client().Pipeline([]Command{with(Append, "1;"), with(Append, "2;")}) {
		call.Done([]string{"4", "2"}[i])
	}
	require.ErrorContains(t, r.CheckJournal("k", "2;1;"), "the second of these came before the first", "although they overlap")

	r = NewRecorder()
	a, b := r.Client().Begin(with(Append, "1;")), r.Client().Begin(with(Append, "2;"))
	b.Done("2")
	a.Done("4")
	require.NoError(t, r.CheckJournal("k", "2;1;"), "they overlap")
}
