package front

import "time"

// restStep is how often it is looked at whether a connection that rests is to end.
const restStep = 100 * time.Millisecond

// Rest lets some time pass, after what the client has been answered was sent. It ends early when the connection is to end.
func (c *Conn) Rest(pause time.Duration) { c.RestUntil(nil, pause) }

// RestUntil is Rest that ends when done is closed. It reports whether the connection is to go on.
func (c *Conn) RestUntil(done <-chan struct{}, pause time.Duration) bool {
	c.deliver()
	c.flush()
	end := time.Now().Add(pause)
	for c.goesOn() {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		step := time.NewTimer(min(left, restStep))
		select {
		case <-done:
			step.Stop()
			return c.goesOn()
		case <-step.C:
		}
	}
	return c.goesOn()
}

// goesOn reports whether the connection is not to end.
func (c *Conn) goesOn() bool { return !c.broken && !c.killed.Load() && !c.server.closing.Load() }
