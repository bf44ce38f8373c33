package bench

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
)

// server answers SET, GET, PING and WAIT from a map, or as a test wants.
type server struct {
	mu     sync.Mutex
	data   map[string]string
	seen   atomic.Int64
	answer func(conn redcon.Conn, cmd redcon.Command) bool // whether it has answered
}

// start returns the address.
func (s *server) start(t *testing.T) string {
	s.data = map[string]string{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = redcon.Serve(listener, s.serve, nil, nil)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	return listener.Addr().String()
}

func (s *server) serve(conn redcon.Conn, cmd redcon.Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Add(1)
	if s.answer != nil && s.answer(conn, cmd) {
		return
	}
	switch string(cmd.Args[0]) {
	case "PING":
		conn.WriteString("PONG")
	case "SET":
		s.data[string(cmd.Args[1])] = string(cmd.Args[2])
		conn.WriteString("OK")
	case "GET":
		if value, ok := s.data[string(cmd.Args[1])]; ok {
			conn.WriteBulkString(value)
		} else {
			conn.WriteNull()
		}
	case "WAIT":
		conn.WriteInt(1)
	}
}

// keys returns the keys that were written.
func (s *server) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.data))
}

// run runs options against servers, and requires that it can begin.
func run(t *testing.T, opt Options, addresses ...string) (Report, error) {
	t.Helper()
	opt.Addresses = addresses
	require.Empty(t, opt.Faults())
	b, err := Open(t.Context(), opt)
	require.NoError(t, err)
	defer b.Close()
	return b.Run(t.Context())
}

// ops returns operation:count of each row.
func ops(r Report) map[string]int64 {
	counts := map[string]int64{}
	for _, row := range r.Rows {
		counts[row.Op] += row.Operations
	}
	return counts
}

func TestWorkloads(t *testing.T) {
	for _, tc := range []struct {
		workload string
		want     map[string]int64
	}{
		{Load, map[string]int64{"SET": 2000}},
		{Simple, map[string]int64{"SET": 2000, "GET": 2000}},
		{Batch, map[string]int64{"SET": 1000, "GET": 1000, "all": 2000}},
	} {
		t.Run(tc.workload, func(t *testing.T) {
			s := &server{}
			opt := sensible()
			opt.Workload, opt.Count, opt.Trials, opt.Check, opt.Depth = tc.workload, 1000, 2, true, 25
			var last atomic.Pointer[Progress]
			opt.Progress = func(p Progress) { last.Store(&p) }
			report, err := run(t, opt, s.start(t))
			require.NoError(t, err)
			if tc.workload == Batch {
				counts := ops(report)
				require.EqualValues(t, 2000, counts["all"])
				require.LessOrEqual(t, counts["GET"], counts["SET"])
				require.Positive(t, counts["GET"])
			} else {
				require.Equal(t, tc.want, ops(report))
				require.Len(t, s.keys(), 1000, "all keys were written")
			}
			errors, missing, wrong := report.Total()
			require.Zero(t, errors+missing+wrong)
			require.Equal(t, 2, last.Load().Trial)
			for _, row := range report.Rows {
				require.Positive(t, row.Throughput)
				require.GreaterOrEqual(t, row.P99, row.P50)
				require.GreaterOrEqual(t, row.Max, row.P999*0.999)
			}
			require.Len(t, report.Summary, len(tc.want))
		})
	}
}

func TestMixedThroughSeveralAddressesWithKeysOfTheirOwn(t *testing.T) {
	first, second := &server{}, &server{}
	opt := sensible()
	opt.Workload, opt.SetFraction, opt.Count, opt.Check, opt.Prefixes = Mixed, 0.2, 5000, true, []string{"{a}", "{b}"}
	report, err := run(t, opt, first.start(t), second.start(t))
	require.NoError(t, err)
	require.Len(t, report.Rows, 3)
	all := report.Rows[2]
	require.Equal(t, report.Rows[0].Operations+report.Rows[1].Operations, all.Operations)
	require.InDelta(t, 0.2, float64(report.Rows[0].Operations)/float64(all.Operations), 0.05)
	for prefix, s := range map[string]*server{"{a}": first, "{b}": second} {
		require.Len(t, s.keys(), 1000)
		for _, key := range s.keys() {
			require.True(t, strings.HasPrefix(key, prefix), key)
		}
	}
}

func TestDuration(t *testing.T) {
	opt := sensible()
	opt.Duration = 150 * time.Millisecond
	report, err := run(t, opt, (&server{}).start(t))
	require.NoError(t, err)
	require.Len(t, report.Rows, 2)
	for _, row := range report.Rows {
		require.GreaterOrEqual(t, row.Seconds, 0.15)
		require.Positive(t, row.Operations)
	}
}

func TestWhatIsWrongIsCounted(t *testing.T) {
	s := &server{}
	s.answer = func(conn redcon.Conn, cmd redcon.Command) bool {
		key := ""
		if string(cmd.Args[0]) == "GET" {
			key = string(cmd.Args[1])
		}
		switch {
		case strings.HasSuffix(key, "07"): // another key's
			conn.WriteBulkString(s.data[strings.TrimSuffix(key, "07")+"08"])
		case strings.HasSuffix(key, "17"): // too short
			conn.WriteBulkString(s.data[key][1:])
		case strings.HasSuffix(key, "27"):
			conn.WriteNull()
		case strings.HasSuffix(key, "37"):
			conn.WriteError("TRYAGAIN later")
		default:
			return false
		}
		return true
	}
	opt := sensible()
	opt.Count, opt.Check = 20_000, true
	report, err := run(t, opt, s.start(t))
	require.NoError(t, err)
	errors, missing, wrong := report.Total()
	require.InDelta(t, 200, errors, 100)
	require.InDelta(t, 200, missing, 100)
	require.InDelta(t, 400, wrong, 150)
	require.Equal(t, "TRYAGAIN later", report.LastError)
	require.EqualValues(t, 20_000, report.Rows[1].Operations+report.Rows[1].Errors)
}

func TestWaitEndsEveryPipelineWithAWrite(t *testing.T) {
	s, waits := &server{}, new(atomic.Int64)
	s.answer = func(_ redcon.Conn, cmd redcon.Command) bool {
		if string(cmd.Args[0]) == "WAIT" {
			waits.Add(1)
			require.Equal(t, "1000", string(cmd.Args[2]))
		}
		return false
	}
	opt := sensible()
	opt.Connections, opt.Depth, opt.Keys, opt.Count, opt.Wait, opt.NoLoad = 1, 4, 8, 16, 1, true
	report, err := run(t, opt, s.start(t))
	require.NoError(t, err)
	require.EqualValues(t, 4, waits.Load())
	require.Equal(t, map[string]int64{"SET": 16, "GET": 16}, ops(report))

	opt.Wait = 2
	report, err = run(t, opt, s.start(t))
	require.NoError(t, err)
	require.EqualValues(t, 16, report.Rows[0].Errors)
	require.Equal(t, "WAIT: 1 replicas acknowledged, not 2", report.LastError)
}

func TestAServerThatGoesAwayEndsItWithWhatWasMeasured(t *testing.T) {
	s := &server{}
	s.answer = func(conn redcon.Conn, _ redcon.Command) bool {
		if s.seen.Load() > 5000 {
			_ = conn.Close()
		}
		return false
	}
	opt := sensible()
	opt.Duration = time.Minute
	report, err := run(t, opt, s.start(t))
	require.ErrorContains(t, err, "closed a connection")
	require.Len(t, report.Rows, 1)
	require.Greater(t, report.Rows[0].Operations, int64(1000))
	require.False(t, report.Interrupted)
}

func TestInterruptionKeepsWhatWasMeasured(t *testing.T) {
	s := &server{}
	ctx, cancel := context.WithCancel(t.Context())
	block := make(chan struct{})
	s.answer = func(redcon.Conn, redcon.Command) bool {
		if s.seen.Load() == 5000 { // it hangs, so that an answer is waited for
			cancel()
			<-block
		}
		return false
	}
	opt := sensible()
	opt.Addresses, opt.Duration = []string{s.start(t)}, time.Minute
	b, err := Open(ctx, opt)
	require.NoError(t, err)
	defer b.Close()
	report, err := b.Run(ctx)
	close(block)
	require.NoError(t, err)
	require.True(t, report.Interrupted)
	require.Len(t, report.Rows, 1)
	require.Positive(t, report.Rows[0].Operations)
}

func TestAServerThatHangsIsNotWaitedForForEver(t *testing.T) {
	s, block := &server{}, make(chan struct{})
	s.answer = func(redcon.Conn, redcon.Command) bool {
		if s.seen.Load() == 5000 {
			<-block
		}
		return false
	}
	opt := sensible()
	opt.Addresses, opt.Count = []string{s.start(t)}, 10_000
	b, err := Open(t.Context(), opt)
	require.NoError(t, err)
	defer b.Close()
	b.pool.hungAfter = 500 * time.Millisecond
	_, err = b.Run(t.Context())
	close(block)
	require.EqualError(t, err, "the server hangs: nothing was answered for 500ms")
}

func TestRefusedLoadIsAnError(t *testing.T) {
	s := &server{answer: func(conn redcon.Conn, cmd redcon.Command) bool {
		if string(cmd.Args[0]) == "SET" {
			conn.WriteError("MISCONF full")
			return true
		}
		return false
	}}
	_, err := run(t, sensible(), s.start(t))
	require.EqualError(t, err, "the keys could not be written before the measurement: 1000 writes were refused, the last with: MISCONF full")
}
