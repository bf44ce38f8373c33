package metrics

import "sync/atomic"

// Counter is a number that only grows. The zero Counter is ready.
type Counter struct{ n atomic.Uint64 }

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Add adds n.
func (c *Counter) Add(n uint64) { c.n.Add(n) }

// Value returns the number.
func (c *Counter) Value() uint64 { return c.n.Load() }
