package route

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
)

// inParts fills a batch with parts.
func inParts(parts ...[]command.Request) *Batch {
	b := new(Batch)
	for _, part := range parts {
		for _, req := range part {
			b.Add(req, req.Op != command.OpGet)
		}
		b.EndPart()
	}
	return b
}

// A part is answered as soon as it is done, whatever the others wait for.
func TestPartsAreAnsweredWhenDone(t *testing.T) {
	f := startRing(t, 3)
	c := f.coordinator(patient)
	held := make(chan *request, 1)
	f.play(func(r *request) {
		if r.Req.Op == command.OpSet && r.arg(1) == "slow" {
			held <- r
			return
		}
		f.answer(r)
	})
	b := inParts(
		[]command.Request{get("a"), set("slow", "1")},
		[]command.Request{set("b", "2"), get("c")},
		[]command.Request{get("d")})
	var order []int
	b.OnPart = func(part int) {
		order = append(order, part)
		for i := range b.Part(part) {
			require.Equal(t, answer.Done, b.Part(part)[i].Outcome)
			require.NotEmpty(t, b.Part(part)[i].Reply)
		}
		if len(order) == 2 {
			f.answer(<-held)
		}
	}
	executeInTime(t, c, b)
	require.ElementsMatch(t, []int{1, 2}, order[:2])
	require.Equal(t, 0, order[2])
	require.Equal(t, []string{"$-1\r\n", "+OK\r\n", "+OK\r\n", "$-1\r\n", "$-1\r\n"}, texts(b))
}

// A part that is refused does not keep the others waiting while it rests.
func TestPartsRestAlone(t *testing.T) {
	f := startRing(t, 3)
	c := f.coordinator(patient)
	refusing := true
	asked := make(chan *request, 100)
	f.play(func(r *request) {
		if r.arg(1) == "other" {
			asked <- r
			return
		}
		f.mu.Lock()
		refuse := refusing
		f.mu.Unlock()
		if refuse {
			r.notDone(answer.LostTerm, 0)
			return
		}
		f.answer(r)
	})
	b := inParts([]command.Request{set("refused", "1")}, []command.Request{set("other", "2")})
	var order []int
	b.OnPart = func(part int) {
		order = append(order, part)
		f.mu.Lock()
		refusing = false
		f.mu.Unlock()
	}
	go func() { f.answer(<-asked) }()
	executeInTime(t, c, b)
	require.Equal(t, []int{1, 0}, order)
}

// Only operations of one client on one key are kept in order: what others do with the
// key does not send a read to the home.
func TestPartsShareNoChain(t *testing.T) {
	f := startRing(t, 3)
	c := f.coordinator(patient)
	b := inParts(
		[]command.Request{set("k", "1"), set("k", "2"), get("k")},
		[]command.Request{get("other"), get("k")})
	var read string
	b.OnPart = func(part int) {
		if part == 1 {
			read = b.Part(1)[1].text()
		}
	}
	executeInTime(t, c, b)
	require.Equal(t, "$1\r\n2\r\n", b.Ops[2].text())
	require.Contains(t, []string{"$-1\r\n", "$1\r\n1\r\n", "$1\r\n2\r\n"}, read)
	states := b.state.ops
	require.Equal(t, states[0].chain, states[2].chain)
	require.True(t, states[2].viaHome)
	require.Negative(t, states[4].chain)
	require.Negative(t, states[4].before)
}
