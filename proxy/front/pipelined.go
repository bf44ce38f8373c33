package front

import "syscall"

// Pipelined reports whether the client has sent more than the command that is being answered. The rest of a pipeline may still be
// in the network; but a refusal takes a while, mostly.
func (c *Conn) Pipelined() bool {
	if c.input.Len() > 1 || c.reader.Pending() > 0 {
		return true
	}
	with, ok := c.stream.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := with.SyscallConn()
	if err != nil {
		return false
	}
	waits := false
	_ = raw.Control(func(fd uintptr) { waits = inputWaits(fd) })
	return waits
}
