//go:build !faults

package wire

import "io"

// FaultInjection is false: in this build nothing can make the transport lose, hold or
// repeat frames. See faults.go for builds with the tag faults.
const FaultInjection = false

// faultLine is nothing in this build, and its calls compile to nothing.
type faultLine struct{}

func (*faultLine) dials(string) {}

func (*faultLine) handshake(w io.Writer) io.Writer { return w }

func (*handshake) met(Hello) {}

func (*faultLine) run(o *outbox, w io.Writer) error { return o.run(w) }
