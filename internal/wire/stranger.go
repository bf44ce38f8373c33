package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// Whoever is given a wrong port meets another protocol there, and that shall be said in words. What a stranger sends tells which it
// is. But most servers wait for the end of a line or of a header, which a greeting is not: then the dialer asks once more, with
// a line of text, on a connection of its own.

// protocolOf names the protocol that begins like this, and says what may be wrong at the side that dialed and at the side that was dialed.
// The name is empty if it is none of those that people mix up.
func protocolOf(text []byte) (name, dialed, accepted string) {
	begins := func(with ...string) bool {
		for _, w := range with {
			if bytes.HasPrefix(text, []byte(w)) {
				return true
			}
		}
		return false
	}
	switch {
	case begins("HTTP/", "GET ", "POST ", "PUT ", "HEAD ", "OPTIONS ", "DELETE ", "PATCH ", "CONNECT ", "PRI * HTTP/"):
		return "HTTP", "is this the admin port of a node? its peer port is needed", "this is the peer port of a node, its admin API has another"
	case begins("+", "-", "*", "$", "PING\r\n", "ping\r\n", "PING\n", "INFO\r\n"):
		return "Redis' protocol", "is this the client port of a proxy, or a Redis? the peer port of a node is needed", "this is the peer port of a node, clients connect to a proxy"
	case begins("\x15\x03", "\x16\x03"):
		return "TLS", "is this another service, or something in between?", "this port has no TLS"
	case begins("SSH-"):
		return "SSH", "is this another service's port?", "this is the peer port of a node"
	}
	return "", "", ""
}

// stranger explains an error of reading the first frame by what was there instead, if that is something known.
func (h *handshake) stranger(err error) error {
	if !h.dialer && bytes.HasPrefix(h.in.pending(), []byte(question)) {
		return errQuestion
	}
	name, dialed, accepted := protocolOf(h.in.pending())
	switch {
	case name == "":
		return err
	case h.dialer:
		return fmt.Errorf("%w: what answers there speaks %s: %s", ErrProtocol, name, dialed)
	}
	switch name {
	case "HTTP":
		_, _ = io.WriteString(h.conn, "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+strings.ToUpper(accepted[:1])+accepted[1:]+".\n")
	case "Redis' protocol":
		_, _ = io.WriteString(h.conn, "-ERR "+accepted+"\r\n")
	}
	return fmt.Errorf("%w: it speaks %s: %s", ErrProtocol, name, accepted)
}

// pending is what was read and is not part of a frame yet.
func (r *frameReader) pending() []byte { return r.buf[r.start:r.end] }

const (
	// askAfter is how long a server may be silent after a greeting until it is asked in words, askFor how long that may take.
	askAfter = 500 * time.Millisecond
	askFor   = time.Second
	// askAgain is the time between two such questions on one link.
	askAgain = time.Minute
	// question is a line and the end of a header. It begins no command, request and frame that anybody knows, so that everybody says so.
	question = "QUOLL?\r\n\r\n"
)

// errQuestion ends a connection on which somebody only asked what is spoken here.
var errQuestion = errors.New("wire: a dialer asked what is spoken here")

// ask finds out what is spoken at the other side of a link, which is silent. nil: nothing that is known.
func (l *Link) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	conn, err := l.cfg.Dial(ctx, l.cfg.Address)
	if err != nil {
		return nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(conn, question); err != nil {
		return nil
	}
	name, dialed, _ := protocolOf(firstBytes(conn))
	if name == "" {
		return nil
	}
	return fmt.Errorf("%w: what answers there speaks %s: %s", ErrProtocol, name, dialed)
}

// firstBytes reads what comes, but little of it.
func firstBytes(conn net.Conn) []byte {
	var text [16]byte
	n, _ := io.ReadFull(conn, text[:])
	return text[:n]
}

// suspectStranger asks, in a while, what the other side of a connection speaks, and ends the connection if it is not the peer
// protocol. What it returns is called when the handshake is over.
func (l *Link) suspectStranger(ctx context.Context, p *peer) (over func()) {
	if now := clock(); l.asked != 0 && now-l.asked < askAgain && l.stranger == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-time.After(askAfter):
		}
		l.asked = clock()
		if l.stranger = l.ask(ctx); l.stranger != nil {
			p.fail(l.stranger)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
