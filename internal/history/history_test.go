package history

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// record runs commands one after the other, with the given replies.
func record(r *Recorder, pairs ...any) {
	client := r.Client()
	for i := 0; i < len(pairs); i += 2 {
		end(client.Begin(pairs[i].(Command)), pairs[i+1])
	}
}

// end notes a reply: a string, true for an unknown outcome, false for no effect.
func end(call Call, reply any) {
	switch reply := reply.(type) {
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

func do(kind Kind) Command               { return Command{Kind: kind, Key: "k"} }
func with(kind Kind, arg string) Command { return Command{Kind: kind, Key: "k", Arg: arg} }
func ttl(kind Kind, ms int64) Command    { return Command{Kind: kind, Key: "k", TTL: ms} }
func psetex(ms int64, value string) Command {
	return Command{Kind: PSetEX, Key: "k", Arg: value, TTL: ms}
}
func violationOf(t *testing.T, r *Recorder) Violation {
	t.Helper()
	result := r.Check(time.Minute)
	require.Len(t, result.Violations, 1)
	return result.Violations[0]
}

func TestRightHistoriesPass(t *testing.T) {
	r := NewRecorder()
	record(r,
		do(Get), Nil, do(Incr), "1", with(Append, "5"), "2", do(Incr), "16",
		with(GetSet, "x"), "16", do(Incr), NotInteger, with(SetNX, "y"), "0", do(Del), "1",
		do(Del), "0", with(SetNX, "07"), "1", do(Incr), NotInteger, with(Set, "9"), "OK", do(Get), "9",
		do(Persist), "0", ttl(PExpire, 1e6), "1", do(Persist), "1", ttl(GetEX, 1e6), "9", do(GetEX), "9", do(Persist), "0",
		do(GetDel), "9", do(GetDel), Nil, do(GetEX), Nil, ttl(PExpire, 1), "0", do(Persist), "0",
		psetex(1e6, "a"), "OK", with(Append, "b"), "2", do(Persist), "1", psetex(1e6, "a"), "OK", with(Set, "b"), "OK", do(Persist), "0")
	result := r.Check(time.Minute)
	require.NoError(t, result.Err())
	require.Equal(t, "30 operations on 1 keys, 0 writes of unknown outcome: 0 keys not linearizable, 0 undecided", result.String())
}

func TestWrongHistoriesAreShown(t *testing.T) {
	for name, pairs := range map[string][]any{
		"lost write":       {with(Set, "a"), "OK", do(Get), Nil},
		"stale read":       {with(Set, "a"), "OK", with(Set, "b"), "OK", do(Get), "a"},
		"twice":            {do(Incr), "1", do(Get), "2"},
		"no effect had":    {with(Set, "a"), false, do(Get), "a"},
		"unknown undone":   {with(Set, "a"), true, do(Get), "a", do(Get), Nil},
		"vanished early":   {psetex(1e6, "a"), "OK", do(Get), Nil},
		"vanished anyway":  {psetex(1, "a"), "OK", do(Persist), "1", do(Get), Nil},
		"expiry was taken": {psetex(1, "a"), "OK", with(Set, "b"), "OK", do(Get), Nil},
		"gone and back":    {psetex(1e6, "a"), "OK", do(GetDel), "a", do(Get), "a"},
	} {
		r := NewRecorder()
		record(r, pairs...)
		require.ErrorContains(t, r.Check(time.Minute).Err(), "1 of 1 keys are not linearizable", name)
		require.ErrorContains(t, r.Check(time.Minute).Err(), "GET k -> ", name)
	}
}

// at is an operation that took effect within two milliseconds from a moment on.
func at(moment int64, command Command, reply string) Operation {
	return Operation{Command: command, Reply: reply, Call: moment * 1e6, Return: (moment + 2) * 1e6, CallAt: moment, ReturnAt: moment + 2}
}

func TestExpiry(t *testing.T) {
	const inTime, early, late = 100, 50, 200
	for name, test := range map[string]struct {
		ops   []Operation
		wrong bool
	}{
		"seen in time":             {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(early, do(Get), "a")}},
		"gone in time":             {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(inTime, do(Get), Nil), at(late, do(Get), Nil)}},
		"gone before its time":     {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(early, do(Get), Nil)}, wrong: true},
		"seen after its time":      {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(late, do(Get), "a")}, wrong: true},
		"seen after it was gone":   {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(98, do(Get), Nil), at(101, do(Get), "a")}, wrong: true},
		"written when gone":        {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(late, with(SetNX, "b"), "1"), at(late+5, do(Get), "b")}},
		"not written, so not gone": {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(100, with(SetNX, "b"), "0"), at(103, do(Get), "a")}},
		"expiry set anew":          {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(early, ttl(PExpire, 1000), "1"), at(late, do(Get), "a")}},
		"expiry set by reading":    {ops: []Operation{at(0, with(Set, "a"), "OK"), at(1, ttl(GetEX, 100), "a"), at(late, do(GetDel), Nil)}},
		"too late to persist":      {ops: []Operation{at(0, psetex(100, "a"), "OK"), at(late, do(Persist), "1")}, wrong: true},
		"append keeps the expiry":  {ops: []Operation{at(0, psetex(100, "1"), "OK"), at(early, do(Incr), "2"), at(late, do(Get), "2")}, wrong: true},
		"unknown outcome": {ops: []Operation{at(0, with(Set, "a"), "OK"), at(1, ttl(PExpire, 100), "").opened(),
			at(late, do(Get), "a"), at(late+5, do(Get), Nil)}},
		"unknown outcome, but too early": {ops: []Operation{at(0, with(Set, "a"), "OK"), at(1, ttl(PExpire, 100), "").opened(),
			at(early, do(Get), Nil)}, wrong: true},
	} {
		r := NewRecorder()
		for _, op := range test.ops {
			r.add(op)
		}
		require.Equal(t, test.wrong, r.Check(time.Minute).Err() != nil, name)
	}
}

func TestUnknownOutcomesMayTakeEffectAtAnyTimeOrNever(t *testing.T) {
	for _, reads := range [][]string{{Nil, Nil}, {Nil, "a"}, {"a", "a"}} {
		r := NewRecorder()
		record(r, with(Set, "a"), true, do(Get), true)
		for _, read := range reads {
			record(r, do(Get), read)
		}
		result := r.Check(time.Minute)
		require.NoError(t, result.Err(), reads)
		require.Equal(t, 1, result.Unknown, "an unanswered read says nothing")
	}
}

func TestPipelinesTakeEffectInTheirOrder(t *testing.T) {
	appends := []Command{with(Append, "a"), with(Append, "b"), do(Get)}
	for name, test := range map[string]struct {
		replies []any
		wrong   bool
	}{
		"in order":                     {replies: []any{"1", "2", "ab"}},
		"swapped":                      {replies: []any{"2", "1", "ba"}, wrong: true},
		"the read overtook":            {replies: []any{"1", "2", "a"}, wrong: true},
		"one did nothing":              {replies: []any{false, "1", "b"}},
		"unknown ones come when late":  {replies: []any{true, "1", "b"}},
		"unknown ones come in between": {replies: []any{true, "2", "ab"}},
	} {
		r := NewRecorder()
		for i, call := range r.Client().Pipeline(appends) {
			end(call, test.replies[i])
		}
		require.Equal(t, test.wrong, r.Check(time.Minute).Err() != nil, name)
	}
}

func TestCheckerTimeOutIsNoPass(t *testing.T) {
	r := NewRecorder()
	var calls []Call
	for i := range 40 {
		calls = append(calls, r.Client().Begin(with(Set, strconv.Itoa(i))))
	}
	for _, call := range calls {
		call.Done("OK")
	}
	record(r, do(Get), "none of them")
	require.ErrorContains(t, r.Check(time.Millisecond).Err(), "ran out of time for 1 of 1 keys (k)")
}

func TestConcurrentClients(t *testing.T) {
	r := NewRecorder()
	var mu sync.Mutex
	st := state{}
	var clients sync.WaitGroup
	for range 4 {
		client := r.Client()
		clients.Go(func() {
			for range 15 {
				call := client.Begin(do(Incr))
				mu.Lock()
				var reply string
				st, reply = apply(st, &call.op)
				mu.Unlock()
				call.Done(reply)
			}
		})
	}
	clients.Wait()
	require.NoError(t, r.Check(time.Minute).Err())
}

func TestSave(t *testing.T) {
	r := NewRecorder()
	record(r, with(Set, "a"), "OK", with(Set, "b"), true)
	r.Note("node a is killed")
	record(r, do(Get), Nil)
	v := violationOf(t, r)
	dir := t.TempDir()
	require.NoError(t, r.Save(dir, Result{Violations: []Violation{v}}))

	text, err := os.ReadFile(filepath.Join(dir, "operations.jsonl"))
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	require.Len(t, lines, 3)
	for i, line := range lines {
		var op Operation
		require.NoError(t, json.Unmarshal(line, &op))
		require.Equal(t, r.ops["k"][i], op, "it reads back as it was")
	}
	text, err = os.ReadFile(filepath.Join(dir, "events.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(text), "node a is killed")
	text, err = os.ReadFile(filepath.Join(dir, "violation-1.html"))
	require.NoError(t, err)
	require.Contains(t, string(text), "SET k a")
	require.Contains(t, string(text), "node a is killed")
}

func TestOverlapsAreOfTwoClientsThatDoNotBothRead(t *testing.T) {
	r := NewRecorder()
	a, b := r.Client(), r.Client()
	x, y, z := a.Begin(with(Set, "1")), b.Begin(do(Get)), a.Begin(do(Get))
	for _, call := range []Call{x, y, z} {
		time.Sleep(time.Microsecond)
		call.Done("1")
	}
	b.Begin(do(Get)).Done("1")
	a.Begin(with(Set, "2")).Unknown()
	require.Equal(t, 1, r.Check(time.Minute).Overlaps, "the write and the other client's read")
}

func TestClientsMeetAtAPlace(t *testing.T) {
	keys := NewKeys("k")
	one, _ := keys.At(3, 1)
	again, serial := keys.At(3, 1)
	other, _ := keys.At(4, 1)
	require.Equal(t, one, again)
	require.NotEqual(t, one, other)
	require.EqualValues(t, 2, serial)
	later, _ := keys.At(3, commandsPerKey)
	require.NotEqual(t, one, later, "a key has so many commands")
}
