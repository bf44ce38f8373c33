package front

import (
	"sync/atomic"
	"time"
)

// Stats counts what a Server does. All of it may be read at any time.
type Stats struct {
	// Clients is how many connections are open; Accepted and Rejected (for the
	// connection limit) count since the start.
	Clients            atomic.Int64
	Accepted, Rejected atomic.Uint64
	// SlowReaders and Panics count connections that were closed for it.
	SlowReaders, Panics atomic.Uint64
	// OutputExceeded counts connections that were closed because too much of what was pushed to them waited.
	OutputExceeded atomic.Uint64
	// Evicted counts connections that were closed because all together held too much, and this one the most.
	Evicted atomic.Uint64
	// TurnedOut counts connections that were closed because the client did not say who it is.
	TurnedOut atomic.Uint64
	// HandshakesFailed counts those of TLS that did not succeed, HandshakesStalled those that took too long.
	HandshakesFailed, HandshakesStalled atomic.Uint64
	// BytesIn counts the bytes of commands, BytesOut those of replies.
	BytesIn, BytesOut atomic.Uint64
	// BatchOps is how many operations a batch held, BatchTime how many microseconds
	// the cluster took for it.
	BatchOps, BatchTime Histogram
}

// observe counts a batch.
func (s *Stats) observe(ops int, took time.Duration) {
	s.BatchOps.Observe(uint64(ops))
	s.BatchTime.Observe(uint64(took.Microseconds()))
}

// Reset sets to zero what CONFIG RESETSTAT does.
func (s *Stats) Reset() {
	for _, n := range []*atomic.Uint64{&s.Accepted, &s.Rejected, &s.SlowReaders, &s.Panics, &s.OutputExceeded, &s.Evicted, &s.TurnedOut, &s.HandshakesFailed, &s.HandshakesStalled, &s.BytesIn, &s.BytesOut} {
		n.Store(0)
	}
}
