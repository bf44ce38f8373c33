package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/internal/rawio"
	"github.com/quolldb/quoll/internal/tlsio"
)

// TLS is how connections are encrypted, and how the other side proves who it is.
type TLS struct {
	Peers *certs.Peers
	// Optional: a server takes connections without TLS, too, and a link tries without when the other side does not speak it. That is for the time in which a cluster
	// begins to use TLS, or gives it up.
	Optional bool
}

// errNoTLS: the other side does not seem to speak TLS.
var errNoTLS = errors.New("wire: the peer does not speak TLS: give it --peer-tls and certificates, too")

// secured is a connection that may be encrypted. Until secure or accept has returned it belongs to the goroutine that calls them. Closing it, and deadlines, are the socket's.
type secured struct {
	net.Conn
	tls *tlsio.Conn // nil for none
	// peeked is what was read to find out whether the other side speaks TLS.
	peeked []byte
}

// Read implements net.Conn.
func (s *secured) Read(p []byte) (int, error) {
	if s.tls != nil {
		return s.tls.Read(p)
	}
	if len(s.peeked) > 0 {
		n := copy(p, s.peeked)
		s.peeked = s.peeked[n:]
		return n, nil
	}
	return s.Conn.Read(p)
}

// Write implements net.Conn.
func (s *secured) Write(p []byte) (n int, err error) {
	if s.tls == nil {
		return s.Conn.Write(p)
	}
	for n < len(p) {
		portion := p[n:min(len(p), n+tlsio.Portion)]
		if err := s.tls.Seal(portion); err != nil {
			return n, err
		}
		if err := s.tls.Flush(s.Conn); err != nil {
			return n, err
		}
		n += len(portion)
	}
	return n, nil
}

// carry makes a connection one that can be encrypted, if that may be.
func (o *Options) carry(conn net.Conn) (net.Conn, *secured) {
	conn = rawio.Conn(conn)
	if o.TLS == nil {
		return conn, nil
	}
	s := &secured{Conn: conn}
	return s, s
}

// recordHandshake is the first byte of a connection with TLS. No frame begins with it whose length a greeting can have.
const recordHandshake = 0x16

// acceptTLS does the handshake of TLS at the server, unless the dialer does without and may.
func (p *peer) acceptTLS(o *Options) error {
	if p.secured == nil {
		return nil
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(p.secured.Conn, first); err != nil {
		return fmt.Errorf("%w: during the handshake: %w", ErrProtocol, err)
	}
	p.secured.peeked = first
	if first[0] != recordHandshake {
		if o.TLS.Optional {
			return nil
		}
		return p.refusePlain()
	}
	conn := tlsio.Server(&secured{Conn: p.secured.Conn, peeked: first}, o.TLS.Peers.Server())
	return p.shakeTLS(conn)
}

// refusePlain tells a dialer that does not speak TLS that it has to, if it is a peer.
func (p *peer) refusePlain() error {
	err := fmt.Errorf("%w: the peer does without, and it is required here: give --peer-tls and certificates there, too", ErrTLS)
	h := &handshake{conn: p.conn, in: p.in}
	if mismatch := h.readGreeting(); mismatch != nil && !errors.Is(mismatch, ErrSecret) && !errors.Is(mismatch, ErrVersion) {
		return h.stranger(mismatch)
	}
	return h.refuse(err)
}

// dialTLS does the handshake of TLS at the dialer.
func (p *peer) dialTLS(o *Options) error {
	err := p.shakeTLS(tlsio.Client(p.secured.Conn, o.TLS.Peers.Client()))
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain || err != nil && !errors.Is(err, ErrTLS) && lost(err) {
		return unwantedError{fmt.Errorf("%w: %s", errNoTLS, err.Error())} // a peer that ends looks the same for a moment
	}
	return err
}

// encrypt has a link's connection begin with TLS, if there is to be TLS. Where that is optional it is tried with and without in turns.
func (l *Link) encrypt(p *peer) error {
	if p.secured == nil {
		return nil
	}
	if l.plain {
		l.plain = false
		return nil
	}
	err := p.dialTLS(&l.cfg.Options)
	l.plain = l.cfg.TLS.Optional && errors.Is(err, errNoTLS)
	return err
}

// shakeTLS does a handshake within the time that the connection has.
func (p *peer) shakeTLS(conn *tlsio.Conn) error {
	if err := conn.Handshake(context.Background()); err != nil {
		return explainTLS(err)
	}
	p.secured.tls, p.secured.peeked = conn, nil
	return nil
}

// explainTLS makes an error of TLS one that is for an operator, unless the connection was lost.
func explainTLS(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return fmt.Errorf("%w: the peer refuses this side's certificate, or what it speaks: %s", ErrTLS, op.Err.Error())
	}
	if lost(err) {
		return fmt.Errorf("wire: during the handshake of TLS: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrTLS, err)
}

// refusedTLS explains an error of the exchange that follows the handshake of TLS: there the dialer hears first that its certificate is refused.
func (p *peer) refusedTLS(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return explainTLS(op)
	}
	return err
}

// verified says why a hello is not that of the owner of the certificate. Without TLS nothing is known.
func (p *peer) verified(o *Options, hello Hello) error {
	if p.secured == nil || p.secured.tls == nil {
		return nil
	}
	identity, err := o.TLS.Peers.Identity(p.secured.tls.State())
	switch {
	case err != nil:
	case string(identity.Role) != string(hello.Role) && (identity.Role != certs.Node || hello.Role != RoleProxy): // a node that serves clients is a proxy, too
		err = fmt.Errorf("it says that it is a %s, and its certificate is for %s", hello.Role, identity)
	case hello.Role == RoleNode && identity.Name != hello.Name: // a proxy's name is its address
		err = fmt.Errorf("it says that it is node %s, and its certificate is for %s", hello.Name, identity)
	case identity.Cluster != hello.Cluster:
		err = fmt.Errorf("it says that it is of cluster %s, and its certificate is for %s", hello.Cluster, identity)
	default:
		return nil
	}
	return fmt.Errorf("%w: the peer is not who it says: %w: issue it a certificate of its own with quoll cert", ErrTLS, err)
}
