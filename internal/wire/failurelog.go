package wire

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
)

// patience is how long this side may refuse a peer for one reason before the
// operator is told: a node that starts has a right to be not ready for a while.
const patience = 10 * time.Second

// remind is the time between two warnings of the same reason.
const remind = time.Minute

// unwantedError is the error of LinkConfig.Check: this side refused the peer. It
// has the text of the error that it marks.
type unwantedError struct{ error }

func (e unwantedError) Unwrap() error { return e.error }

// faults are reasons that do not go away by themselves: somebody has to look.
var faults = []error{ErrRefused, ErrSecret, ErrTLS, ErrVersion, ErrProtocol, ErrChecksum, ErrTooLarge, ErrFrame, ErrPanic}

// lost reports whether err is that the other side went away or does not answer. That
// is for the layers above to judge: they know whether it ought to be there.
func lost(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrClosed) || errors.As(err, &network)
}

// isFault reports whether err is one of the faults.
func isFault(err error) bool {
	if lost(err) {
		return false
	}
	for _, fault := range faults {
		if errors.Is(err, fault) {
			return true
		}
	}
	return false
}

// failureLog decides how loud a link's failures are logged: each reason once and then each minute, and a
// warning only for what an operator has to mend. The zero value is ready.
type failureLog struct {
	reason string        // of the last failure
	since  time.Duration // when it was the reason first
	warned string        // the last reason that was warned of,
	at     time.Duration // and when
}

// level returns the level at which a failure is to be logged; ok is false when it
// is old news.
func (f *failureLog) level(err error, now time.Duration) (level slog.Level, ok bool) {
	reason, news := err.Error(), false
	if reason != f.reason {
		f.reason, f.since, news = reason, now, true
	}
	warn := isFault(err) || errors.As(err, new(unwantedError)) && now-f.since >= patience
	if warn && (reason != f.warned || now-f.at >= remind) {
		f.warned, f.at = reason, now
		return slog.LevelWarn, true
	}
	return slog.LevelDebug, news
}

// settle is called when a connection has been up: what comes next is new.
func (f *failureLog) settle() { *f = failureLog{} }
