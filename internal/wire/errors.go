package wire

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// The reasons for which this package fails, for errors.Is. What it returns wraps
// them with the particulars.
var (
	// ErrDown: there is no connection; nothing was queued.
	ErrDown = errors.New("wire: not connected")
	// ErrBacklog: the peer takes its bytes too slowly; nothing was queued.
	ErrBacklog = errors.New("wire: too many bytes wait for the peer")
	// ErrClosed: this side closed the link, the connection or the server.
	ErrClosed = errors.New("wire: closed")
	// ErrSilent: nothing came from the peer for too long.
	ErrSilent = errors.New("wire: the peer is silent")
	// ErrRefused: the peer did not want the connection and said why.
	ErrRefused = errors.New("wire: the peer refused the connection")
	// ErrSecret: the shared secrets differ, or only one side has one.
	ErrSecret = errors.New("wire: shared secret")
	// ErrTLS: TLS was not agreed on, or the peer's certificate does not allow what it says of itself.
	ErrTLS = errors.New("wire: TLS")
	// ErrVersion: the peer speaks another version of the protocol.
	ErrVersion = errors.New("wire: protocol version")
	// ErrProtocol: what the peer sent is not the peer protocol, or not in its order.
	ErrProtocol = errors.New("wire: protocol error")
	// ErrFrame: a frame is malformed.
	ErrFrame = errors.New("wire: malformed frame")
	// ErrTooLarge: a frame is longer than allowed.
	ErrTooLarge = errors.New("wire: frame too large")
	// ErrChecksum: a frame was changed on its way.
	ErrChecksum = errors.New("wire: checksum mismatch")
	// ErrMalformed: a body does not decode.
	ErrMalformed = errors.New("wire: malformed message")
	// ErrPanic: a handler panicked on what the peer sent.
	ErrPanic = errors.New("wire: panic in a handler")
)

// capturePanic, deferred, turns a panic into an error that carries the stack.
func capturePanic(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("%w: %v\n%s", ErrPanic, cause, debug.Stack())
	}
}
