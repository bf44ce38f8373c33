package route

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// quick answers a frame without allocating, so that what is allocated while a batch is
// executed is the coordinator's.
func (c *fakeConn) quick(body []byte) {
	d := wire.NewDecoder(body)
	d.Uvarint()
	c.out = wire.BeginFrame(c.out[:0], protocol.FrameBatchReply)
	for d.More() {
		protocol.DecodeOp(&d, &c.op)
		result := protocol.Result{ID: c.op.ID}
		switch c.op.Kind {
		case protocol.Execute:
			result.Status, result.Reply = protocol.StatusDone, quickReply
		case protocol.ReadValue:
			result.Status, result.Reply = protocol.StatusValue, quickReply
		case protocol.ReadVersion:
			result.Status = protocol.StatusVersion
		}
		c.out = protocol.AppendResult(c.out, &result)
	}
	_ = c.conn.SendFrames(wire.EndFrame(c.out, 0))
}

var quickReply = []byte("$5\r\nquick\r\n")

// quickBatch returns what executes n operations on keys, of which every second is a SET.
func quickBatch(t testing.TB, n int) (execute func()) {
	f := startRing(t, 3)
	f.quick = true
	c := f.coordinator(5 * time.Second)
	requests := make([]command.Request, n)
	for i := range requests {
		if requests[i] = get(fmt.Sprint("key", i)); i%2 == 1 {
			requests[i] = set(fmt.Sprint("key", i), "some value of a usual length")
		}
	}
	b := new(Batch)
	return func() {
		c.Execute(b.fill(requests...))
		for i := range b.Ops {
			if string(b.Ops[i].Reply) != string(quickReply) {
				t.Fatal(b.Ops[i].text())
			}
		}
	}
}

// In steady state a batch allocates nothing: not in the coordinator, nor in the
// transport below it.
func TestExecuteAllocatesNothing(t *testing.T) {
	for _, n := range []int{1, 2, 64, 1000} {
		execute := quickBatch(t, n)
		for range 20 { // buffers grow
			execute()
		}
		// Pings allocate now and then, which a long run does not escape.
		require.LessOrEqual(t, testing.AllocsPerRun(300, execute), float64(n/100), "%d operations", n)
	}
}

func BenchmarkExecute(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			execute := quickBatch(b, n)
			b.ReportAllocs()
			for b.Loop() {
				execute()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/operation")
		})
	}
}
