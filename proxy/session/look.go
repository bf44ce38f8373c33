package session

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
)

// look is what a proxy shows to people who look: the slow log, latency events, MONITOR, and what CLIENT PAUSE keeps waiting. While nobody looks it costs others one load for each.
type look struct {
	// notable is from how many nanoseconds on a command is noted in the slow log, or as a latency event.
	notable  atomic.Int64
	slowlog  slowlog
	latency  latencyEvents
	monitors monitors
	pause    pause
}

// Noted is what a proxy notes for people who look, as the parameters of Redis say it.
type Noted struct {
	// SlowlogSlowerThan is from how many microseconds on SLOWLOG keeps a command, below 0 for none, and SlowlogMaxLen how many it keeps.
	SlowlogSlowerThan, SlowlogMaxLen int64
	// LatencyThreshold is from how many milliseconds on a command is an event of LATENCY. 0: none is.
	LatencyThreshold int64
	// Untracked has INFO latencystats show nothing. Percentiles are what it shows otherwise, from 0 to 100.
	Untracked   bool
	Percentiles []float64
}

// DefaultNoted is what a Redis notes that was told nothing.
func DefaultNoted() Noted {
	return Noted{SlowlogSlowerThan: 10_000, SlowlogMaxLen: 128, Percentiles: []float64{50, 99, 99.9}}
}

func (l *look) init(noted *Noted) {
	l.slowlog.limit(noted.SlowlogSlowerThan, noted.SlowlogMaxLen)
	l.latency.setLimit(noted.LatencyThreshold)
	l.noteFrom()
}

// noteFrom works out what is notable, after a setting has changed.
func (l *look) noteFrom() {
	least := int64(math.MaxInt64)
	if slower, ok := l.slowlog.from(); ok {
		least = int64(slower)
	}
	if threshold, ok := l.latency.from(); ok {
		least = min(least, int64(threshold))
	}
	l.notable.Store(least)
}

// executedOne counts a command that was executed, and notes it if it took long.
func (s *Session) executedOne(cmd *command.Command, args [][]byte, took time.Duration) {
	s.service.stats.count(countedAs(cmd), took)
	if int64(took) >= s.service.look.notable.Load() {
		s.note(cmd, args, took)
	}
}

// note notes a command that took long.
func (s *Session) note(cmd *command.Command, args [][]byte, took time.Duration) {
	if cmd == nil || cmd.Flags&command.FlagSkipSlowlog != 0 {
		return
	}
	if len(args) == 0 {
		args = [][]byte{[]byte(cmd.Name)}
	}
	l := &s.service.look
	now := time.Now()
	l.latency.add(eventOf(cmd), took, now)
	l.slowlog.add(took, now, unnamed(redacted(cmd, args)), s.conn.RemoteAddr().String(), s.info.clientName())
}

// hidden is shown instead of what nobody is to see.
var hidden = []byte("(redacted)")

// redacted returns the arguments of a command without its passwords.
func redacted(cmd *command.Command, args [][]byte) [][]byte {
	from, to := len(args), len(args)
	switch cmd.Op {
	case command.OpAuth:
		from = 1
	case command.OpHello:
		for i := 2; i < len(args); i++ {
			if is(args[i], "AUTH") {
				from, to = i+1, min(i+3, len(args))
				break
			}
		}
	case command.OpACL:
		if len(args) > 2 && is(args[1], "SETUSER") {
			from = 2
		}
	case command.OpNone, command.OpConfig:
		return withoutSecrets(args)
	}
	if from >= to {
		return args
	}
	shown := append([][]byte(nil), args...)
	for i := from; i < to; i++ {
		shown[i] = hidden
	}
	return shown
}

// withoutSecrets returns the arguments of a subcommand without what is secret of CONFIG SET and ACL SETUSER.
func withoutSecrets(args [][]byte) [][]byte {
	shown := args
	hide := func(i int) {
		if &shown[0] == &args[0] {
			shown = append([][]byte(nil), args...)
		}
		shown[i] = hidden
	}
	switch {
	case len(args) < 3:
	case is(args[0], "CONFIG") && is(args[1], "SET"):
		for i := 3; i < len(args); i += 2 {
			for _, name := range secretParameters {
				if is(args[i-1], name) {
					hide(i)
				}
			}
		}
	case is(args[0], "ACL") && is(args[1], "SETUSER"):
		for i := 2; i < len(args); i++ {
			hide(i)
		}
	}
	return shown
}

// secretParameters are those of CONFIG SET whose values are secret.
var secretParameters = []string{"requirepass", "masterauth", "masteruser", "tls-key-file-pass", "tls-client-key-file-pass"}

// unnamed returns arguments with keys as clients name them: in databases above 0 the cluster has other names.
func unnamed(args [][]byte) [][]byte {
	shown := args
	for i, arg := range args {
		if !database.Reserved(arg) {
			continue
		}
		if &shown[0] == &args[0] {
			shown = append([][]byte(nil), args...)
		}
		_, shown[i] = database.Split(arg)
	}
	return shown
}
