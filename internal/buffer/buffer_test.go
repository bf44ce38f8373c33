package buffer

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGetHasRoom(t *testing.T) {
	for _, n := range []int{0, 1, unit - 1, unit, unit + 1, 64 << 10, 2*unit + 1, 1 << 20, Most, Most + 1<<20} {
		buf := Get(n)
		require.Empty(t, buf)
		require.GreaterOrEqual(t, cap(buf), n)
		require.LessOrEqual(t, cap(buf), max(unit, 2*n))
		Put(buf)
	}
}

// What was allocated elsewhere may have any capacity; who asks gets no less than it wants.
func TestPutTakesAnything(t *testing.T) {
	for n := 0; n < 6*unit; n += 997 {
		Put(make([]byte, n))
		require.GreaterOrEqual(t, cap(Get(n)), n)
	}
}

func TestReserveKeepsWhatIsThere(t *testing.T) {
	buf := []byte("before")
	require.Equal(t, cap(buf), cap(Reserve(buf, 100)), "few bytes are append's business")
	long := bytes.Repeat([]byte("x"), 100<<10)
	for range 20 {
		buf = append(Reserve(buf, len(long)), long...)
	}
	require.Len(t, buf, len("before")+20*len(long))
	require.Equal(t, "before", string(buf[:6]))
	require.Equal(t, long, buf[len(buf)-len(long):])
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		a, b := Get(100<<10), Get(20<<10)
		Put(a)
		Put(b)
	}), 1.0) // under the race detector a pool forgets now and then
}
