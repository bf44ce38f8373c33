package route

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
)

// executed returns what the homes were asked to execute: "node key value" or "node key".
func (f *fakeRing) executed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for _, r := range f.log {
		if r.Kind == protocol.Execute {
			text := string(rune('0' + r.node.id))
			for _, arg := range r.Req.Args[1:] {
				text += " " + string(arg)
			}
			list = append(list, text)
		}
	}
	return list
}

func TestCommandsOnOneKeyKeepTheirOrder(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k, other := f.keys(2, 2)[0], f.keys(2, 2)[1]
	b := run(t, c, get(k), set(k, "1"), get(k), get(other), set(k, "2"), get(k), get(other))
	require.Equal(t, []string{"$-1\r\n", "+OK\r\n", "$1\r\n1\r\n", "$-1\r\n", "+OK\r\n", "$1\r\n2\r\n", "$-1\r\n"}, texts(b))
	require.Equal(t, list("2 K|2 K 1|2 K|2 K 2|2 K", k), f.executed(), "what is only read needs no home")
	require.EqualValues(t, 2, c.Stats().QuorumReads.Load())
	require.EqualValues(t, 1, f.nodes[1].frames.Load())
}

// list makes a list of a text, with a key for K.
func list(text, key string) []string { return strings.Split(strings.ReplaceAll(text, "K", key), "|") }

func TestOrderAcrossRetries(t *testing.T) {
	t.Parallel()
	ok := []string{"+OK\r\n", "+OK\r\n", "$1\r\n2\r\n", "+OK\r\n"}
	for name, test := range map[string]struct {
		refuse func(r *request) (hint uint16) // anything but 0: refuse with the hint, if it is one
		want   string
	}{
		"all are turned away": {func(r *request) uint16 {
			if r.node.id == 1 {
				return 3
			}
			return 0
		}, "1 K 1|1 K 2|1 K|1 K 3|3 K 1|3 K 2|3 K|3 K 3"},
		"from the second on": {func(r *request) uint16 {
			if r.node.id == 1 && len(r.Req.Args) < 3 || r.node.id == 1 && r.arg(2) != "1" {
				return 3
			}
			return 0
		}, "1 K 1|1 K 2|1 K|1 K 3|3 K 2|3 K|3 K 3"},
		"each elsewhere": {func(r *request) uint16 {
			if r.node.id == 1 && len(r.Req.Args) > 2 && r.arg(2) == "1" {
				return 3
			} else if r.node.id == 1 {
				return 2
			}
			return 0
		}, "1 K 1|1 K 2|1 K|1 K 3|3 K 1|3 K 2|3 K|3 K 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startRing(t, 3)
			c := f.coordinator(patient)
			k := f.key(1)
			f.play(func(r *request) {
				if hint := test.refuse(r); hint != 0 {
					r.notDone(answer.OtherHome, hint)
					return
				}
				f.answer(r)
			})
			require.Equal(t, ok, texts(run(t, c, set(k, "1"), set(k, "2"), get(k), set(k, "3"))))
			require.Equal(t, list(test.want, k), f.executed())
		})
	}
}

// What was turned away waits for what was sent before it and is not answered yet.
func TestTurnedAwayWaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k, other := f.keys(2, 1)[0], f.keys(2, 1)[1]
	first, refused := make(chan *request, 1), make(chan struct{}, 1)
	f.play(func(r *request) {
		switch {
		case r.arg(1) == k && r.arg(2) == "1":
			first <- r
		case r.arg(1) == k && r.node.id == 1:
			r.notDone(answer.OtherHome, 2)
		case r.arg(1) == other && r.node.id == 1:
			r.notDone(answer.OtherHome, 3) // it needs not wait
		case r.arg(1) == other:
			r.done("+OK\r\n")
			refused <- struct{}{}
		default:
			f.answer(r)
		}
	})
	result := runLater(t, c, set(k, "1"), set(k, "2"), set(k, "3"), set(other, "x"))
	a := <-first
	<-refused // by now the others have been sent again, if they ever are
	require.Equal(t, list("1 K 1|1 K 2|1 K 3", k), f.executed()[:3])
	require.Len(t, f.executed(), 5)
	a.done("+OK\r\n")
	require.Equal(t, []string{"+OK\r\n", "+OK\r\n", "+OK\r\n", "+OK\r\n"}, texts(<-result))
	require.Equal(t, list("2 K 2|2 K 3", k), f.executed()[5:])
}

// What the home did not execute is not executed behind what came after it.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k := f.key(1)
	f.play(func(r *request) {
		if r.node.id == 1 && r.arg(2) != "2" {
			r.notDone(answer.OtherHome, 2)
			return
		}
		f.answer(r)
	})
	require.Equal(t, []string{refused(errOvertaken), "+OK\r\n", "+OK\r\n"}, texts(run(t, c, set(k, "1"), set(k, "2"), set(k, "3"))))
	require.Equal(t, list("1 K 1|1 K 2|1 K 3|2 K 3", k), f.executed())
}

// A read is asked of another home when the first is lost, but not if a write behind
// it may have taken effect.
func TestReadBeforeAWriteWhenTheHomeIsLost(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k := f.key(1)
	arrived := make(chan *request, 3)
	f.play(func(r *request) {
		if r.node.id == 1 {
			arrived <- r
			return
		}
		r.done("$1\r\nv\r\n") // what the lost home has written
	})
	result := runLater(t, c, get(k), set(k, "v"), get(k))
	for range 3 {
		<-arrived
	}
	f.nodes[0].setDown(true)
	require.Equal(t, []string{refused(errOvertaken), unknownOutcome, "$1\r\nv\r\n"}, texts(<-result))
}

// If the first cannot be done, the others are done all the same, as in Redis.
func TestOthersGoOnAfterAFailure(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k := f.key(1)
	f.play(func(r *request) {
		if r.isWrite() && r.arg(2) == "1" {
			r.notDone(answer.Overloaded, 0)
			return
		}
		f.answer(r)
	})
	require.Equal(t, []string{refused(ErrOverloaded), "+OK\r\n", "$1\r\n2\r\n"}, texts(run(t, c, set(k, "1"), set(k, "2"), get(k))))
}

// A read that was done before a write in front of it was turned away is done again behind that.
func TestAReadThatHasOvertakenAWrite(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k := f.key(1)
	f.play(func(r *request) {
		if r.node.id == 1 && r.isWrite() {
			r.notDone(answer.OtherHome, 2)
			return
		}
		f.answer(r)
	})
	require.Equal(t, []string{"+OK\r\n", "$1\r\n1\r\n", "$1\r\n1\r\n"}, texts(run(t, c, set(k, "1"), get(k), get(k))))
	require.Equal(t, list("1 K 1|1 K|1 K|2 K 1|2 K|2 K", k), f.executed())
}

// If one of two reads of a key is done again, the one behind it is as well: it may have seen less.
func TestReadsOfOneKeyKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for _, again := range []int{0, 1, 2} {
		t.Run(strconv.Itoa(again), func(t *testing.T) {
			t.Parallel()
			f := startRing(t, 3)
			c := f.coordinator(patient)
			k := f.key(1)
			f.play(func(r *request) {
				switch {
				case r.Kind == protocol.Execute:
					r.done("$3\r\nnew\r\n")
				case r.Kind == protocol.ReadVersion && r.place() == again:
					r.vote(2, "")
				default:
					r.vote(1, "$3\r\nold\r\n")
				}
			})
			want := slices.Repeat([]string{"$3\r\nold\r\n"}, again)
			require.Equal(t, append(want, slices.Repeat([]string{"$3\r\nnew\r\n"}, 3-again)...), texts(run(t, c, get(k), get(k), get(k))))
			require.Len(t, f.executed(), 3-again)
		})
	}
}

// What is sent again has nothing to do with answers to what was sent before.
func TestAnswersToAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	k := f.key(1)
	var late []*request // of the node that is asked for the value
	f.play(func(r *request) {
		switch {
		case r.Kind == protocol.Execute && r.place() == 0:
			r.done("$3\r\nnew\r\n")
		case r.Kind == protocol.Execute:
			late[0].vote(1, "$3\r\nold\r\n")
			r.done("$3\r\nnew\r\n")
		case r.place() == 0:
			r.askHome()
		case r.Kind == protocol.ReadValue:
			late = append(late, r)
		default:
			r.vote(1, "")
		}
	})
	require.Equal(t, []string{"$3\r\nnew\r\n", "$3\r\nnew\r\n"}, texts(run(t, c, get(k), get(k))))
	require.Equal(t, list("1 K|1 K", k), f.executed())
}

func TestIdentitiesOfABatch(t *testing.T) {
	t.Parallel()
	for _, start := range []uint64{0, 1<<generationBits - 4} {
		table := &batchTable{counter: start}
		first, other, next := new(Batch), new(Batch), new(Batch)
		table.add(first)
		table.add(other)
		before := []uint64{first.state.attempt, 0}
		table.again(first)
		before[1] = first.state.attempt
		require.NotEqual(t, before[0], before[1])
		table.again(other)
		for _, id := range before {
			require.Same(t, first, table.lock(id<<opBits|7))
			first.state.mu.Unlock()
		}
		require.Same(t, other, table.lock(other.state.attempt<<opBits))
		other.state.mu.Unlock()
		table.remove(first)
		table.add(next)
		for _, id := range before {
			require.Nil(t, table.lock(id<<opBits), "it has ended")
		}
		require.Equal(t, next.state.id&(1<<tableBits-1), before[0]&(1<<tableBits-1), "its place is taken")
	}
}
