package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
)

const (
	// helloLimit is the greatest payload of a frame of the handshake.
	helloLimit = 1 << 20
	// reasonLimit is the greatest length of a reason for a refusal.
	reasonLimit = 16 << 10
)

// handshake is one side's view of an exchange that is described in the package
// comment. The two sides never write at the same time.
type handshake struct {
	conn   io.Writer
	in     *frameReader
	secret []byte
	// dialer is whether this side is the dialer.
	dialer       bool
	mine, theirs nonce
	// verify says why the peer cannot be who it says, nil if nothing is known of it.
	verify func(Hello) error
	buf    []byte
}

// dial is the dialer's part. check judges what the server says of itself.
func (h *handshake) dial(mine Hello, check func(Hello) error) (Hello, error) {
	h.dialer = true
	if err := h.sendGreeting(); err != nil {
		return Hello{}, err
	}
	if err := h.readGreeting(); err != nil {
		return Hello{}, h.stranger(err)
	}
	if err := h.sendHello(mine); err != nil {
		return Hello{}, err
	}
	theirs, err := h.readHello()
	if err == nil && check != nil {
		if err = check(theirs); err != nil {
			err = unwantedError{err}
		}
	}
	if err != nil {
		return theirs, h.refuse(err)
	}
	return theirs, h.send(frameReady, nil)
}

// accept is the server's part. judge says who the server is, or why it does not
// want the dialer.
func (h *handshake) accept(judge func(Hello) (Hello, error)) (Hello, error) {
	mismatch := h.readGreeting()
	if mismatch != nil && !errors.Is(mismatch, ErrSecret) && !errors.Is(mismatch, ErrVersion) {
		return Hello{}, h.stranger(mismatch)
	}
	// Even a dialer that cannot be right is greeted, so that it can tell its
	// operator what is wrong.
	if err := h.sendGreeting(); err != nil || mismatch != nil {
		return Hello{}, cmp.Or(mismatch, err)
	}
	theirs, err := h.readHello()
	if err != nil {
		return theirs, h.refuse(err)
	}
	mine, err := judge(theirs)
	if err != nil {
		return theirs, h.refuse(err)
	}
	if err := h.sendHello(mine); err != nil {
		return theirs, err
	}
	_, err = h.expect(frameReady)
	return theirs, err
}

func (h *handshake) sendHello(hello Hello) error {
	text, err := json.Marshal(hello)
	if err != nil {
		return fmt.Errorf("wire: encoding a hello: %w", err)
	}
	body := AppendBytes(nil, text)
	body = AppendBytes(body, h.prove(h.dialer, text))
	if len(body)+prefixSize > helloLimit {
		return fmt.Errorf("%w: a hello of %d bytes, the limit is %d", ErrTooLarge, len(body), helloLimit)
	}
	return h.send(frameHello, body)
}

// readHello believes nothing before the proof is verified.
func (h *handshake) readHello() (Hello, error) {
	body, err := h.expect(frameHello)
	if err != nil {
		return Hello{}, err
	}
	d := NewDecoder(body)
	text, proof := d.Bytes(), d.Bytes()
	if err := d.Done(); err != nil {
		return Hello{}, fmt.Errorf("%w: hello: %w", ErrProtocol, err)
	}
	if err := h.checkProof(text, proof); err != nil {
		return Hello{}, err
	}
	var hello Hello
	if err := json.Unmarshal(text, &hello); err != nil {
		return Hello{}, fmt.Errorf("%w: hello: %w", ErrProtocol, err)
	}
	h.met(hello)
	if h.verify == nil {
		return hello, nil
	}
	return hello, h.verify(hello)
}

// refuse tells the peer why it is not wanted and returns reason. A peer that has
// itself refused, is gone, or does not speak the protocol, is not told.
func (h *handshake) refuse(reason error) error {
	if errors.Is(reason, ErrRefused) || errors.Is(reason, ErrProtocol) {
		return reason
	}
	text := reason.Error()
	if err := h.send(frameRefused, []byte(text[:min(len(text), reasonLimit)])); err != nil {
		return fmt.Errorf("%w (and the peer could not be told: %w)", reason, err)
	}
	return reason
}

func (h *handshake) send(typ FrameType, body []byte) error {
	h.buf = appendFrame(h.buf[:0], typ, body)
	_, err := h.conn.Write(h.buf)
	return err
}

// expect reads the next frame, which must be of type typ.
func (h *handshake) expect(typ FrameType) ([]byte, error) {
	f, err := h.in.next()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: during the handshake: %w", ErrProtocol, err)
	case f.typ == typ:
		return f.body, nil
	case f.typ == frameRefused:
		return nil, fmt.Errorf("%w: %s", ErrRefused, printable(f.body))
	}
	return nil, fmt.Errorf("%w: a frame of type %d where the handshake has type %d", ErrProtocol, f.typ, typ)
}

// printable makes a stranger's text fit for logs and terminals.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, string(text[:min(len(text), reasonLimit)]))
}

// shake does a handshake within its time and hands the reader over with the
// limit that holds afterwards.
func (p *peer) shake(o Options, exchange func(*handshake) (Hello, error)) (Hello, error) {
	if err := p.conn.SetDeadline(time.Now().Add(o.HandshakeTimeout)); err != nil {
		return Hello{}, err
	}
	verify := func(hello Hello) error { return p.verified(&o, hello) }
	hello, err := exchange(&handshake{conn: p.faults.handshake(p.conn), in: p.in, secret: o.Secret, verify: verify})
	if err != nil {
		return hello, p.refusedTLS(err)
	}
	p.in.limit = o.MaxFrame
	return hello, p.conn.SetDeadline(time.Time{})
}
