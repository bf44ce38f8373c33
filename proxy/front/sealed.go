package front

import (
	"errors"
	"time"

	"github.com/quolldb/quoll/internal/tlsio"
)

// What is different where the client speaks TLS: bytes are sealed before they are sent, so that some may be taken and not sent yet, and some may have come that no socket
// tells of.

// carried is what a stream's connection carries, as TLS reads it.
type carried stream

// Read implements io.Reader.
func (s *carried) Read(p []byte) (int, error) { return (*stream)(s).receive(p) }

// nowait is a socket as io.Writer, which takes what there is room for: errNotNow if that is not all.
type nowait socket

// Write implements io.Writer.
func (s *nowait) Write(p []byte) (int, error) { return (*socket)(s).write(p) }

// secure has the stream go through a TLS connection from now on.
func (s *stream) secure(conn *tlsio.Conn) {
	s.tls = conn
	conn.SetSource((*carried)(s))
}

// sendSealed is send for a nonblocking connection with TLS. As long as some of what is sealed is not sent, nothing else is.
func (s *stream) sendSealed(p []byte) (n int, err error) {
	for {
		err = s.tls.Flush((*nowait)(s.socket))
		if s.congested = errors.Is(err, errNotNow); s.congested {
			return n, nil
		}
		if err != nil || n == len(p) {
			return n, err
		}
		portion := p[n:min(len(p), n+tlsio.Portion)]
		if err = s.tls.Seal(portion); err != nil {
			return n, err
		}
		n += len(portion)
	}
}

// writeOnce writes p, of a chunk at most, and what is sealed before it.
func (s *stream) writeOnce(p []byte) (n int, err error) {
	if s.tls == nil {
		return s.Conn.Write(p)
	}
	err = s.tls.Flush(s.Conn)
	for err == nil && n < len(p) {
		portion := p[n:min(len(p), n+tlsio.Portion)]
		if err = s.tls.Seal(portion); err == nil {
			n += len(portion)
			err = s.tls.Flush(s.Conn)
		}
	}
	return n, err
}

// unsent reports whether something is sealed that is not sent.
func (s *stream) unsent() bool { return s.tls != nil && s.tls.Unsent() > 0 }

// pending reports whether something has come that the socket does not tell of any more.
func (s *stream) pending() bool { return s.tls != nil && s.tls.Pending() }

// sealEnd tells the client that nothing follows.
func (s *stream) sealEnd() {
	if s.tls == nil || s.tls.SealEnd() != nil {
		return
	}
	_ = s.SetWriteDeadline(time.Now().Add(lingerTime))
	_ = s.tls.Flush(s.Conn)
}
