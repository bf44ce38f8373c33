//go:build unix

package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Attacks of TestHostile by handshakes of TLS.

// wrongCertificate is one of the attacker's, at a port, with what the port says to it: by an alert, or by a reply to PING.
type wrongCertificate struct {
	port      int // of secured
	who, says string
}

var wrongCertificateKinds = []wrongCertificate{
	{0, "", "tls: certificate required"},
	{0, "expired client", "tls: expired certificate"},
	{0, "client of another CA", "tls: unknown certificate authority"},
	{0, "client without a user", "-NOAUTH "},
	{1, "", "tls: certificate required"},
	{1, "expired proxy", "tls: bad certificate"},
	{1, "proxy of another CA", "tls: bad certificate"},
	{1, "proxy of another cluster", "tls: bad certificate"},
}

func (w wrongCertificate) effect() string {
	return []string{"clients", "peers"}[w.port] + " refuse the certificate of: " + w.who
}

// wrongCertificates tries certificates that let nobody in. That the right ones do is what newcomer and replays show.
func wrongCertificates(ctx context.Context, h hostileTargets, random *rand.Rand) {
	each(ctx, 5*time.Millisecond, func() {
		w := wrongCertificateKinds[random.IntN(len(wrongCertificateKinds))]
		heard, err := hear(ctx, h.secured()[w.port].address, h.stolen.config(w.who, tls.VersionTLS13))
		switch {
		case strings.Contains(heard, w.says) || err != nil && strings.Contains(err.Error(), w.says):
			h.did(w.effect())
		case heard != "":
			h.t.Errorf("%q was let in with the certificate of %q, and heard %q", h.secured()[w.port].name, w.who, heard)
		}
	})
}

// hear does a handshake, says something that every port answers, and returns that.
func hear(ctx context.Context, address string, config *tls.Config) (string, error) {
	conn := dialHostile(ctx, address)
	if conn == nil {
		return "", errors.New("not connected")
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	secure := tls.Client(conn, config)
	if _, err := io.WriteString(secure, "PING\r\nPING\r\n"); err != nil {
		return "", err
	}
	answer := make([]byte, 1000)
	n, err := secure.Read(answer)
	return string(answer[:n]), err
}

// oldVersions speaks only versions of TLS that are broken, or at the peer port older ones than nodes speak.
func oldVersions(ctx context.Context, h hostileTargets, random *rand.Rand) {
	each(ctx, 10*time.Millisecond, func() {
		i := random.IntN(3)
		port, latest := h.secured()[i], []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12}[random.IntN(3)]
		if latest == tls.VersionTLS12 && port.name != "peers" {
			latest = tls.VersionTLS11
		}
		_, err := hear(ctx, port.address, h.stolen.config(port.owner, latest))
		switch {
		case err == nil:
			h.t.Errorf("%s are served by TLS of version %x", port.name, latest)
		case strings.Contains(err.Error(), "tls: protocol version not supported"):
			h.did("old versions of TLS refused: " + port.name)
		}
	})
}

// clientHello is what a client of TLS says first.
func (s hostileCerts) clientHello() []byte {
	recorded := &recorder{Conn: silent{}, closed: make(chan struct{})}
	_ = tls.Client(recorded, s.config("", tls.VersionTLS13)).Handshake()
	return recorded.sentSoFar()
}

// silent is a connection on which nothing comes.
type silent struct{ net.Conn }

func (silent) Read([]byte) (int, error)    { return 0, io.EOF }
func (silent) Write(p []byte) (int, error) { return len(p), nil }
func (silent) Close() error                { return nil }

// stalledEffect is a handshake that the server has ended, with the port's name behind it.
const stalledEffect = "handshakes of TLS that stalled, ended: "

// stalledTLS says its first message and nothing after it, on more connections than there may be handshakes at a time.
func stalledTLS(ctx context.Context, h hostileTargets, random *rand.Rand) {
	var reading sync.WaitGroup
	defer reading.Wait()
	hello := h.stolen.clientHello()
	each(ctx, 2*time.Millisecond, func() {
		port := h.secured()[max(0, random.IntN(6)-3)] // clients most
		conn := dialHostile(ctx, port.address)
		if conn == nil {
			return
		}
		_, _ = conn.Write(hello)
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		reading.Go(func() {
			defer conn.Close()
			if n, err := io.Copy(io.Discard, conn); n > 0 && err == nil { // it answered, and then closed
				h.did(stalledEffect + port.name)
			}
		})
	})
}

// cutHandshakes goes away in the middle: of its own first message, or when the server has answered it, which is when the server has had most of its work.
func cutHandshakes(ctx context.Context, h hostileTargets, random *rand.Rand) {
	hello := h.stolen.clientHello()
	each(ctx, time.Millisecond, func() {
		port := h.secured()[random.IntN(3)]
		conn := dialHostile(ctx, port.address)
		if conn == nil {
			return
		}
		defer conn.Close()
		if tcp, ok := conn.(*net.TCPConn); ok && random.IntN(2) == 0 {
			_ = tcp.SetLinger(0) // it ends with a reset
		}
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		if random.IntN(3) == 0 {
			_, _ = conn.Write(hello[:random.IntN(len(hello))])
			return
		}
		_, _ = conn.Write(hello)
		if n, err := conn.Read(make([]byte, 1+random.IntN(100))); n > 0 && !errors.Is(err, os.ErrDeadlineExceeded) {
			h.did("handshakes of TLS cut off: " + port.name)
		}
	})
}
