package front

import "time"

// restStep is how often it is looked at whether a connection that rests is to end.
const restStep = 100 * time.Millisecond

// Rest lets some time pass, after what the client has been answered was sent. It ends early when the connection is to end.
func (c *Conn) Rest(pause time.Duration) {
	c.flush()
	for end := time.Now().Add(pause); !c.broken && !c.killed.Load() && !c.server.closing.Load(); {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		time.Sleep(min(left, restStep))
	}
}
