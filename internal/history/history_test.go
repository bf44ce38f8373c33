package history

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// record runs commands one after the other, with the given replies.
func record(r *Recorder, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		call := r.Begin(pairs[i].(Command))
		switch reply := pairs[i+1].(type) {
		case string:
			call.Done(reply)
		case bool:
			if reply {
				call.Unknown()
			} else {
				call.NoEffect()
			}
		}
	}
}

func TestRightHistoriesPass(t *testing.T) {
	r := NewRecorder()
	record(r,
		Command{Get, "k", ""}, Nil, Command{Incr, "k", ""}, "1", Command{Append, "k", "5"}, "2", Command{Incr, "k", ""}, "16",
		Command{GetSet, "k", "x"}, "16", Command{Incr, "k", ""}, NotInteger, Command{SetNX, "k", "y"}, "0", Command{Del, "k", ""}, "1",
		Command{Del, "k", ""}, "0", Command{SetNX, "k", "07"}, "1", Command{Incr, "k", ""}, NotInteger, Command{Set, "k", "9"}, "OK", Command{Get, "k", ""}, "9")
	result := r.Check(time.Minute)
	require.NoError(t, result.Err())
	require.Equal(t, "13 operations on 1 keys, 0 writes of unknown outcome: 0 keys not linearizable, 0 undecided", result.String())
}

func TestWrongHistoriesAreShown(t *testing.T) {
	for name, pairs := range map[string][]any{
		"lost write":     {Command{Set, "k", "a"}, "OK", Command{Get, "k", ""}, Nil},
		"stale read":     {Command{Set, "k", "a"}, "OK", Command{Set, "k", "b"}, "OK", Command{Get, "k", ""}, "a"},
		"twice":          {Command{Incr, "k", ""}, "1", Command{Get, "k", ""}, "2"},
		"no effect had":  {Command{Set, "k", "a"}, false, Command{Get, "k", ""}, "a"},
		"unknown undone": {Command{Set, "k", "a"}, true, Command{Get, "k", ""}, "a", Command{Get, "k", ""}, Nil},
	} {
		r := NewRecorder()
		record(r, pairs...)
		require.ErrorContains(t, r.Check(time.Minute).Err(), "1 of 1 keys are not linearizable", name)
		require.ErrorContains(t, r.Check(time.Minute).Err(), "GET k -> ", name)
	}
}

func TestUnknownOutcomesMayTakeEffectAtAnyTimeOrNever(t *testing.T) {
	for _, reads := range [][]string{{Nil, Nil}, {Nil, "a"}, {"a", "a"}} {
		r := NewRecorder()
		record(r, Command{Set, "k", "a"}, true, Command{Get, "k", ""}, true)
		for _, read := range reads {
			record(r, Command{Get, "k", ""}, read)
		}
		result := r.Check(time.Minute)
		require.NoError(t, result.Err(), reads)
		require.Equal(t, 1, result.Unknown, "an unanswered read says nothing")
	}
}

func TestCheckerTimeOutIsNoPass(t *testing.T) {
	r := NewRecorder()
	var calls []Call
	for i := range 40 {
		calls = append(calls, r.Begin(Command{Set, "k", strconv.Itoa(i)}))
	}
	for _, call := range calls {
		call.Done("OK")
	}
	record(r, Command{Get, "k", ""}, "none of them")
	require.ErrorContains(t, r.Check(time.Millisecond).Err(), "ran out of time for 1 of 1 keys (k)")
}

func TestConcurrentClients(t *testing.T) {
	r := NewRecorder()
	var mu sync.Mutex
	st := state{}
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 15 {
				call := r.Begin(Command{Incr, "k", ""})
				mu.Lock()
				var reply string
				st, reply = apply(st, Command{Incr, "k", ""})
				mu.Unlock()
				call.Done(reply)
			}
		})
	}
	clients.Wait()
	require.NoError(t, r.Check(time.Minute).Err())
}
